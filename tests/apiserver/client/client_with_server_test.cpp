// Tests of Client against an API server.
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/create_or_update.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ClientWithServerTest : public ::testing::Test {
 protected:
  static json Map(const std::string& name, const std::string& color = "red") {
    return {
        {"metadata", {{"name", name}, {"namespace", "default"}, {"labels", {{"color", color}}}}},
        {"data", {{"color", color}}}};
  }
  static json Web() {
    return json::parse(R"({"metadata":{"name":"web","namespace":"default"},
        "spec":{"replicas":1,"selector":{"matchLabels":{"app":"web"}},
                "template":{"metadata":{"labels":{"app":"web"}},
                            "spec":{"containers":[{"name":"main","image":"web:1"}]}}}})");
  }
  std::string Version() { return client_.ListPage<ConfigMap>({.ns = "default"}).resource_version; }
  std::vector<std::string> MapNames() {
    std::vector<std::string> names;
    for (const auto& map : client_.List<ConfigMap>({.ns = "default"})) {
      names.push_back(map.metadata.name);
    }
    return names;
  }

  testing::FakeClock clock_;
  testing::ApiServer server_{{.clock = clock_}};
  Client client_{server_.transport(), "shop-operator"};
};

/// Calls `call` and returns the ApiError that it throws.
template <typename F>
ApiError ApiErrorOf(F call) {
  try {
    call();
  } catch (const ApiError& error) {
    return error;
  }
  throw std::logic_error("the call did not throw an ApiError");
}

TEST_F(ClientWithServerTest, StrictFieldValidationRejectsAnUnknownFieldThatWarnAccepts) {
  json map = Map("a");
  map["dat"] = {{"color", "red"}};

  const ApiError error = ApiErrorOf(
      [&] { client_.Create<ConfigMap>(map, {.field_validation = FieldValidation::kStrict}); });
  EXPECT_TRUE(error.code() == 400 || error.code() == 422) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("dat"));
  EXPECT_EQ(client_.Create<ConfigMap>(map).metadata.name, "a");
}

TEST_F(ClientWithServerTest, ADryRunReturnsTheResultAndStoresNothing) {
  EXPECT_FALSE(client_.Create<ConfigMap>(Map("a"), {.dry_run = true}).metadata.uid.empty());
  EXPECT_EQ(client_.Get<ConfigMap>({"default", "a"}), std::nullopt);

  client_.Create<ConfigMap>(Map("a"));
  EXPECT_TRUE(client_.Delete<ConfigMap>({"default", "a"}, {.dry_run = true}));
  EXPECT_TRUE(client_.Get<ConfigMap>({"default", "a"}).has_value());
}

TEST_F(ClientWithServerTest, AnApplyWithoutForceNamesTheFieldAndTheManagerOfAConflict) {
  client_.Apply<ConfigMap>(Map("a", "red"), {.field_manager = "painter"});

  const ApiError error =
      ApiErrorOf([&] { client_.Apply<ConfigMap>(Map("a", "blue"), {.force = false}); });

  EXPECT_TRUE(error.IsConflict());
  const auto& causes = error.status().details.causes;
  ASSERT_EQ(causes.size(), 2);
  EXPECT_EQ(causes[0].reason, "FieldManagerConflict");
  EXPECT_EQ(causes[0].field, ".data.color");
  EXPECT_THAT(causes[0].message, HasSubstr("painter"));
  EXPECT_EQ(client_.Apply<ConfigMap>(Map("a", "blue")).data.at("color"), "blue");
}

TEST_F(ClientWithServerTest, DeleteAllOfDeletesTheSelectedObjectsOfTheNamespace) {
  client_.Create<ConfigMap>(Map("a", "red"));
  client_.Create<ConfigMap>(Map("b", "blue"));
  client_.Create<ConfigMap>(Map("c", "red"));

  client_.InNamespace("default").DeleteAllOf<ConfigMap>({.labels = "color=red"});

  EXPECT_THAT(MapNames(), ElementsAre("b"));
}

