// The code of docs/client.md.
#include "foo.hpp"

#include <chrono>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>
#include <kopp/framework.hpp>
#include <kopp/informer/selector.hpp>
#include <kopp/testing/environment.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace client_page {
namespace {

using kopp::ConfigMap;
using kopp::Deployment;
using kopp::testing::FakeClock;
using kopp::testing::ScriptedTransport;
using nlohmann::json;
using sample::Foo;
using testing::ElementsAre;
using testing::HasSubstr;

json Settings() {
  return json{{"metadata", {{"name", "settings"}, {"namespace", "shop"}}},
              {"data", {{"color", "red"}}}};
}

json Web() {
  return json::parse(R"({"metadata":{"name":"web","namespace":"shop"},
      "spec":{"replicas":1,"selector":{"matchLabels":{"app":"web"}},
              "template":{"metadata":{"labels":{"app":"web"}},
                          "spec":{"containers":[{"name":"main","image":"web:1"}]}}}})");
}

// An API server with the namespace "shop", which has the ConfigMap "settings".
class ClientPageTest : public testing::Test {
 protected:
  ClientPageTest() {
    env_.client().Create<kopp::Namespace>({{"metadata", {{"name", "shop"}}}});
    env_.client().Create<ConfigMap>(Settings());
  }

  ConfigMap Stored() { return env_.client().Get<ConfigMap>({"shop", "settings"}).value(); }

  kopp::testing::Environment env_;
  kopp::Client client_{env_.server().transport(), "shop-operator"};
};

TEST_F(ClientPageTest, AProgramWithoutManagerCreatesItsOwnTransport) {
  const kopp::Config config = env_.server().Listen();

  const auto transport = kopp::WithPolicies(
      kopp::MakeTransport(config, {.user_agent = kopp::UserAgent("shop-tool", "v1.2")}));
  const kopp::Client client(*transport, "shop-tool");

  EXPECT_TRUE(client.Get<ConfigMap>({"shop", "settings"}).has_value());
}

TEST_F(ClientPageTest, GetAndListReadObjects) {
  env_.client().Patch<ConfigMap>(
      {"shop", "settings"}, kopp::Patch::Merge({{"metadata", {{"labels", {{"app", "web"}}}}}}));
  const kopp::Client& client = client_;

  const std::optional<ConfigMap> settings = client.Get<ConfigMap>({"shop", "settings"});
  if (!settings) std::cout << "shop/settings does not exist\n";

  const auto selector = kopp::LabelSelector().Equals("app", "web").In("tier", {"front", "back"});
  for (const ConfigMap& map : client.List<ConfigMap>({.ns = "shop", .labels = selector})) {
    std::cout << map.metadata.name << '\n';
  }

  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->data.at("color"), "red");
  EXPECT_TRUE(client.List<ConfigMap>({.labels = selector}).empty());
  EXPECT_EQ(client.List<ConfigMap>({.labels = "app=web"}).size(), 1);
}

TEST_F(ClientPageTest, CreateUpdateAndPatchWriteObjects) {
  const kopp::Client& client = client_;

  client.Create<ConfigMap>({{"metadata", {{"name", "colors"}, {"namespace", "shop"}}},
                            {"data", {{"color", "red"}, {"size", "3"}}}});

  json colors = client.Dynamic(ConfigMap::kKind).Get({"shop", "colors"}).value().Json();
  colors["data"]["color"] = "green";
  const auto updated = client.Update<ConfigMap>(colors);

  const auto patched = client.Patch<ConfigMap>({"shop", "colors"},
                                               kopp::Patch::Merge({{"data", {{"size", nullptr}}}}));

  EXPECT_EQ(updated.data.at("color"), "green");
  EXPECT_EQ(patched.data.size(), 1);
  EXPECT_THROW(client.Update<ConfigMap>(colors), kopp::ApiError);
}

