// What many clients do at once. How they meet is chance; what must hold is not.
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

  static void AtOnce(const std::function<void(int client)>& act) {
    std::vector<std::jthread> clients;
    for (int i = 0; i < kClients; ++i) clients.emplace_back([&act, i] { act(i); });
  }
  Response Call(const std::string& method, const std::string& target, const json& body = nullptr,
                const std::string& type = "application/json") {
    return server_.transport().Call({.method = method,
                                     .target = target,
                                     .body = body.is_null() ? "" : body.dump(),
                                     .content_type = type});
  }

  testing::ApiServer server_;
};

TEST_F(ConcurrentWritesTest, OfManyWhoApplyANewObjectNoneIsRefused) {
  for (int round = 0; round < 20; ++round) {
    const std::string name = "a-" + std::to_string(round);
    std::vector<int> answers(kClients);

    AtOnce([&](int client) {
      const std::string own = "m" + std::to_string(client);
      answers[static_cast<std::size_t>(client)] =
          Call("PATCH", "/api/v1/namespaces/default/configmaps/" + name + "?fieldManager=" + own,
               {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"data", {{own, "x"}}}},
               "application/apply-patch+yaml")
              .status;
    });

    EXPECT_THAT(answers, Each(AnyOf(200, 201)));
    const json made =
        json::parse(Call("GET", "/api/v1/namespaces/default/configmaps/" + name).body);
    EXPECT_EQ(made["data"].size(), kClients);
  }
}

TEST_F(ConcurrentWritesTest, AWriteOfWhatWasSeenLosesNoOther) {
  constexpr int kTimes = 20;
  const std::string counter = "/api/v1/namespaces/default/configmaps/counter";
  Call("POST", "/api/v1/namespaces/default/configmaps",
       {{"metadata", {{"name", "counter"}}}, {"data", {{"n", "0"}}}});

  AtOnce([&](int) {
    for (int done = 0; done < kTimes;) {
      json seen = json::parse(Call("GET", counter).body);
      seen["data"]["n"] = std::to_string(std::stoi(seen["data"]["n"].get<std::string>()) + 1);
      if (Call("PUT", counter, seen).status == 200) ++done;
    }
  });

  EXPECT_EQ(json::parse(Call("GET", counter).body)["data"]["n"], std::to_string(kClients * kTimes));
}

TEST_F(ConcurrentWritesTest, NothingIsLeftOfANamespaceThatWent) {
  const std::string self = "/api/v1/namespaces/short-lived";
  for (int round = 0; round < 20; ++round) {
    Call("POST", "/api/v1/namespaces", {{"metadata", {{"name", "short-lived"}}}});

    AtOnce([&](int client) {
      if (client == 0) Call("DELETE", self);
      for (int i = 0; i < 5; ++i) {
        const std::string name = std::to_string(client) + '-' + std::to_string(i);
        Call("POST", self + "/configmaps", {{"metadata", {{"name", name}}}});
      }
    });

    EXPECT_EQ(Call("GET", self).status, 404);
    const json left = json::parse(Call("GET", self + "/configmaps").body);
    EXPECT_THAT(left["items"], IsEmpty());
  }
}

}  // namespace
}  // namespace kopp
