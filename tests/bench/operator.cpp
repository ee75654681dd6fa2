// The sample controller with the writes that operator.sh compares: it creates a Deployment for each
// Foo, and writes the Foo's status after each reconcile, based on the version of the Foo that it
// has read. peers/operator has the same operator on controller-runtime. After SIGTERM it prints its
// counters.
//
//     operator beast|cpprestsdk

#include "deployment_view.hpp"
#include "foo.hpp"

#include <atomic>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/owner.hpp>
#include <kopp/signals.hpp>

namespace {

using nlohmann::json;
using sample::DeploymentView;
using sample::Foo;

constexpr int kWorkers = 4;  // as in peers/operator

struct Counters {
  std::atomic<int> reconciles = 0;
  std::atomic<int> conflicts = 0;
  std::atomic<int> errors = 0;
};

kopp::Deployment DesiredDeployment(const Foo& foo) {
  const std::map<std::string, std::string> labels{{"app", "nginx"},
                                                  {"controller", foo.metadata.name}};
  return {.metadata = kopp::OwnedBy(foo, foo.spec.deploymentName),
          .spec = {
              .replicas = foo.spec.replicas,
              .selector = {.matchLabels = labels},
              .template_ = {.metadata = {.labels = labels},
                            .spec = {.containers = {{.image = "nginx:latest", .name = "nginx"}}}}}};
}

/// Returns the available replicas of the Deployment.
int EnsureDeployment(const Foo& foo, const kopp::Context& context) {
  const auto existing =
      context.cache.Get<DeploymentView>({foo.metadata.ns, foo.spec.deploymentName});
  if (!existing) {
    return context.client.Create(DesiredDeployment(foo)).status.availableReplicas.value_or(0);
  }
  if (!kopp::IsControlledBy(*existing, foo)) {
    throw std::runtime_error("the Foo does not control the Deployment " + existing->metadata.name);
  }
  if (!foo.spec.replicas || foo.spec.replicas == existing->spec.replicas) {
    return existing->status.availableReplicas;
  }
  return context.client.Replace(DesiredDeployment(foo)).status.availableReplicas.value_or(0);
}

kopp::Result Reconcile(const Foo& foo, const kopp::Context& context) {
  const int available = EnsureDeployment(foo, context);
  const json metadata{{"name", foo.metadata.name},
                      {"namespace", foo.metadata.ns},
                      {"resourceVersion", foo.metadata.resourceVersion}};
  const json status{{"availableReplicas", available}};
  context.client.UpdateStatus<Foo>({{"metadata", metadata}, {"status", status}});
  return {};
}

kopp::Result CountingReconcile(const Foo& foo, const kopp::Context& context, Counters& counters) {
  ++counters.reconciles;
  try {
    return Reconcile(foo, context);
  } catch (const kopp::ApiError& error) {
    ++(error.IsConflict() || error.IsAlreadyExists() ? counters.conflicts : counters.errors);
    throw;
  } catch (const std::exception&) {
    ++counters.errors;
    throw;
  }
}

}  // namespace

int main(int argc, char** argv) {
  using Calls = kopp::TransportOptions::Calls;
  const std::string_view transport = argc == 2 ? argv[1] : "";
  if (transport != "beast" && transport != "cpprestsdk") {
    std::fputs("usage: operator beast|cpprestsdk\n", stderr);
    return 2;
  }
  const auto stop = kopp::StopOnSignal();
  Counters counters;
  kopp::Manager manager{
      {.name = "sample-controller",
       .http_transport = transport == "beast" ? Calls::kBeast : Calls::kCppRest,
       .log = kopp::Logger({.write = [](std::string_view) {}})}};  // the peer has no log either
  manager.AddController<Foo>({.name = "foo", .workers = kWorkers})
      .Owns<DeploymentView>()
      .Cached()
      .Reconcile([&counters](const Foo& foo, kopp::Context& context) {
        return CountingReconcile(foo, context, counters);
      });
  const int code = manager.Run(stop);
  std::printf("reconciles %d\nconflicts %d\nerrors %d\n", counters.reconciles.load(),
              counters.conflicts.load(), counters.errors.load());
  return code;
}