TEST_F(ClientPageTest, AMergeFromPatchWithALockConflictsWithAConcurrentChange) {
  const kopp::Client& client = client_;
  const kopp::ObjectKey key{"shop", "settings"};

  const json original = client.Dynamic(ConfigMap::kKind).Get(key).value().Json();
  json changed = original;
  changed["metadata"]["finalizers"].push_back("example.com/cleanup");
  client.Patch<ConfigMap>(key,
                          kopp::Patch::MergeFrom(original, changed, kopp::OptimisticLock::kYes));

  EXPECT_THAT(Stored().metadata.finalizers, ElementsAre("example.com/cleanup"));
  changed["data"]["color"] = "blue";
  const auto locked = kopp::Patch::MergeFrom(original, changed, kopp::OptimisticLock::kYes);
  EXPECT_THROW(client.Patch<ConfigMap>(key, locked), kopp::ApiError);
}

TEST_F(ClientPageTest, ApplyTakesFieldsOverUnlessForceIsFalse) {
  const kopp::Client& client = client_;

  const json desired = {{"metadata", {{"name", "settings"}, {"namespace", "shop"}}},
                        {"data", {{"color", "blue"}}}};
  client.Apply<ConfigMap>(desired);

  testing::internal::CaptureStdout();
  const json other = {{"metadata", desired["metadata"]}, {"data", {{"color", "green"}}}};

  try {
    client.Apply<ConfigMap>(other, {.field_manager = "painter", .force = false});
  } catch (const kopp::ApiError& error) {
    if (!error.HasCause("FieldManagerConflict")) throw;
    for (const auto& cause : error.causes()) {
      std::cout << cause.field << ": " << cause.message << '\n';
    }
  }

  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            ".data.color: conflict with \"shop-operator\"\n");
  EXPECT_EQ(Stored().data.at("color"), "blue");
}

TEST_F(ClientPageTest, AnObjectOfOthersIsNotTakenOver) {
  env_.Install(MANIFESTS "/crd-status-subresource.yaml");
  const Foo foo = env_.client().Create<Foo>({{"metadata", {{"name", "foo"}, {"namespace", "shop"}}},
                                             {"spec", {{"deploymentName", "web"}}}});
  const kopp::Client& client = client_;
  testing::internal::CaptureStdout();

  try {
    client.Apply(ConfigMap{.metadata = kopp::OwnedBy(foo, "settings")});
  } catch (const kopp::ForeignObjectError& error) {
    std::cout << error.what() << '\n';
  }

  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              HasSubstr("ConfigMap shop/settings already exists and is not controlled by Foo foo"));
  EXPECT_EQ(Stored().data.at("color"), "red");
}

TEST_F(ClientPageTest, ANewFieldManagerTakesOverWhatAFormerOneHasApplied) {
  const json desired = {{"metadata", {{"name", "map"}, {"namespace", "shop"}}},
                        {"data", {{"color", "blue"}}}};
  json old = desired;
  old["data"]["dropped"] = "1";
  const kopp::Client& client = client_;
  client.Apply<ConfigMap>(old);

  const kopp::Client renamed = client.WithFieldManager("shop-operator/map", {"shop-operator"});
  renamed.Apply<ConfigMap>(desired);  // also removes what only "shop-operator" had applied

  EXPECT_EQ(client.Get<ConfigMap>({"shop", "map"})->data.size(), 1U);
}

TEST_F(ClientPageTest, AProgramThatMovesFromUpdateToApplyMakesTheFieldsItsOwn) {
  const json desired = {{"metadata", {{"name", "settings"}, {"namespace", "shop"}}},
                        {"data", {{"color", "blue"}}}};
  json old = desired;
  old["data"]["dropped"] = "1";
  const kopp::Client& client = client_;
  client.WithFieldManager("shop-cli").Update<ConfigMap>(old);

  kopp::MigrateFieldManager<ConfigMap>(client, {"shop", "settings"}, {.from = {"shop-cli"}});
  client.Apply<ConfigMap>(desired);  // removes the fields of "shop-cli" that are not in `desired`

  EXPECT_EQ(Stored().data.size(), 1U);
}

