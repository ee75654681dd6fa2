// sample-controller: creates a Deployment for every Foo.

#include "deployment_view.hpp"
#include "foo.hpp"
#include "foo_reconciler.hpp"

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include <kopp/informer/predicates.hpp>
#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/signals.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace {

constexpr std::string_view kDescription =
    "Creates a Deployment for every Foo (samplecontroller.k8s.io/v1alpha1), keeps its replicas in\n"
    "sync with the Foo, and writes the number of available replicas to the Foo's status.";

/// Delays the retries of each Foo: 5 ms after the first failure, doubled after each further
/// failure, at most 1000 s. Limits the retries of all Foos together to 50 per second, after a burst
/// of 300.
std::unique_ptr<kopp::workqueue::RateLimiter<kopp::ObjectKey>> MakeRateLimiter() {
  using namespace kopp::workqueue;
  using namespace std::chrono_literals;
  return std::make_unique<MaxOfRateLimiter<kopp::ObjectKey>>(
      std::make_unique<ItemExponentialFailureRateLimiter<kopp::ObjectKey>>(5ms, 1000s),
      std::make_unique<BucketRateLimiter<kopp::ObjectKey>>(50, 300));
}

/// Declares the writes of ReconcileFoo, for --check and --print-rbac.
void DeclareWrites(kopp::Manager& manager) {
  manager.Declare(kopp::PermissionFor(kopp::Deployment::kKind, {"create", "update"}));
  manager.Declare(kopp::PermissionFor(sample::Foo::kKind, {"patch"}, "status"));
}

}  // namespace

int main(int argc, char** argv) {
  const auto stop = kopp::StopOnSignal();
  auto options = kopp::Options::FromCommandLine(argc, argv, kDescription);
  // The name in Events and in field managers must not depend on argv[0].
  options.name = "sample-controller";
  kopp::Manager manager{std::move(options)};
  manager
      .AddController<sample::Foo>({.name = "foo",
                                   .workers = 2,
                                   .limiter = MakeRateLimiter(),
                                   .sync_period = std::chrono::seconds(30)})
      // Ignores changes of the status, so that the controller's own writes cause no reconcile.
      .Where(kopp::GenerationChanged() || kopp::LabelsChanged() || kopp::AnnotationsChanged())
      .Owns<sample::DeploymentView>()
      .Cached()
      .Where(kopp::ResourceVersionChanged())
      .Reconcile(sample::ReconcileFoo);
  DeclareWrites(manager);
  return manager.Run(stop);
}
