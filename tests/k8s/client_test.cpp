#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/k8s/apps/v1/deployment.hpp>
#include <kopp/k8s/core/v1/config_map.hpp>
#include <kopp/kinds.hpp>
#include <kopp/owner.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp::k8s {
namespace {

using core::v1::ConfigMap;
using nlohmann::json;

/// Fixture with a client whose requests are answered with their bodies.
class TypedClientTest : public ::testing::Test {
 protected:
  TypedClientTest() {
    const auto echo = [](const ApiRequest& request) {
      return ApiResponse{.status = 200, .body = request.body};
    };
    transport_.On("POST", "/api/v1/namespaces/shop/configmaps", echo);
    transport_.On("PATCH", "/api/v1/namespaces/shop/configmaps/settings", echo);
    transport_.On("PUT", "/api/v1/namespaces/shop/configmaps/settings", echo);
  }
  json LastBody() { return json::parse(transport_.Requests().back().body); }

  const ConfigMap settings_{.metadata = {.name = "settings", .ns = "shop"},
                            .data = {{"color", "blue"}}};
  const json body_{{"apiVersion", "v1"},
                   {"kind", "ConfigMap"},
                   {"metadata", {{"name", "settings"}, {"namespace", "shop"}}},
                   {"data", {{"color", "blue"}}}};
  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_, "test"};
};

TEST_F(TypedClientTest, CreateSendsTheFieldsThatAreSetAndReturnsTheStoredObject) {
  EXPECT_EQ(client_.Create(settings_), settings_);
  EXPECT_EQ(LastBody(), body_);
}

TEST_F(TypedClientTest, ApplySendsTheFieldsThatAreSet) {
  EXPECT_EQ(client_.Apply(settings_, {.force = false}), settings_);
  EXPECT_EQ(LastBody(), body_);
  EXPECT_EQ(transport_.Requests().back().content_type, "application/apply-patch+yaml");
}

TEST_F(TypedClientTest, ATypedObjectAndJsonInBracesAreDifferentOverloads) {
  client_.Create<ConfigMap>({{"metadata", {{"name", "settings"}, {"namespace", "shop"}}}});
  EXPECT_FALSE(LastBody().contains("data"));
}

TEST_F(TypedClientTest, UpdateReplacesTheObjectByAStructThatIsConvertedToJson) {
  client_.Update<ConfigMap>(json(settings_));
  EXPECT_EQ(LastBody(), body_);
}

TEST_F(TypedClientTest, ReplacePutsExactlyTheFieldsOfTheStruct) {
  EXPECT_EQ(client_.Replace(settings_, {.dry_run = true}), settings_);
  EXPECT_EQ(LastBody(), body_);
  const ApiRequest request = transport_.Requests().back();
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.target,
            "/api/v1/namespaces/shop/configmaps/settings?fieldManager=test&dryRun=All");
}

TEST_F(TypedClientTest, AMergePatchOfAStructHasTheFieldsThatAreSet) {
  client_.Patch<ConfigMap>({"shop", "settings"},
                           Patch::Merge(ConfigMap{.data = {{"color", "red"}}}));
  EXPECT_EQ(LastBody(), json::parse(R"({"data":{"color":"red"}})"));
  EXPECT_EQ(transport_.Requests().back().content_type, "application/merge-patch+json");
  client_.Patch<ConfigMap>({"shop", "settings"},
                           Patch::StrategicMerge(ConfigMap{.immutable = true}));
  EXPECT_EQ(LastBody(), json::parse(R"({"immutable":true})"));
  EXPECT_EQ(transport_.Requests().back().content_type, "application/strategic-merge-patch+json");
}

template <typename T>
concept CanBeUpdated = requires(const Client& client, const T& object) { client.Update(object); };
template <typename T>
concept CanBeUpdatedByName =
    requires(const Client& client, const T& object) { client.Update<T>(object); };

TEST_F(TypedClientTest,
       UpdateDoesNotTakeAStructBecauseItWouldRemoveFieldsThatTheStructDoesNotHave) {
  EXPECT_FALSE(CanBeUpdated<apps::v1::Deployment>);
  EXPECT_FALSE(CanBeUpdatedByName<apps::v1::Deployment>);
  EXPECT_FALSE(CanBeUpdatedByName<kopp::Deployment>);
}

TEST_F(TypedClientTest, OwnedByGivesTheMetadataOfATypedObject) {
  const ConfigMap owner{.metadata = {.name = "owner", .ns = "shop", .uid = "u-1"}};
  const apps::v1::Deployment deployment{.metadata = OwnedBy(owner, "web")};
  EXPECT_EQ(deployment.metadata.ns, "shop");
  EXPECT_TRUE(IsControlledBy(deployment, owner));
}

}  // namespace
}  // namespace kopp::k8s