TEST_F(ClientPageTest, StatusAndOtherSubresourcesAreWritten) {
  env_.Install(MANIFESTS "/crd-status-subresource.yaml");
  env_.client().Create<Foo>({{"metadata", {{"name", "foo"}, {"namespace", "shop"}}},
                             {"spec", {{"deploymentName", "web"}, {"replicas", 2}}}});
  const Foo foo = env_.client().Get<Foo>({"shop", "foo"}).value();
  FakeClock clock;
  ScriptedTransport pods(clock);
  pods.Respond("POST", "/api/v1/namespaces/shop/pods/web-0/eviction", 201, "{}");
  {
    const kopp::Client& client = client_;

    client.ApplyStatus(foo, Foo::Status{.availableReplicas = 2});
    client.PatchStatus<Foo>({"shop", "foo"},
                            kopp::Patch::Merge({{"status", {{"availableReplicas", 3}}}}));
  }
  {
    const kopp::Client client(pods);

    client.Dynamic(kopp::Pod::kKind)
        .Create({{"metadata", {{"name", "web-0"}, {"namespace", "shop"}}}},
                {.subresource = "eviction"});
  }

  EXPECT_EQ(env_.client().Get<Foo>({"shop", "foo"})->status.availableReplicas, 3);
  EXPECT_THAT(pods.Requests().at(0).body, HasSubstr("Eviction"));
}

TEST_F(ClientPageTest, OptionsApplyToOneCallOrToACopyOfTheClient) {
  json desired = Settings();
  desired["data"]["color"] = "blue";
  const kopp::Client& client = client_;

  const auto result = client.Update<ConfigMap>(desired, {.dry_run = true});
  client.Apply<ConfigMap>(desired, {.field_validation = kopp::FieldValidation::kStrict});

  const kopp::Client preview = client.WithDryRun().WithFieldManager("preview");
  preview.Delete<ConfigMap>({"shop", "settings"});  // deletes nothing

  EXPECT_EQ(result.data.at("color"), "blue");
  EXPECT_EQ(Stored().data.at("color"), "blue");
  desired["dat"] = "misspelt";
  EXPECT_THROW(
      client.Apply<ConfigMap>(desired, {.field_validation = kopp::FieldValidation::kStrict}),
      kopp::ApiError);
}

TEST_F(ClientPageTest, CreateOrUpdateWritesOnlyIfSomethingChanges) {
  const kopp::Client& client = client_;

  const auto [result, settings] =
      kopp::CreateOrUpdate<ConfigMap>(client, {"shop", "settings"}, [](json& object) {
        object["metadata"]["labels"]["app"] = "web";
        object["data"]["color"] = "blue";
      });
  if (result != kopp::OperationResult::kUnchanged) std::cout << "settings were written\n";

  EXPECT_EQ(result, kopp::OperationResult::kUpdated);
  EXPECT_EQ(settings.data.at("color"), "blue");
  const auto again = kopp::CreateOrUpdate<ConfigMap>(
      client, {"shop", "settings"}, [](json& object) { object["data"]["color"] = "blue"; });
  EXPECT_EQ(again.result, kopp::OperationResult::kUnchanged);
}

TEST_F(ClientPageTest, DeleteHasPreconditionsAndPropagation) {
  env_.client().Create<Deployment>(Web());
  env_.client().Create<ConfigMap>(
      {{"metadata", {{"name", "old"}, {"namespace", "shop"}, {"labels", {{"app", "old"}}}}}});
  const kopp::Client& client = client_;

  const auto web = client.Get<Deployment>({"shop", "web"}).value();
  const bool existed = client.Delete<Deployment>(
      {"shop", "web"},
      {.uid = web.metadata.uid, .propagation = kopp::DeletionPropagation::kOrphan});

  client.DeleteAllOf<ConfigMap>({.ns = "shop", .labels = "app=old"});

  EXPECT_TRUE(existed);
  EXPECT_FALSE(client.Get<Deployment>({"shop", "web"}));
  EXPECT_FALSE(client.Get<ConfigMap>({"shop", "old"}));
  EXPECT_TRUE(client.Get<ConfigMap>({"shop", "settings"}));
}

TEST_F(ClientPageTest, LargeListsAreReadInPages) {
  const kopp::Client& client = client_;
  int count = 0;

  client.ForEach<ConfigMap>({.ns = "shop"}, [&](const ConfigMap&) { ++count; }, {.limit = 100});

  const auto page = client.ListPage<ConfigMap>({.ns = "shop"}, {.limit = 100});
  std::cout << page.objects.size() << " of "
            << std::ssize(page.objects) + page.remaining.value_or(0) << '\n';

  EXPECT_EQ(count, 1);
  EXPECT_EQ(page.objects.size(), 1);
}

