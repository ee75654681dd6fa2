#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::MatchesRegex;

class AuditLogEntriesTest : public ::testing::Test {
 protected:
  json Create(const std::string& name) {
    return client_.Dynamic(ConfigMap::kKind)
        .Create({{"metadata", {{"name", name}, {"namespace", "default"}}}})
        .Json();
  }
  json LastEntry() { return server_.Requests().back(); }

  testing::ApiServer server_;
  Client client_{server_.transport()};
};

TEST_F(AuditLogEntriesTest, AWriteHasTheRequestAndResponseObjects) {
  const json created = Create("a");

  json entry = LastEntry();
  for (const char* field : {"auditID", "requestReceivedTimestamp", "stageTimestamp"}) {
    EXPECT_NE(entry.value(field, ""), "") << field;
    entry.erase(field);
  }
  EXPECT_EQ(entry["responseObject"]["metadata"]["uid"], created["metadata"]["uid"]);
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

TEST_F(AuditLogEntriesTest, AFailedRequestHasItsReason) {
  Create("a");
  EXPECT_THROW(Create("a"), ApiError);

  EXPECT_EQ(LastEntry()["responseStatus"]["code"], 409);
  EXPECT_EQ(LastEntry()["responseStatus"]["reason"], "AlreadyExists");
}

TEST_F(AuditLogEntriesTest, AJsonPatchIsLoggedAsSent) {
  Create("a");
  const json patch = json::array({{{"op", "add"}, {"path", "/data"}, {"value", {{"k", "v"}}}}});
  client_.Patch<ConfigMap>({"default", "a"}, Patch::Json(patch));

  EXPECT_EQ(LastEntry()["requestObject"], patch);
}

TEST_F(AuditLogEntriesTest, AReadHasNoResponseObject) {
  Create("a");
  static_cast<void>(client_.Dynamic(ConfigMap::kKind).Get({"default", "a"}));

  EXPECT_EQ(LastEntry()["verb"], "get");
  EXPECT_EQ(LastEntry()["level"], "Metadata");
  EXPECT_FALSE(LastEntry().contains("responseObject"));
  EXPECT_EQ(LastEntry()["objectRef"]["name"], "a");
}

TEST_F(AuditLogEntriesTest, AWatchIsLoggedWhenItStarts) {
  const auto watch =
      server_.transport().Open({.target = "/api/v1/namespaces/default/configmaps?watch=true"});

  EXPECT_EQ(LastEntry()["verb"], "watch");
  EXPECT_EQ(LastEntry()["stage"], "ResponseStarted");
}

TEST_F(AuditLogEntriesTest, TimestampsHaveMicroseconds) {
  Create("a");

  EXPECT_THAT(LastEntry()["stageTimestamp"].get<std::string>(),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z"));
}

}  // namespace
}  // namespace kopp
