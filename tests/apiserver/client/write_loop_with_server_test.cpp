// Tests of the report about a program whose controllers undo each other's writes.
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/metrics.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr Kind kEvents{"v1", "Event", "events"};

/// A program with two controllers of ConfigMaps.
class WriteLoopWithServerTest : public ::testing::Test {
 protected:
  void AddController(const std::string& name, const json& change) {
    manager_.AddController<ConfigMap>({.name = name})
        .Reconcile([name, change](const ConfigMap& map, Context& context) -> Result {
          context.client.WithFieldManager(name).Patch<ConfigMap>(KeyOf(map), Patch::Merge(change));
          return {};
        });
  }
  void Start() {
    client_.Create<ConfigMap>({{"metadata", {{"name", "web"}, {"namespace", "default"}}}});
    runner_ = std::jthread([this](const std::stop_token& stop) { manager_.Run(stop); });
  }
  std::vector<json> LoopEvents() {
    std::vector<json> events;
    for (const Unstructured& event :
         client_.Dynamic(kEvents).List({.ns = "default", .fields = "reason=WriteLoop"})) {
      events.push_back(event.Json());
    }
    return events;
  }
  std::string Log() { return *log_.Lock(); }

  testing::FakeClock clock_;
  testing::ApiServer server_;
  Client client_{server_.transport()};
  detail::Guarded<std::string> log_;
  Manager manager_{{.name = "web",
                    .metrics = {.bind_address = "127.0.0.1:0", .secure = false},
                    .log = Logger({.write = [this](auto line) { *log_.Lock() += line; }}),
                    .transport = {std::shared_ptr<void>(), &server_.transport()},
                    .clock = clock_}};
  std::jthread runner_;
};

TEST_F(WriteLoopWithServerTest, ALoopOfTwoControllersIsInTheLogAndTheMetricsAndAnEvent) {
  AddController("dns", {{"data", {{"ready", "dns"}}}});
  AddController("cert", {{"data", {{"ready", "cert"}}}});
  Start();

  while (LoopEvents().empty()) std::this_thread::yield();

  EXPECT_THAT(LoopEvents(), SizeIs(1));
  const json event = LoopEvents().front();
  EXPECT_EQ(event.at("involvedObject").at("name"), "web");
  EXPECT_EQ(event.at("type"), "Warning");
  EXPECT_EQ(event.at("message"), "written back and forth by cert, dns: data.ready");
  EXPECT_THAT(Log(), HasSubstr("Own writes change the same fields of an object back and forth"));
  EXPECT_THAT(Log(), HasSubstr(R"(fieldManagers="cert, dns")"));
  EXPECT_THAT(manager_.metrics().Text(),
              HasSubstr("kopp_write_loops_total{fields=\"data.ready\",kind=\"ConfigMap\","
                        "name=\"web\",namespace=\"default\",writers=\"cert, dns\"} 1"));
}

}  // namespace
}  // namespace kopp