TEST_F(ClientPageTest, AWatchReportsTheChangesAfterAList) {
  const kopp::Client& client = client_;

  const auto list = client.ListPage<ConfigMap>({.ns = "shop"}, {.limit = 0});
  auto watcher =
      client.Watch<ConfigMap>({.ns = "shop"}, {.resource_version = list.resource_version});

  env_.client().Delete<ConfigMap>({"shop", "settings"});

  while (const auto event = watcher.Next()) {
    if (event->type == kopp::WatchEventType::kBookmark) continue;
    if (event->type == kopp::WatchEventType::kError) {
      std::cerr << event->problem << '\n';
      continue;
    }
    if (event->type == kopp::WatchEventType::kDeleted) break;
  }

  EXPECT_NE(watcher.resource_version(), list.resource_version);
}

TEST_F(ClientPageTest, AScaleChangesTheReplicasOfAnyScalableKind) {
  env_.client().Create<Deployment>(Web());
  const kopp::Client& client = client_;

  kopp::Scale scale = client.GetScale<Deployment>({"shop", "web"}).value();
  scale.spec.replicas = 3;
  client.UpdateScale<Deployment>(scale);

  EXPECT_EQ(client.Get<Deployment>({"shop", "web"})->spec.replicas, 3);
}

TEST(ClientPageLogTest, PodLogsAreReadLineByLine) {
  FakeClock clock;
  ScriptedTransport transport(clock);
  transport.Respond("GET", "/api/v1/namespaces/shop/pods/web-0/log", 200, "ready\nstopping\n");
  const kopp::Client client(transport);
  testing::internal::CaptureStdout();

  auto logs = client.PodLogs({"shop", "web-0"}, {.follow = true, .tail_lines = 10});
  while (const auto line = logs.ReadLine()) std::cout << *line << '\n';

  EXPECT_EQ(testing::internal::GetCapturedStdout(), "ready\nstopping\n");
}

TEST_F(ClientPageTest, AClientInANamespaceRejectsOtherNamespaces) {
  const kopp::Client& client = client_;

  const kopp::Client shop = client.InNamespace("shop");
  shop.Create<ConfigMap>({{"metadata", {{"name", "colors"}}}});
  shop.DeleteAllOf<ConfigMap>({});  // in the namespace shop

  EXPECT_TRUE(client.List<ConfigMap>({.ns = "shop"}).empty());
  EXPECT_THROW((void)shop.Get<ConfigMap>({"default", "a"}), std::invalid_argument);
}

TEST_F(ClientPageTest, AKindCanBeKnownAtRunTimeOnly) {
  env_.client().Create<Deployment>(Web());
  kopp::Transport& transport = env_.server().transport();
  const kopp::Client& client = client_;

  kopp::RestMapper mapper(transport);
  const kopp::ApiResource deployments = mapper.ForResource("deploy");
  const kopp::DynamicClient dynamic = client.Dynamic(deployments.kind);
  for (const kopp::Unstructured& object : dynamic.List({.ns = "shop"})) {
    std::cout << object.metadata.name << ' ' << object.At("/spec/replicas") << '\n';
  }

  EXPECT_EQ(dynamic.List({.ns = "shop"}).size(), 1);
}

TEST_F(ClientPageTest, ErrorsHavePredicatesAndConflictsAreRetried) {
  const kopp::Client& client = client_;

  try {
    client.Create<ConfigMap>({{"metadata", {{"name", "settings"}, {"namespace", "shop"}}}});
  } catch (const kopp::ApiError& error) {
    if (!error.IsAlreadyExists()) throw;
  }

  kopp::RetryOnConflict(kopp::kDefaultRetry, [&] {
    json object = client.Dynamic(ConfigMap::kKind).Get({"shop", "settings"}).value().Json();
    object["data"]["color"] = "blue";
    client.Update<ConfigMap>(object);
  });

  EXPECT_EQ(Stored().data.at("color"), "blue");
}

}  // namespace
}  // namespace client_page
