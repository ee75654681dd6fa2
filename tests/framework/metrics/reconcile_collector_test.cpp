#include <chrono>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/controller/reconcile_event.hpp>
#include <kopp/metrics.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class ReconcileCollectorTest : public ::testing::Test {
 protected:
  ReconcileEvent Event(ReconcileResult result) const {
    return {.controller = "foo", .key = key_, .reconcile_id = "1", .result = result};
  }
  /// Returns whether the page has this line.
  bool Has(const std::string& line) const {
    return ('\n' + metrics_.Text()).find('\n' + line + '\n') != std::string::npos;
  }

  const ObjectKey key_{"ns", "a"};
  Metrics metrics_;
};

TEST_F(ReconcileCollectorTest, AllFamiliesOfControllerRuntimeStartAtZero) {
  const auto foo = metrics_.NewReconcileMetrics("foo");

  for (const std::string result : {"success", "error", "requeue", "requeue_after"}) {
    EXPECT_TRUE(
        Has(R"(controller_runtime_reconcile_total{controller="foo",result=")" + result + "\"} 0"))
        << result;
  }
  for (const std::string name :
       {"reconcile_errors_total", "terminal_reconcile_errors_total", "reconcile_panics_total",
        "reconcile_timeouts_total", "max_concurrent_reconciles", "active_workers",
        "reconcile_time_seconds_count"}) {
    EXPECT_TRUE(Has("controller_runtime_" + name + R"({controller="foo"} 0)")) << name;
  }
}

TEST_F(ReconcileCollectorTest, TheBucketsAreThoseOfControllerRuntime) {
  const auto foo = metrics_.NewReconcileMetrics("foo");
  const std::string text = metrics_.Text();
  std::string bounds;
  const std::string prefix =
      R"(controller_runtime_reconcile_time_seconds_bucket{controller="foo",le=")";
  for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
    const auto bound = at + prefix.size();
    bounds += text.substr(bound, text.find('"', bound) - bound) + ' ';
  }

  EXPECT_EQ(bounds,
            "0.005 0.01 0.025 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.6 0.7 0.8 0.9 1 1.25 "
            "1.5 1.75 2 2.5 3 3.5 4 4.5 5 6 7 8 9 10 15 20 25 30 40 50 60 +Inf ");
}

TEST_F(ReconcileCollectorTest, EachReconcileIsCountedByItsResult) {
  const auto foo = metrics_.NewReconcileMetrics("foo");
  foo->Observe(Event(ReconcileResult::kRequeueAfter));
  ReconcileEvent event = Event(ReconcileResult::kError);
  event.terminal = event.panic = event.timed_out = true;
  event.duration = 300ms;
  foo->Observe(event);

  EXPECT_TRUE(
      Has(R"(controller_runtime_reconcile_total{controller="foo",result="requeue_after"} 1)"));
  EXPECT_TRUE(Has(R"(controller_runtime_reconcile_total{controller="foo",result="error"} 1)"));
  EXPECT_TRUE(Has(R"(controller_runtime_reconcile_errors_total{controller="foo"} 1)"));
  EXPECT_TRUE(Has(R"(controller_runtime_terminal_reconcile_errors_total{controller="foo"} 1)"));
  EXPECT_TRUE(Has(R"(controller_runtime_reconcile_panics_total{controller="foo"} 1)"));
  EXPECT_TRUE(Has(R"(controller_runtime_reconcile_timeouts_total{controller="foo"} 1)"));
  EXPECT_TRUE(
      Has(R"(controller_runtime_reconcile_time_seconds_bucket{controller="foo",le="0.25"} 1)"));
  EXPECT_TRUE(
      Has(R"(controller_runtime_reconcile_time_seconds_bucket{controller="foo",le="0.3"} 2)"));
}

TEST_F(ReconcileCollectorTest, WorkersOfControllersWithTheSameNameAreAdded) {
  auto first = metrics_.NewReconcileMetrics("foo");
  const auto second = metrics_.NewReconcileMetrics("foo");
  first->SetWorkers(4);
  second->SetWorkers(2);
  first->SetWorkers(3);
  first->AddActive(1);
  EXPECT_TRUE(Has(R"(controller_runtime_max_concurrent_reconciles{controller="foo"} 5)"));
  EXPECT_TRUE(Has(R"(controller_runtime_active_workers{controller="foo"} 1)"));

  first->AddActive(-1);
  first.reset();
  EXPECT_TRUE(Has(R"(controller_runtime_max_concurrent_reconciles{controller="foo"} 2)"));
  EXPECT_TRUE(Has(R"(controller_runtime_active_workers{controller="foo"} 0)"));
}

TEST_F(ReconcileCollectorTest, TheSeriesEndWithTheLastController) {
  metrics_.NewReconcileMetrics("foo")->Observe(Event(ReconcileResult::kSuccess));
  EXPECT_THAT(metrics_.Text(), Not(HasSubstr("controller_runtime_")));

  const auto foo = metrics_.NewReconcileMetrics("foo");
  EXPECT_TRUE(Has(R"(controller_runtime_reconcile_total{controller="foo",result="success"} 0)"));
}

}  // namespace
}  // namespace kopp
