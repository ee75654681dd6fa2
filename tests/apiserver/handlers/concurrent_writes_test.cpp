// Tests of concurrent writes of several clients. The interleaving is random; the tests check
// invariants.
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/api_server.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::IsEmpty;

class ConcurrentWritesTest : public ::testing::Test {
 protected:
  static constexpr int kClients = 8;

  static void RunClients(const std::function<void(int client)>& run) {
    std::vector<std::jthread> clients;
    for (int i = 0; i < kClients; ++i) clients.emplace_back([&run, i] { run(i); });
  }
  ApiResponse Call(const std::string& method, const std::string& target, const json& body = nullptr,
                   const std::string& type = "application/json") {
    return server_.transport().Call({.method = method,
                                     .target = target,
                                     .body = body.is_null() ? "" : body.dump(),
                                     .content_type = type});
  }

  testing::ApiServer server_;
};

TEST_F(ConcurrentWritesTest, ConcurrentAppliesOfANewObjectAllSucceed) {
  for (int round = 0; round < 20; ++round) {
    const std::string name = "a-" + std::to_string(round);
    std::vector<int> statuses(kClients);

    RunClients([&](int client) {
      const std::string manager = "m" + std::to_string(client);
      statuses[static_cast<std::size_t>(client)] =
          Call("PATCH",
               "/api/v1/namespaces/default/configmaps/" + name + "?fieldManager=" + manager,
               {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"data", {{manager, "x"}}}},
               "application/apply-patch+yaml")
              .status;
    });

    EXPECT_THAT(statuses, Each(AnyOf(200, 201)));
    const json created =
        json::parse(Call("GET", "/api/v1/namespaces/default/configmaps/" + name).body);
    EXPECT_EQ(created["data"].size(), kClients);
  }
}

TEST_F(ConcurrentWritesTest, UpdatesWithAResourceVersionLoseNoConcurrentUpdate) {
  constexpr int kTimes = 20;
  const std::string counter = "/api/v1/namespaces/default/configmaps/counter";
  Call("POST", "/api/v1/namespaces/default/configmaps",
       {{"metadata", {{"name", "counter"}}}, {"data", {{"n", "0"}}}});

  RunClients([&](int) {
    for (int done = 0; done < kTimes;) {
      json object = json::parse(Call("GET", counter).body);
      object["data"]["n"] = std::to_string(std::stoi(object["data"]["n"].get<std::string>()) + 1);
      if (Call("PUT", counter, object).status == 200) ++done;
    }
  });

  EXPECT_EQ(json::parse(Call("GET", counter).body)["data"]["n"], std::to_string(kClients * kTimes));
}

TEST_F(ConcurrentWritesTest, CreatesDuringTheDeletionOfANamespaceLeaveNoObjects) {
  const std::string namespace_path = "/api/v1/namespaces/short-lived";
  for (int round = 0; round < 20; ++round) {
    Call("POST", "/api/v1/namespaces", {{"metadata", {{"name", "short-lived"}}}});

    RunClients([&](int client) {
      if (client == 0) Call("DELETE", namespace_path);
      for (int i = 0; i < 5; ++i) {
        const std::string name = std::to_string(client) + '-' + std::to_string(i);
        Call("POST", namespace_path + "/configmaps", {{"metadata", {{"name", name}}}});
      }
    });

    EXPECT_EQ(Call("GET", namespace_path).status, 404);
    const json left = json::parse(Call("GET", namespace_path + "/configmaps").body);
    EXPECT_THAT(left["items"], IsEmpty());
  }
}

}  // namespace
}  // namespace kopp
