// Tests of the change of a field manager, and of MigrateFieldManager, against an API server.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/field_manager_migration.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

/// Fixture in which the manager "shop" has applied objects, and "shop/foo" is to apply them now.
class FormerFieldManagersServerTest : public ::testing::Test {
 protected:
  using Data = std::map<std::string, std::string>;

  static ConfigMap Map(const Data& data) {
    return {.metadata = {.name = "a", .ns = "default"}, .data = data};
  }
  static json Web(const json& container, const json& strategy = nullptr) {
    json web = json::parse(R"({"metadata":{"name":"web","namespace":"default"},
        "spec":{"selector":{"matchLabels":{"app":"web"}},
                "template":{"metadata":{"labels":{"app":"web"}},"spec":{}}}})");
    web["spec"]["template"]["spec"]["containers"] = {container};
    if (!strategy.is_null()) web["spec"]["strategy"] = strategy;
    return web;
  }
  Data StoredData() { return client_.Get<ConfigMap>({"default", "a"})->data; }
  /// Returns the managers of an object: "shop/foo Apply", "shop Apply status".
  std::vector<std::string> Managers(const Kind& kind, const std::string& name) {
    std::vector<std::string> managers;
    const json object = client_.Dynamic(kind).Get({"default", name}).value().Json();
    for (const json& entry : object["metadata"].value("managedFields", json::array())) {
      managers.push_back(entry["manager"].get<std::string>() + ' ' +
                         entry["operation"].get<std::string>());
      if (entry.contains("subresource")) {
        managers.back() += ' ' + entry["subresource"].get<std::string>();
      }
    }
    return managers;
  }
  std::vector<std::string> MapManagers() { return Managers(ConfigMap::kKind, "a"); }

  testing::FakeClock clock_;
  testing::ApiServer server_{{.clock = clock_}};
  Client client_{server_.transport(), "test"};
  Client old_ = client_.WithFieldManager("shop");
  Client new_ = client_.WithFieldManager("shop/foo", {"shop"});
};

TEST_F(FormerFieldManagersServerTest, FieldsAreKeptRemovedAndAddedAsIfTheManagerHadNotChanged) {
  client_.Create<ConfigMap>(
      {{"metadata", {{"name", "a"}, {"namespace", "default"}}}, {"data", {{"foreign", "1"}}}});
  old_.Apply(Map({{"kept", "1"}, {"changed", "1"}, {"dropped", "1"}}));

  const auto applied = new_.Apply(Map({{"kept", "1"}, {"changed", "2"}, {"added", "1"}}));

  const Data expected{{"foreign", "1"}, {"kept", "1"}, {"changed", "2"}, {"added", "1"}};
  EXPECT_EQ(applied.data, expected) << "the result is that of the last write";
  EXPECT_EQ(StoredData(), expected);
  EXPECT_THAT(MapManagers(), UnorderedElementsAre("shop/foo Apply", "test Update"));
  EXPECT_EQ(new_.Apply(Map({{"kept", "1"}})).data, (Data{{"foreign", "1"}, {"kept", "1"}}));
}

TEST_F(FormerFieldManagersServerTest, AFieldThatAnotherManagerAppliesTooIsKept) {
  old_.Apply(Map({{"shared", "1"}, {"own", "1"}}));
  client_.Apply(Map({{"shared", "1"}}));

  new_.Apply(Map({{"own", "1"}}));

  EXPECT_EQ(StoredData(), (Data{{"shared", "1"}, {"own", "1"}}));
  EXPECT_THAT(MapManagers(), UnorderedElementsAre("shop/foo Apply", "test Apply"));
}

TEST_F(FormerFieldManagersServerTest, TheLaterAppliesAreOneWriteEach) {
  old_.Apply(Map({{"k", "1"}}));
  new_.Apply(Map({{"k", "1"}}));
  const auto version = new_.Apply(Map({{"k", "1"}})).metadata.resourceVersion;

  EXPECT_EQ(new_.Apply(Map({{"k", "1"}})).metadata.resourceVersion, version);
}

TEST_F(FormerFieldManagersServerTest, UpdatesOfTheFormerManagerStay) {
  old_.Create<ConfigMap>(
      {{"metadata", {{"name", "a"}, {"namespace", "default"}}}, {"data", {{"created", "1"}}}});

  new_.Apply(Map({{"k", "1"}}));

  EXPECT_THAT(MapManagers(), UnorderedElementsAre("shop/foo Apply", "shop Update"));
}

