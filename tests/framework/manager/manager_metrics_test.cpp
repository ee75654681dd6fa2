#include "manager_fixture.hpp"
#include "support/raw_client.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/http_server.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using testing::Get;
using ::testing::HasSubstr;
using ::testing::Not;

class ManagerMetricsTest : public ManagerTest {
 protected:
  /// Creates a manager that serves its metrics at `address`.
  Manager& NewManager(const std::string& address) {
    metrics_manager_.emplace(Options{.name = "test-operator",
                                     .metrics = {.bind_address = address, .secure = false},
                                     .log = Logger({.write =
                                                        [this](std::string_view line) {
                                                          const std::lock_guard guard{mutex_};
                                                          log_ += line;
                                                          changed_.notify_all();
                                                        }}),
                                     .transport = transport_,
                                     .clock = clock_});
    return *metrics_manager_;
  }
  /// Runs the manager with metrics in a thread.
  void StartManager() {
    manager_thread_ =
        std::jthread([this](const std::stop_token& stop) { code_ = metrics_manager_->Run(stop); });
  }
  /// Stops that manager and returns the result of Run.
  int StopManager() {
    manager_thread_.request_stop();
    manager_thread_.join();
    return code_;
  }
  /// Blocks until the log contains the address of the metrics server; returns its port.
  std::uint16_t AwaitPort() {
    std::unique_lock lock{mutex_};
    std::size_t position = std::string::npos;
    changed_.wait(lock, [&] { return (position = log_.find("127.0.0.1:")) != std::string::npos; });
    return static_cast<std::uint16_t>(std::stoi(log_.substr(position + 10)));
  }

  std::optional<Manager> metrics_manager_;
  std::jthread manager_thread_;
};

TEST_F(ManagerMetricsTest, AnAddedKeyIsCountedInWorkqueueAddsTotal) {
  SetPods({PodJson("a")});
  NewManager("127.0.0.1:0")
      .AddController<Pod>({.name = "foo"})
      .Reconcile([this](const Pod&, Context&) {
        RecordCall("call");
        return Result{};
      });
  StartManager();
  AwaitCalls(1);

  const auto response = Get(AwaitPort(), "/metrics");

  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.head,
              HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(response.body,
              HasSubstr("workqueue_adds_total{controller=\"foo\",name=\"foo\"} 1\n"));
  EXPECT_EQ(StopManager(), 0);
}

TEST_F(ManagerMetricsTest, TheRequestsOfTheManagerAreCounted) {
  NewManager("127.0.0.1:0").AddController<Pod>().Reconcile([](const Pod&, Context&) {
    return Result{};
  });
  StartManager();
  transport_->Await("WATCH", kPods);

  const auto response = Get(AwaitPort(), "/metrics");

  EXPECT_THAT(response.body,
              HasSubstr("rest_client_requests_total{code=\"200\",host=\"\",method=\"GET\"} "));
  EXPECT_EQ(StopManager(), 0);
}

TEST_F(ManagerMetricsTest, DroppedEventsAreCountedAndRefusedOnesAreNotRetriedInTheTransport) {
  const std::string path = "/api/v1/namespaces/";
  transport_->On("POST", path + "noisy/events", [](const ApiRequest&) -> ApiResponse {
    return {.status = 429, .body = "{}", .retry_after = std::chrono::seconds(1)};
  });
  transport_->Respond("POST", path + "forbidden/events", 403, "{}");
  transport_->Respond("POST", path + "calm/events", 201, "{}");
  SetPods({PodJson("a")});
  NewManager("127.0.0.1:0").AddController<Pod>().Reconcile([](const Pod&, Context& context) {
    for (const char* ns : {"noisy", "forbidden", "calm"}) {
      context.events.Normal(ObjectReference{.kind = "Pod", .ns = ns}, "Seen", "seen");
    }
    return Result{};
  });
  StartManager();

  transport_->Await("POST", path + "calm/events");  // the clock does not advance
  const auto response = Get(AwaitPort(), "/metrics");

  EXPECT_THAT(response.body, HasSubstr("kopp_events_dropped_total{reason=\"rejected\"} 1\n"));
  EXPECT_EQ(StopManager(), 0);
}

