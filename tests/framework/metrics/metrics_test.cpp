#include "metrics/metrics_fixture.hpp"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/log.hpp>
#include <kopp/metrics.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/transport/observing_transport.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(MetricsTest, ALeaderElectionHasAStatusAndASlowPathCounterByName) {
  EXPECT_THAT(metrics_.Text(), Not(HasSubstr("leader_election")));
  metrics_.SetMasterStatus("web", false);
  metrics_.SetMasterStatus("\xff", false);
  EXPECT_EQ(Value(R"(leader_election_master_status{name="web"})"), "0");
  EXPECT_EQ(Value(R"(leader_election_slowpath_total{name="web"})"), "0");

  metrics_.SetMasterStatus("web", true);
  metrics_.AddSlowPath("web");

  EXPECT_EQ(Value(R"(leader_election_master_status{name="web"})"), "1");
  EXPECT_EQ(Value(R"(leader_election_slowpath_total{name="web"})"), "1");
  EXPECT_EQ(Value("leader_election_master_status{name=\"\uFFFD\"}"), "0");
}

TEST_F(MetricsTest, RequestsAreCountedByCodeMethodAndHost) {
  metrics_.ObserveRequest({.method = "GET", .host = "h:1", .status = 200});
  metrics_.ObserveRequest({.method = "GET", .host = "h:1", .status = 200});
  metrics_.ObserveRequest({.method = "PATCH", .host = "h:1", .status = 409});
  metrics_.ObserveRequest(
      {.method = "GET", .host = "h:1", .error = TransportError::Kind::kUnreachable});

  EXPECT_EQ(Value(R"(rest_client_requests_total{code="200",host="h:1",method="GET"})"), "2");
  EXPECT_EQ(Value(R"(rest_client_requests_total{code="409",host="h:1",method="PATCH"})"), "1");
  EXPECT_EQ(Value(R"(rest_client_requests_total{code="<error>",host="h:1",method="GET"})"), "1");
}

TEST_F(MetricsTest, TheDurationOfARequestIsObservedUnlessItIsAStream) {
  metrics_.ObserveRequest({.method = "GET", .host = "h:1", .duration = 300ms, .status = 200});
  metrics_.ObserveRequest(
      {.method = "GET", .host = "h:1", .stream = true, .duration = 300ms, .status = 200});

  const std::string series = R"({host="h:1",verb="GET")";
  const std::string name = "rest_client_request_duration_seconds";
  EXPECT_EQ(Value(name + "_count" + series + "}"), "1");
  EXPECT_EQ(Value(name + "_bucket" + series + R"(,le="0.25"})"), "0");
  EXPECT_EQ(Value(name + "_bucket" + series + R"(,le="0.5"})"), "1");
}

TEST_F(MetricsTest, TextHasNoQueueRequestOrInformerMetricsWithoutThem) {
  EXPECT_THAT(metrics_.Text(), Not(AnyOf(HasSubstr("workqueue_"), HasSubstr("rest_client_"),
                                         HasSubstr("kopp_informer_"))));
}

TEST_F(MetricsTest, DroppedEventsAreCountedByReason) {
  metrics_.AddDroppedEvents("queue_full", 3);
  metrics_.AddDroppedEvents("queue_full", 1);

  EXPECT_EQ(Value(R"(kopp_events_dropped_total{reason="queue_full"})"), "4");
  EXPECT_EQ(Value(R"(kopp_events_dropped_total{reason="retry_limit"})"), "0");
}

TEST_F(MetricsTest, DroppedLogLinesAreCounted) {
  EXPECT_EQ(Value("kopp_log_lines_dropped_total"), std::to_string(GetLogStatus().dropped_lines));
}

/// Returns a status with values that differ from their defaults.
informer::InformerStatus StatusOfPods() {
  return {.name = "pods.v1.",
          .kind = "Pod",
          .synced = true,
          .objects = 3,
          .resource_version = "42",
          .resource_version_age = 1500ms,
          .lists = 2,
          .skipped_objects = 4,
          .drifted_objects = 12,
          .events = {{"added", 5}},
          .watch_ends = {{"closed", 6}},
          .errors = 7,
          .handlers = {{.name = "foo",
                        .queue_depth = 8,
                        .busy = true,
                        .busy_for = 9s,
                        .calls = 10,
                        .errors = 11}}};
}

TEST_F(MetricsTest, AnInformerHasMetricsUntilItIsDestroyed) {
  auto metric = metrics_.NewInformerMetric(StatusOfPods);
  const auto value = [&](const std::string& name, const std::string& label = "") {
    const auto [before, after] = label < "kind" ? std::pair(label + (label.empty() ? "" : ","), "")
                                                : std::pair(std::string(), "," + label);
    return Value("kopp_informer_" + name + "{" + before + R"(kind="Pod",name="pods.v1.")" + after +
                 "}");
  };

  EXPECT_EQ(value("synced"), "1");
  EXPECT_EQ(value("objects"), "3");
  EXPECT_EQ(value("resource_version"), "42");
  EXPECT_EQ(value("resource_version_age_seconds"), "1.5");
  EXPECT_EQ(value("lists_total"), "2");
  EXPECT_EQ(value("skipped_objects_total"), "4");
  EXPECT_EQ(value("drifted_objects_total"), "12");
  EXPECT_EQ(value("events_total", R"(type="added")"), "5");
  EXPECT_EQ(value("watch_ends_total", R"(reason="closed")"), "6");
  EXPECT_EQ(value("errors_total"), "7");
  EXPECT_EQ(value("handler_queue_depth", R"(handler="foo")"), "8");
  EXPECT_EQ(value("handler_busy_seconds", R"(handler="foo")"), "9");
  EXPECT_EQ(value("handler_calls_total", R"(handler="foo")"), "10");
  EXPECT_EQ(value("handler_errors_total", R"(handler="foo")"), "11");
  metric.reset();
  EXPECT_THAT(metrics_.Text(), Not(HasSubstr("kopp_informer_")));
}

TEST_F(MetricsTest, InformersWithEqualLabelsShareTheirSeries) {
  const auto metric = metrics_.NewInformerMetric(StatusOfPods);
  const auto another = metrics_.NewInformerMetric(StatusOfPods);
  const auto failing = metrics_.NewInformerMetric(
      []() -> informer::InformerStatus { throw std::runtime_error("failed"); });

  EXPECT_EQ(Value(R"(kopp_informer_objects{kind="Pod",name="pods.v1."})"), "6");
  EXPECT_EQ(Value(R"(kopp_informer_resource_version{kind="Pod",name="pods.v1."})"), "42");
}

}  // namespace
}  // namespace kopp