TEST_F(FormerFieldManagersServerTest, ADroppedContainerIsRemoved) {
  json web = Web({{"name", "main"}, {"image", "web:1"}});
  web["spec"]["template"]["spec"]["containers"].push_back({{"name", "log"}, {"image", "log:1"}});
  old_.Apply<Deployment>(web);

  const auto applied = new_.Apply<Deployment>(Web({{"name", "main"}, {"image", "web:2"}}));

  ASSERT_EQ(applied.spec.template_.spec.containers.size(), 1U);
  EXPECT_EQ(applied.spec.template_.spec.containers[0].image, "web:2");
  EXPECT_THAT(Managers(Deployment::kKind, "web"), ElementsAre("shop/foo Apply"));
}

TEST_F(FormerFieldManagersServerTest, FieldsThatDoNotGoTogetherAreReplaced) {
  const json main{{"name", "main"}, {"image", "web:1"}};
  old_.Apply<Deployment>(
      Web(main, {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxSurge", 2}}}}));

  const auto applied = new_.Apply<Deployment>(Web(main, {{"type", "Recreate"}}));

  EXPECT_EQ(applied.spec.strategy.type, "Recreate");
  EXPECT_THAT(Managers(Deployment::kKind, "web"), ElementsAre("shop/foo Apply"));
}

TEST_F(FormerFieldManagersServerTest, TheFormerManagerIsNoConflictWithoutForce) {
  old_.Apply(Map({{"k", "1"}, {"dropped", "1"}}));

  EXPECT_EQ(new_.Apply(Map({{"k", "2"}}), {.force = false}).data, (Data{{"k", "2"}}));

  EXPECT_THAT(MapManagers(), ElementsAre("shop/foo Apply"));
}

TEST_F(FormerFieldManagersServerTest, AnotherManagerIsAConflictWithoutForce) {
  old_.Apply(Map({{"k", "1"}, {"l", "1"}}));
  client_.Apply(Map({{"l", "2"}}));

  try {
    new_.Apply(Map({{"k", "2"}, {"l", "3"}}), {.force = false});
    FAIL() << "no exception";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.HasCause("FieldManagerConflict")) << error.what();
  }
  EXPECT_EQ(StoredData(), (Data{{"k", "1"}, {"l", "2"}}));
}

TEST_F(FormerFieldManagersServerTest, TheStatusIsTakenOverApartFromTheObject) {
  const json main{{"name", "main"}, {"image", "web:1"}};
  old_.Apply<Deployment>(Web(main));
  const auto status = [](const json& fields) {
    return json{{"metadata", {{"name", "web"}, {"namespace", "default"}}}, {"status", fields}};
  };
  old_.Apply<Deployment>(status({{"replicas", 1}, {"updatedReplicas", 1}}),
                         {.subresource = "status"});

  const auto applied = new_.Apply<Deployment>(status({{"replicas", 2}}), {.subresource = "status"});

  EXPECT_EQ(applied.status.replicas, 2);
  EXPECT_EQ(applied.status.updatedReplicas.value_or(0), 0);
  EXPECT_THAT(Managers(Deployment::kKind, "web"),
              UnorderedElementsAre("shop Apply", "shop/foo Apply status"));
}

TEST_F(FormerFieldManagersServerTest, MigrationMovesUpdatedFieldsToTheApplyEntry) {
  old_.Create<ConfigMap>({{"metadata", {{"name", "a"}, {"namespace", "default"}}},
                          {"data", {{"kept", "1"}, {"dropped", "1"}}}});

  EXPECT_TRUE(MigrateFieldManager<ConfigMap>(old_, {"default", "a"}, {.from = {"shop"}}));

  EXPECT_THAT(MapManagers(), ElementsAre("shop Apply"));
  EXPECT_EQ(old_.Apply(Map({{"kept", "1"}})).data, (Data{{"kept", "1"}}));
  EXPECT_FALSE(MigrateFieldManager<ConfigMap>(old_, {"default", "a"}, {.from = {"shop"}}));
}

TEST_F(FormerFieldManagersServerTest, AMigrationOfAnOlderVersionIsAConflict) {
  old_.Apply(Map({{"k", "1"}}));
  const json object = client_.Dynamic(ConfigMap::kKind).Get({"default", "a"}).value().Json();
  const auto patch = FieldManagerMigrationPatch(object, {.from = {"shop"}, .to = "new"});
  client_.Apply(Map({{"l", "1"}}));

  try {
    client_.Patch<ConfigMap>({"default", "a"}, patch.value());
    FAIL() << "no exception";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.IsConflict()) << error.what();
  }
  EXPECT_THAT(MapManagers(), UnorderedElementsAre("shop Apply", "test Apply"));
}

}  // namespace
}  // namespace kopp