TEST_F(ClientWithServerTest, AllPagesOfAListHaveTheSameVersionAndReportTheRemainingCount) {
  for (const std::string name : {"a", "b", "c"}) client_.Create<ConfigMap>(Map(name));
  const auto first = client_.ListPage<ConfigMap>({.ns = "default"}, {.limit = 2});
  client_.Create<ConfigMap>(Map("d"));

  const auto second = client_.ListPage<ConfigMap>(
      {.ns = "default"}, {.limit = 2, .continue_token = first.continue_token});

  EXPECT_EQ(first.remaining, 1);
  ASSERT_EQ(second.objects.size(), 1) << "d was created after the version of the list";
  EXPECT_EQ(second.objects[0].metadata.name, "c");
  EXPECT_EQ(second.resource_version, first.resource_version);
  EXPECT_EQ(client_
                .List<ConfigMap>({.ns = "default"},
                                 {.resource_version = first.resource_version,
                                  .resource_version_match = ResourceVersionMatch::kExact})
                .size(),
            3);
}

TEST_F(ClientWithServerTest, UpdateScaleChangesTheReplicasAndRejectsAnOutdatedScale) {
  const ObjectKey web{"default", "web"};
  client_.Create<Deployment>(Web());

  Scale scale = client_.GetScale<Deployment>(web).value();
  EXPECT_EQ(scale.spec.replicas, 1);
  EXPECT_EQ(scale.status.selector, "app=web");
  scale.spec.replicas = 4;
  EXPECT_EQ(client_.UpdateScale<Deployment>(scale).spec.replicas, 4);

  EXPECT_EQ(client_.Get<Deployment>(web)->spec.replicas, 4);
  EXPECT_TRUE(ApiErrorOf([&] { client_.UpdateScale<Deployment>(scale); }).IsConflict());
}

TEST_F(ClientWithServerTest, GetScaleOfAKindWithoutScaleSubresourceReturnsNullopt) {
  client_.Create<ConfigMap>(Map("a"));

  EXPECT_FALSE(client_.GetScale<ConfigMap>({"default", "a"}).has_value());
}

TEST_F(ClientWithServerTest, AMergeFromPatchWithALockConflictsWithAConcurrentChange) {
  const json original = client_.Dynamic(ConfigMap::kKind).Create(Map("a")).Json();
  json changed = original;
  changed["data"]["size"] = "3";
  client_.Patch<ConfigMap>({"default", "a"}, Patch::Merge({{"data", {{"color", "blue"}}}}));

  const auto locked = Patch::MergeFrom(original, changed, OptimisticLock::kYes);
  EXPECT_TRUE(ApiErrorOf([&] { client_.Patch<ConfigMap>({"default", "a"}, locked); }).IsConflict());
  const auto merged =
      client_.Patch<ConfigMap>({"default", "a"}, Patch::MergeFrom(original, changed));
  EXPECT_EQ(merged.data.at("size"), "3");
  EXPECT_EQ(merged.data.at("color"), "blue") << "the concurrent change is kept";
}

TEST_F(ClientWithServerTest, CreateOrUpdateCreatesAMissingObjectAndUpdatesItOnlyIfItDiffers) {
  const auto ensure = [&](int replicas) {
    return CreateOrUpdate<Deployment>(client_, {"default", "web"}, [&](json& object) {
      if (!object.contains("spec")) object["spec"] = Web()["spec"];
      object["spec"]["replicas"] = replicas;
    });
  };

  EXPECT_EQ(ensure(2).result, OperationResult::kCreated);
  const auto unchanged = ensure(2);
  EXPECT_EQ(unchanged.result, OperationResult::kUnchanged);
  const auto updated = ensure(3);
  EXPECT_EQ(updated.result, OperationResult::kUpdated);
  EXPECT_EQ(updated.object.spec.replicas, 3);
  EXPECT_NE(updated.object.metadata.resourceVersion, unchanged.object.metadata.resourceVersion);
}

