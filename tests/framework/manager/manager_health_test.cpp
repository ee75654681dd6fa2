#include "manager/served_manager.hpp"
#include "support/raw_client.hpp"

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using testing::Get;
using ::testing::HasSubstr;

/// A Manager that serves health checks, but no metrics.
class ManagerHealthTest : public ServedManagerTest {
 protected:
  ManagerHealthTest() {
    // Without a time limit for the first lists, a test may advance the clock as often as it likes.
    served_.emplace(Options{.cache = {.sync_timeout = Duration::zero()},
                            .health = {.bind_address = "127.0.0.1:0"},
                            .log = RecordingLogger(),
                            .transport = transport_,
                            .clock = clock_});
    served_->AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  }
  void AwaitStatus(const std::string& path, int status) {
    while (Get(port_, path).status != status) std::this_thread::yield();
  }
};

TEST_F(ManagerHealthTest, TheProgramIsReadyWhenItsCachesHaveSynced) {
  transport_->Respond("GET", kPods, 404, "{}");
  StartManager();
  const auto before = Get(port_, "/readyz");
  EXPECT_EQ(before.status, 500);
  EXPECT_THAT(before.body, HasSubstr("[-]caches failed: reason withheld"));
  EXPECT_EQ(Get(port_, "/healthz").status, 200);
  EXPECT_EQ(Get(port_, "/livez").status, 200);

  SetPods({});
  while (Get(port_, "/readyz").status != 200) clock_.Advance(std::chrono::seconds(1));
  EXPECT_THAT(Get(port_, "/readyz?verbose").body, HasSubstr("[+]caches ok"));
}

TEST_F(ManagerHealthTest, TheProgramIsNotReadyDuringTheShutdown) {
  std::promise<void> end;
  served_->Add({.name = "slow"},
               [future = end.get_future().share()](const std::stop_token&) { future.wait(); });
  StartManager();
  AwaitStatus("/readyz", 200);

  manager_thread_.request_stop();

  AwaitStatus("/readyz", 500);
  EXPECT_THAT(Get(port_, "/readyz").body, HasSubstr("[-]shutdown failed"));
  EXPECT_EQ(Get(port_, "/healthz").status, 200);
  end.set_value();
}

TEST_F(ManagerHealthTest, ChecksOfTheProgramAreServed) {
  served_->AddHealthzCheck("database", [] { return std::optional<std::string>("gone"); });
  served_->AddReadyzCheck("mirror", [] { return std::optional<std::string>(); });
  StartManager();
  AwaitStatus("/readyz", 200);

  EXPECT_EQ(Get(port_, "/healthz").status, 500);
  EXPECT_EQ(Get(port_, "/livez/database").status, 500);
  EXPECT_EQ(Get(port_, "/readyz/mirror").status, 200);
}

TEST_F(ManagerHealthTest, AControllerThatIsAddedWhileTheManagerRunsHasItsLivenessChecks) {
  StartManager();
  AwaitStatus("/readyz", 200);
  EXPECT_EQ(Get(port_, "/healthz/queue-later").status, 404);

  served_->AddController<Pod>({.name = "later"}).Reconcile([](const Pod&, Context&) {
    return Result{};
  });

  AwaitStatus("/healthz/queue-later", 200);
  EXPECT_EQ(Get(port_, "/healthz/workers-later").status, 200);
}

TEST(ManagerHealthConfigTest, AnAddressThatCannotBeUsedIsNamedWithItsFlag) {
  std::string log;
  testing::FakeClock clock;
  Manager manager{Options{.health = {.bind_address = "192.0.2.1:1"},
                          .log = Logger({.write = [&](std::string_view line) { log += line; }}),
                          .transport = std::make_shared<testing::ScriptedTransport>(clock)}};

  EXPECT_EQ(manager.Run({}), 1);
  EXPECT_THAT(log, HasSubstr("--health-probe-bind-address: "));
}

}  // namespace
}  // namespace kopp
