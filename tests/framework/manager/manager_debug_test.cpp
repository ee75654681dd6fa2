#include "controller/controller_impl.hpp"
#include "controller/controller_queue.hpp"
#include "manager/served_manager.hpp"
#include "support/raw_client.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::Get;
using ::testing::HasSubstr;

/// A Manager that serves debug pages.
class ManagerDebugTest : public ServedManagerTest {
 protected:
  ManagerDebugTest() {
    served_.emplace(Options{.name = "web-operator",
                            .version = "v1.2",
                            .debug = {.bind_address = "127.0.0.1:0", .flag_values = {{"--v", "4"}}},
                            .log = RecordingLogger(),
                            .transport = transport_,
                            .clock = clock_});
    served_->AddController<Pod>().Reconcile([this](const Pod& pod, Context& context) {
      reasons_ = context.reasons.ToString();
      RecordCall(pod.metadata.name);
      if (pod.metadata.name == "bad") throw std::runtime_error("it broke");
      return Result{};
    });
  }
  json Page(const std::string& path) {
    const auto response = Get(port_, path + "?format=json");
    EXPECT_EQ(response.status, 200) << path;
    return json::parse(response.body);
  }
  /// Returns the page when it has `count` rows in `table`.
  json AwaitRows(const std::string& path, const std::string& table, std::size_t count) {
    while (true) {
      json page = Page(path);
      if (page[table].size() >= count) return page[table];
      std::this_thread::yield();
    }
  }

  std::string reasons_;
};

TEST_F(ManagerDebugTest, ReconcilesAreShownWithReasonResultAndError) {
  SetPods({PodJson("bad")});
  StartManager();

  const json reconcile = AwaitRows("/debug/reconciles", "reconciles", 1)[0];
  EXPECT_EQ(reconcile["controller"], "pod");
  EXPECT_EQ(reconcile["object"], "ns/bad");
  EXPECT_EQ(reconcile["result"], "error");
  EXPECT_EQ(reconcile["error"], "it broke");
  EXPECT_EQ(reconcile["reason"], "Pod ns/bad existed at the start");
  EXPECT_EQ(reconcile["reconcileID"].get<std::string>().size(), 36U);
}

TEST_F(ManagerDebugTest, AnItemThatWaitsForItsRetryIsShownWithFailuresAndReason) {
  SetPods({PodJson("bad")});
  StartManager();
  AwaitRows("/debug/reconciles", "reconciles", 1);

  json item;
  do {
    item = AwaitRows("/debug/queues", "items", 1)[0];
  } while (item["state"] != "waiting");
  EXPECT_EQ(item["item"], "ns/bad");
  EXPECT_EQ(item["failures"], 1);
  EXPECT_EQ(item["reason"], "retry");
  EXPECT_EQ(Page("/debug/queues")["queues"][0]["workers"], 1);
}

TEST_F(ManagerDebugTest, CachesShowTheirObjectsWatchesAndHandlers) {
  SetPods({PodJson("web", R"(,"labels":{"app":"shop"})"), PodJson("db")});
  StartManager();
  AwaitCalls(2);
  transport_->Await("WATCH", kPods);  // afterwards, the list is counted

  const json cache = Page("/debug/caches")["caches"][0];
  EXPECT_EQ(cache["kind"], "Pod");
  EXPECT_EQ(cache["objects"], 2);
  const json objects = Page("/debug/caches/0")["objects"];
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(objects[0]["object"]["metadata"]["name"], "db");
  EXPECT_EQ(objects[1]["object"]["metadata"]["labels"]["app"], "shop");
  const json watches = Page("/debug/watches");
  EXPECT_EQ(watches["watches"][0]["lists"], 1);
  EXPECT_EQ(watches["handlers"][0]["name"], "pod");
}

TEST_F(ManagerDebugTest, ProgramFlagsAndLeadershipAreShown) {
  StartManager();

  const json program = Page("/debug/")["program"];
  EXPECT_EQ(program[0]["value"], "web-operator");
  EXPECT_EQ(program[1]["value"], "v1.2");
  EXPECT_EQ(Page("/debug/flags")["flags"][0], json::parse(R"({"name": "--v", "value": "4"})"));
  EXPECT_EQ(Page("/debug/leadership")["leadership"][0]["enabled"], false);
}

TEST(ManagerDebugConfigTest, WithoutDebugPagesNoReasonsAreKept) {
  testing::FakeClock clock;
  Manager manager{
      Options{.transport = std::make_shared<testing::ScriptedTransport>(clock), .clock = clock}};
  auto builder = manager.AddController<Pod>();
  auto& queue = Controller::Impl::Of(builder.controller()).queue();
  builder.controller().EventsOf("test").Add({"ns", "web"});

  EXPECT_TRUE(queue.TakeSnapshot().ready.at(0).payload.reasons.empty());
  EXPECT_EQ(queue.TakeSnapshot().ready.at(0).at, std::nullopt);
}

TEST(ManagerDebugConfigTest, AnAddressThatCannotBeUsedIsNamedWithItsFlag) {
  std::string log;
  testing::FakeClock clock;
  Manager manager{Options{.debug = {.bind_address = "192.0.2.1:1"},
                          .log = Logger({.write = [&](std::string_view line) { log += line; }}),
                          .transport = std::make_shared<testing::ScriptedTransport>(clock)}};

  EXPECT_EQ(manager.Run({}), 1);
  EXPECT_THAT(log, HasSubstr("--debug-bind-address: "));
}

}  // namespace
}  // namespace kopp