TEST_F(ClientWithServerTest, CreateOrPatchKeepsAConcurrentChangeThatCreateOrUpdateRejects) {
  client_.Create<ConfigMap>(Map("a"));
  const auto change_during = [&](json& object) {
    client_.Patch<ConfigMap>({"default", "a"}, Patch::Merge({{"data", {{"color", "blue"}}}}));
    object["data"]["size"] = "3";
  };

  const auto patched = CreateOrPatch<ConfigMap>(client_, {"default", "a"}, change_during);
  EXPECT_EQ(patched.object.data.at("color"), "blue");
  EXPECT_EQ(patched.object.data.at("size"), "3");
  const auto recolor = [&](json& object) {
    client_.Patch<ConfigMap>({"default", "a"}, Patch::Merge({{"data", {{"color", "green"}}}}));
    object["data"]["size"] = "4";
  };
  EXPECT_TRUE(ApiErrorOf([&] {
                CreateOrUpdate<ConfigMap>(client_, {"default", "a"}, recolor);
              }).IsConflict());
}

/// Fixture with a watch of the ConfigMaps in the namespace "default".
class WatcherWithServerTest : public ClientWithServerTest {
 protected:
  Watcher<ConfigMap> Watch(const std::string& version) {
    return client_.Watch<ConfigMap>({.ns = "default", .labels = "color=red"},
                                    {.resource_version = version, .clock = clock_, .seed = 1});
  }
  /// Returns the type and the name of the next change: "added a". Advances the clock until then.
  std::string NextChange(Watcher<ConfigMap>& watcher) {
    for (int seconds = 0; seconds < 100; ++seconds) {
      while (const auto event = watcher.Next(0s)) {
        const std::string& name = event->object.metadata.name;
        if (event->type == WatchEventType::kAdded) return "added " + name;
        if (event->type == WatchEventType::kModified) return "modified " + name;
        if (event->type == WatchEventType::kDeleted) return "deleted " + name;
      }
      clock_.Advance(1s);
    }
    return "no change";
  }
};

TEST_F(WatcherWithServerTest, ReportsOnlyChangesOfObjectsThatMatchTheSelector) {
  auto watcher = Watch(Version());
  client_.Create<ConfigMap>(Map("a", "red"));
  client_.Create<ConfigMap>(Map("b", "blue"));
  client_.Patch<ConfigMap>({"default", "a"}, Patch::Merge({{"data", {{"size", "3"}}}}));
  client_.Delete<ConfigMap>({"default", "a"});

  EXPECT_EQ(NextChange(watcher), "added a");
  EXPECT_EQ(NextChange(watcher), "modified a");
  EXPECT_EQ(NextChange(watcher), "deleted a");
}

TEST_F(WatcherWithServerTest, NoChangeIsLostOrRepeatedWhenTheServerRestarts) {
  auto watcher = Watch(Version());
  client_.Create<ConfigMap>(Map("a"));
  EXPECT_EQ(NextChange(watcher), "added a");

  server_.Restart();
  client_.Create<ConfigMap>(Map("b"));
  EXPECT_EQ(NextChange(watcher), "added b");
  server_.Restart();
  client_.Create<ConfigMap>(Map("c"));
  EXPECT_EQ(NextChange(watcher), "added c");
}

TEST_F(WatcherWithServerTest, AWatchFromACompactedVersionThrowsAGoneError) {
  const std::string version = Version();
  client_.Create<ConfigMap>(Map("a"));
  server_.Compact();
  auto watcher = Watch(version);

  EXPECT_TRUE(ApiErrorOf([&] { NextChange(watcher); }).IsGone());
}

TEST_F(WatcherWithServerTest, AWatchThatTheServerEndsAtItsTimeoutResumes) {
  auto watcher = Watch(Version());
  EXPECT_EQ(watcher.Next(0s), std::nullopt);
  clock_.Advance(490s);  // more than the longest timeout of a watch

  client_.Create<ConfigMap>(Map("a"));
  EXPECT_EQ(NextChange(watcher), "added a");
}

}  // namespace
}  // namespace kopp
