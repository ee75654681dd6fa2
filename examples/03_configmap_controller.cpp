// Copies each ConfigMap with the annotation example.com/copy-to=NAME to the ConfigMap NAME.
#include <kopp/framework.hpp>

using kopp::ConfigMap;
using namespace std::chrono_literals;

constexpr const char* kAnnotation = "example.com/copy-to";

static kopp::Result Reconcile(const ConfigMap& original, kopp::Context& ctx) {
  const auto name = original.metadata.annotations.find(kAnnotation);
  if (name == original.metadata.annotations.end()) return {};
  // The copy is deleted with its owner, and Owns reconciles the owner when the copy changes.
  const kopp::ObjectMeta metadata = kopp::OwnedBy(original, name->second);
  const auto copy = ctx.cache.Get<ConfigMap>({metadata.ns, metadata.name});
  if (copy && !kopp::IsControlledBy(*copy, original)) {
    ctx.events.Warning(original, "NameInUse", "another ConfigMap has the name " + name->second);
    // The deletion of that ConfigMap does not reconcile this one, so look again.
    return {.requeue_after = 1min};
  }
  if (copy && copy->data == original.data) return {};
  ctx.client.Apply(ConfigMap{.metadata = metadata, .data = original.data});
  ctx.events.Normal(original, "Copied", "copied to " + name->second);
  return {};
}

int main(int argc, char** argv) {
  const auto stop = kopp::StopOnSignal();
  kopp::Manager manager{kopp::Options::FromCommandLine(argc, argv, "Copies ConfigMaps.")};
  manager.AddController<ConfigMap>({.name = "copy"})
      .Owns<ConfigMap>()
      .Cached()
      .Reconcile(Reconcile);
  return manager.Run(stop);
}