TEST_F(ManagerMetricsTest, TheInformersOfTheManagerHaveMetrics) {
  SetPods({PodJson("a")});
  NewManager("127.0.0.1:0").AddController<Pod>({.name = "foo"}).Reconcile([](const Pod&, Context&) {
    return Result{};
  });
  StartManager();
  transport_->Await("WATCH", kPods);

  const auto response = Get(AwaitPort(), "/metrics");

  EXPECT_THAT(response.body,
              HasSubstr("kopp_informer_objects{kind=\"Pod\",name=\"pods.v1.\"} 1\n"));
  EXPECT_THAT(response.body, HasSubstr("kopp_informer_handler_calls_total{handler=\"foo\",kind="
                                       "\"Pod\",name=\"pods.v1.\"} 1\n"));
  EXPECT_EQ(StopManager(), 0);
}

TEST_F(ManagerMetricsTest, TheInformerOfAKindThatIsNotServedIsNotSynced) {
  transport_->Respond("GET", kPods, 404, "{}");
  NewManager("127.0.0.1:0").AddController<Pod>({.name = "foo"}).Reconcile([](const Pod&, Context&) {
    return Result{};
  });
  StartManager();
  transport_->Await("GET", kPods);

  EXPECT_THAT(Get(AwaitPort(), "/metrics").body,
              HasSubstr("kopp_informer_synced{kind=\"Pod\",name=\"pods.v1.\"} 0\n"));
  EXPECT_EQ(StopManager(), 0);
}

TEST_F(ManagerMetricsTest, MetricsAreServedAndTheirAddressIsLoggedBeforeTheFirstApiRequest) {
  NewManager("127.0.0.1:0").AddController<Pod>().Reconcile([](const Pod&, Context&) {
    return Result{};
  });
  transport_->On("GET", "/api/v1", [this](const ApiRequest&) -> ApiResponse {
    EXPECT_EQ(Get(AwaitPort(), "/metrics").status, 200);
    throw std::runtime_error("end of the test");
  });

  EXPECT_EQ(metrics_manager_->Run({}), 1);

  EXPECT_THAT(LogText(), HasSubstr("\"Serving metrics\" address=\"127.0.0.1:" +
                                   std::to_string(AwaitPort()) + "\" path=\"/metrics\""));
}

TEST_F(ManagerMetricsTest, RunLogsOneLineAndReturns1IfTheMetricsAddressIsInUse) {
  const HttpServer other({.address = "127.0.0.1:0"}, {});
  NewManager(other.address()).AddController<Pod>().Reconcile([](const Pod&, Context&) {
    return Result{};
  });

  EXPECT_EQ(metrics_manager_->Run({}), 1);

  EXPECT_THAT(LogText(),
              HasSubstr("\"Cannot start\" err=\"--metrics-bind-address: cannot listen on " +
                        other.address() + ": Address already in use; another program listens"));
  EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 1);
  EXPECT_TRUE(transport_->Requests().empty());
}

TEST_F(ManagerMetricsTest, MetricsAreNotServedByDefault) {
  manager_.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  Start();
  transport_->Await("WATCH", kPods);

  EXPECT_EQ(Stop(), 0);

  EXPECT_THAT(LogText(), Not(HasSubstr("Serving")));
}

TEST_F(ManagerMetricsTest, MetricsAreServedDuringTheShutdown) {
  SetPods({PodJson("a")});
  NewManager("127.0.0.1:0")
      .AddController<Pod>({.name = "foo"})
      .Reconcile([this](const Pod&, Context& context) {
        RecordCall("call");
        std::mutex mutex;
        std::condition_variable_any cv;
        std::unique_lock lock{mutex};
        cv.wait(lock, context.stop, [] { return false; });
        const std::string text = Get(AwaitPort(), "/metrics").body;
        EXPECT_THAT(text, HasSubstr("workqueue_unfinished_work_seconds{controller=\"foo\""));
        RecordCall("scrape");
        return Result{};
      });
  StartManager();
  AwaitCalls(1);

  EXPECT_EQ(StopManager(), 0);

  EXPECT_THAT(AwaitCalls(2), ::testing::ElementsAre("call", "scrape"));
}

}  // namespace
}  // namespace kopp
