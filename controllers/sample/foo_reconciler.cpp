#include "foo_reconciler.hpp"

#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/owner.hpp>

namespace sample {
namespace {

using kopp::Deployment;
using nlohmann::json;

/// The Deployment that `foo` asks for, as its manifest would have it.
json Desired(const Foo& foo) {
  const json labels{{"app", "nginx"}, {"controller", foo.metadata.name}};
  const json container{{"name", "nginx"}, {"image", "nginx:latest"}};
  json spec{
      {"selector", {{"matchLabels", labels}}},
      {"template",
       {{"metadata", {{"labels", labels}}}, {"spec", {{"containers", json::array({container})}}}}}};
  if (foo.spec.replicas) spec["replicas"] = *foo.spec.replicas;
  return {{"metadata", kopp::OwnedBy(foo, foo.spec.deploymentName)}, {"spec", spec}};
}

void RefuseForeign(const Foo& foo, const Deployment& deployment, kopp::Context& context) {
  if (kopp::IsControlledBy(deployment, foo)) return;
  const std::string problem =
      "Resource \"" + deployment.metadata.name + "\" already exists and is not managed by Foo";
  context.events.Warning(foo, "ErrResourceExists", problem);
  throw std::runtime_error(problem);
}

/// The Deployment as it is once it asks for the replicas that `foo` asks for.
Deployment Ensure(const Foo& foo, kopp::Context& context) {
  const auto found = context.cache.Get<Deployment>({foo.metadata.ns, foo.spec.deploymentName});
  if (!found) return context.client.Create<Deployment>(Desired(foo));
  RefuseForeign(foo, *found, context);

  constexpr int kServersDefault = 1;
  const int current = found->spec.replicas.value_or(kServersDefault);
  if (!foo.spec.replicas || *foo.spec.replicas == current) return *found;
  context.log.V(4).Info("Update deployment resource",
                        {{"currentReplicas", current}, {"desiredReplicas", *foo.spec.replicas}});
  return context.client.Update<Deployment>(Desired(foo));
}

void WriteStatus(const Foo& foo, const Deployment& deployment, kopp::Context& context) {
  const int available = deployment.status.availableReplicas;
  if (foo.status.availableReplicas == available) return;
  // By a test, since a uid that stands in a merge patch of a status is passed over.
  const json this_very_foo{{"op", "test"}, {"path", "/metadata/uid"}, {"value", foo.metadata.uid}};
  const json status{
      {"op", "add"}, {"path", "/status"}, {"value", {{"availableReplicas", available}}}};
  try {
    context.client.PatchStatus<Foo>(kopp::KeyOf(foo),
                                    kopp::Patch::Json(json::array({this_very_foo, status})));
  } catch (const kopp::ApiError& error) {
    // The server says the same of a Foo that is gone and of a path that it does not serve. Another
    // try tells them apart, and finds what was installed meanwhile.
    if (!error.IsNotFound()) throw;
    throw std::runtime_error(std::string(error.what()) +
                             " (or its CustomResourceDefinition has no status subresource: install "
                             "crd-status-subresource.yaml)");
  }
}

}  // namespace

kopp::Result ReconcileFoo(const Foo& foo, kopp::Context& context) {
  if (foo.spec.deploymentName.empty()) {  // another try would find it empty too
    context.log.Error("Deployment name missing from object reference");
    return {};
  }
  WriteStatus(foo, Ensure(foo, context), context);
  context.events.Normal(foo, "Synced", "Foo synced successfully");
  context.log.Info("Successfully synced");
  return {};
}

}  // namespace sample
