#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::MatchesRegex;

class RequestsTest : public ::testing::Test {
 protected:
  json Make(const std::string& name) {
    return client_.Create(ConfigMap::kKind,
                          {{"metadata", {{"name", name}, {"namespace", "default"}}}});
  }
  json Last() { return server_.Requests().back(); }

  testing::ApiServer server_;
  Client client_{server_.transport()};
};

TEST_F(RequestsTest, AWriteIsToldWithWhatWasSentAndWhatWasAnswered) {
  const json made = Make("a");

  json entry = Last();
  for (const char* changing : {"auditID", "requestReceivedTimestamp", "stageTimestamp"}) {
    EXPECT_NE(entry.value(changing, ""), "") << changing;
    entry.erase(changing);
  }
  EXPECT_EQ(entry["responseObject"]["metadata"]["uid"], made["metadata"]["uid"]);
  EXPECT_EQ(entry["requestObject"]["metadata"]["name"], "a");
  entry.erase("responseObject");
  entry.erase("requestObject");
  EXPECT_EQ(entry, json({{"kind", "Event"},
                         {"apiVersion", "audit.k8s.io/v1"},
                         {"level", "RequestResponse"},
                         {"stage", "ResponseComplete"},
                         {"requestURI", "/api/v1/namespaces/default/configmaps?fieldManager=kopp"},
                         {"verb", "create"},
                         {"user",
                          {{"username", "system:admin"},
                           {"groups", {"system:masters", "system:authenticated"}}}},
                         {"sourceIPs", {"127.0.0.1"}},
                         {"userAgent", "kopp"},
                         {"objectRef",
                          {{"resource", "configmaps"},
                           {"namespace", "default"},
                           {"name", "a"},
                           {"apiVersion", "v1"}}},
                         {"responseStatus", {{"metadata", json::object()}, {"code", 201}}}}));
}

TEST_F(RequestsTest, ARefusalIsToldWithItsReason) {
  Make("a");
  EXPECT_THROW(Make("a"), ApiError);

  EXPECT_EQ(Last()["responseStatus"]["code"], 409);
  EXPECT_EQ(Last()["responseStatus"]["reason"], "AlreadyExists");
}

TEST_F(RequestsTest, AJsonPatchIsToldAsItWasSent) {
  Make("a");
  const json patch = json::array({{{"op", "add"}, {"path", "/data"}, {"value", {{"k", "v"}}}}});
  client_.Patch(ConfigMap::kKind, {"default", "a"}, Patch::Json(patch));

  EXPECT_EQ(Last()["requestObject"], patch);
}

TEST_F(RequestsTest, AReadIsToldWithoutTheObject) {
  Make("a");
  static_cast<void>(client_.Get(ConfigMap::kKind, {"default", "a"}));

  EXPECT_EQ(Last()["verb"], "get");
  EXPECT_EQ(Last()["level"], "Metadata");
  EXPECT_FALSE(Last().contains("responseObject"));
  EXPECT_EQ(Last()["objectRef"]["name"], "a");
}

TEST_F(RequestsTest, AWatchIsToldWhenItBegins) {
  const auto watch =
      server_.transport().Open({.target = "/api/v1/namespaces/default/configmaps?watch=true"});

  EXPECT_EQ(Last()["verb"], "watch");
  EXPECT_EQ(Last()["stage"], "ResponseStarted");
}

TEST_F(RequestsTest, TimesAreInMicroseconds) {
  Make("a");

  EXPECT_THAT(Last()["stageTimestamp"].get<std::string>(),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z"));
}

}  // namespace
}  // namespace kopp
