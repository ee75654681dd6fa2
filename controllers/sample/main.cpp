// sample-controller: gives every Foo the Deployment that it names.

#include "foo.hpp"
#include "foo_reconciler.hpp"

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/signals.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace {

constexpr std::string_view kAbout =
    "Gives every Foo (samplecontroller.k8s.io/v1alpha1) the Deployment that it names, keeps its\n"
    "replicas, and writes the available ones into the Foo's status.";

/// 5 ms, doubled up to 1000 s, for each Foo; 50 a second over all of them, after a burst of 300.
std::unique_ptr<kopp::workqueue::RateLimiter<kopp::ObjectKey>> Limiter() {
  using namespace kopp::workqueue;
  using namespace std::chrono_literals;
  return std::make_unique<MaxOfRateLimiter<kopp::ObjectKey>>(
      std::make_unique<ItemExponentialFailureRateLimiter<kopp::ObjectKey>>(5ms, 1000s),
      std::make_unique<BucketRateLimiter<kopp::ObjectKey>>(50, 300));
}

}  // namespace

int main(int argc, char** argv) {
  const auto stop = kopp::StopOnSignal();
  auto options = kopp::Options::FromCommandLine(argc, argv, kAbout);
  options.name = "sample-controller";  // in Events and field managers, whatever the file is called
  kopp::Manager manager{std::move(options)};
  manager
      .AddController<sample::Foo>(
          {.name = "foo", .workers = 2, .limiter = Limiter(), .resync = std::chrono::seconds(30)})
      .Owns<kopp::Deployment>()
      .Reconcile(sample::ReconcileFoo);
  return manager.Run(stop);
}
