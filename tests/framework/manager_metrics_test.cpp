#include "manager_fixture.hpp"
#include "raw_client.hpp"

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
  /// A manager that serves its metrics at `address`.
  Manager& Serving(const std::string& address) {
    serving_.emplace(Options{.name = "test-operator",
                             .metrics_bind_address = address,
                             .log = Logger({.write =
                                                [this](std::string_view line) {
                                                  const std::lock_guard guard{mutex_};
                                                  log_ += line;
                                                  changed_.notify_all();
                                                }}),
                             .transport = transport_,
                             .clock = clock_});
    return *serving_;
  }
  void Run() {
    running_ = std::jthread([this](const std::stop_token& stop) { code_ = serving_->Run(stop); });
  }
  int End() {
    running_.request_stop();
    running_.join();
    return code_;
  }
  /// As the log has it.
  std::uint16_t AwaitPort() {
    std::unique_lock lock{mutex_};
    std::size_t at = std::string::npos;
    changed_.wait(lock, [&] { return (at = log_.find("127.0.0.1:")) != std::string::npos; });
    return static_cast<std::uint16_t>(std::stoi(log_.substr(at + 10)));
  }

  std::optional<Manager> serving_;
  std::jthread running_;
};

TEST_F(ManagerMetricsTest, AReconcileIsSeenInAScrape) {
  ListPods({PodText("a")});
  Serving("127.0.0.1:0")
      .AddController<Pod>({.name = "foo"})
      .Reconcile([this](const Pod&, Context&) {
        Saw("call");
        return Result{};
      });
  Run();
  AwaitSeen(1);

  const auto answer = Get(AwaitPort(), "/metrics");

  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, HasSubstr("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_THAT(answer.body, HasSubstr("workqueue_adds_total{controller=\"foo\",name=\"foo\"} 1\n"));
  EXPECT_EQ(End(), 0);
}

TEST_F(ManagerMetricsTest, TheAddressIsSaidInTheLogAndListenedOnFirst) {
  Serving("127.0.0.1:0").AddController<Pod>().Reconcile([](const Pod&, Context&) {
    return Result{};
  });
  transport_->On("GET", "/api/v1", [this](const Request&) -> Response {
    EXPECT_EQ(Get(AwaitPort(), "/metrics").status, 200);
    throw std::runtime_error("that is enough");
  });

  EXPECT_EQ(serving_->Run({}), 1);

  EXPECT_THAT(Logged(), HasSubstr("\"Serving metrics\" address=\"127.0.0.1:" +
                                  std::to_string(AwaitPort()) + "\" path=\"/metrics\""));
}

TEST_F(ManagerMetricsTest, AnAddressInUseIsSaidInOneLineAndEndsTheProgramWithOne) {
  const HttpServer other({.address = "127.0.0.1:0"}, {});
  Serving(other.address()).AddController<Pod>().Reconcile([](const Pod&, Context&) {
    return Result{};
  });

  EXPECT_EQ(serving_->Run({}), 1);

  EXPECT_THAT(Logged(),
              HasSubstr("\"Cannot start\" err=\"--metrics-bind-address: cannot listen on " +
                        other.address() + ": Address already in use; another program listens"));
  EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 1);
  EXPECT_TRUE(transport_->Requests().empty());
}

TEST_F(ManagerMetricsTest, NothingListensUnlessAskedFor) {
  manager_.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  Start();
  transport_->Await("WATCH", kPods);

  EXPECT_EQ(Stop(), 0);

  EXPECT_THAT(Logged(), Not(HasSubstr("Serving")));
}

TEST_F(ManagerMetricsTest, TheStoppingCanBeWatched) {
  ListPods({PodText("a")});
  Serving("127.0.0.1:0")
      .AddController<Pod>({.name = "foo"})
      .Reconcile([this](const Pod&, Context& context) {
        Saw("call");
        std::mutex mutex;
        std::condition_variable_any cv;
        std::unique_lock lock{mutex};
        cv.wait(lock, context.stop, [] { return false; });
        const std::string text = Get(AwaitPort(), "/metrics").body;
        EXPECT_THAT(text, HasSubstr("workqueue_unfinished_work_seconds{controller=\"foo\""));
        Saw("scrape");
        return Result{};
      });
  Run();
  AwaitSeen(1);

  EXPECT_EQ(End(), 0);

  EXPECT_THAT(AwaitSeen(2), ::testing::ElementsAre("call", "scrape"));
}

}  // namespace
}  // namespace kopp
