// Tests of conditions, owner references and Events against an API server.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/conditions.hpp>
#include <kopp/create_or_update.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/events.hpp>
#include <kopp/kinds.hpp>
#include <kopp/owner.hpp>
#include <kopp/testing/environment.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::SizeIs;

struct Bucket {
  static constexpr Kind kKind{"example.com/v1", "Bucket", "buckets"};
  struct Status {
    std::vector<Condition> conditions = {};
  };
  ObjectMeta metadata = {};
  Status status = {};
};
KOPP_FIELDS(Bucket::Status, conditions)
KOPP_FIELDS(Bucket, metadata, status)

/// Returns a CRD whose conditions have the required fields and validation rules of
/// metav1.Condition.
json BucketCrd() {
  const json conditions = json::parse(R"({"type":"array","x-kubernetes-list-type":"map",
      "x-kubernetes-list-map-keys":["type"],
      "items":{"type":"object","required":["type","status","lastTransitionTime","reason","message"],
               "properties":{
                 "type":{"type":"string","maxLength":316},
                 "status":{"type":"string","enum":["True","False","Unknown"]},
                 "observedGeneration":{"type":"integer","format":"int64","minimum":0},
                 "lastTransitionTime":{"type":"string","format":"date-time"},
                 "reason":{"type":"string","minLength":1,"maxLength":1024},
                 "message":{"type":"string","maxLength":32768}}}})");
  const json schema{
      {"type", "object"},
      {"properties",
       {{"status", {{"type", "object"}, {"properties", {{"conditions", conditions}}}}}}}};
  const json version{{"name", "v1"},
                     {"served", true},
                     {"storage", true},
                     {"subresources", {{"status", json::object()}}},
                     {"schema", {{"openAPIV3Schema", schema}}}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "buckets.example.com"}}},
          {"spec",
           {{"group", "example.com"},
            {"names", {{"kind", "Bucket"}, {"plural", "buckets"}}},
            {"scope", "Namespaced"},
            {"versions", json::array({version})}}}};
}

TEST(ConditionsServerTest, AConditionPassesTheSchemaOfACrdAndIsWrittenOnlyWhenItChanges) {
  testing::Environment env;
  env.InstallObject(BucketCrd());
  env.client().Create<Bucket>({{"metadata", {{"name", "photos"}, {"namespace", "default"}}}});
  const json foreign{{"type", "BackedUp"},
                     {"status", "True"},
                     {"lastTransitionTime", "2026-01-01T00:00:00Z"},
                     {"reason", "Nightly"},
                     {"message", ""}};
  env.client().PatchStatus<Bucket>(
      {"default", "photos"}, Patch::Merge({{"status", {{"conditions", json::array({foreign})}}}}));
  const auto reconcile = [](const Bucket& bucket, Context& context) {
    Bucket::Status status{.conditions = SelectConditions(bucket.status.conditions, {"Ready"})};
    SetCondition(status.conditions, {.type = "Ready",
                                     .status = "True",
                                     .observedGeneration = bucket.metadata.generation.value(),
                                     .reason = "BucketCreated"});
    ApplyStatusIfChanged(context.client, bucket, status);
    return Result{};
  };

  env.Reconcile<Bucket>({"default", "photos"}, reconcile);
  env.Reconcile<Bucket>({"default", "photos"}, reconcile);

  EXPECT_THAT(env.Writes(), ElementsAre("patch buckets/status default/photos"));
  const auto stored = env.client().Get<Bucket>({"default", "photos"}).value();
  EXPECT_TRUE(IsConditionTrue(stored.status.conditions, "Ready"));
  EXPECT_EQ(FindCondition(stored.status.conditions, "Ready")->observedGeneration, 1);
  EXPECT_TRUE(IsConditionTrue(stored.status.conditions, "BackedUp"))
      << "the condition of another writer must be kept";
}

TEST(OwnerServerTest, AControllerReferenceThatIsSetInCreateOrUpdateIsWrittenOnce) {
  testing::ApiServer server;
  const Client client(server.transport());
  const auto owner =
      client.Create<ConfigMap>({{"metadata", {{"name", "owner"}, {"namespace", "default"}}}});
  const ObjectKey key{"default", "owned"};
  client.Create<ConfigMap>({{"metadata", {{"name", "owned"}, {"namespace", "default"}}}});
  const auto own = [&](json& object) { SetControllerReference(owner, object); };

  EXPECT_EQ(CreateOrUpdate<ConfigMap>(client, key, own).result, OperationResult::kUpdated);
  EXPECT_EQ(CreateOrUpdate<ConfigMap>(client, key, own).result, OperationResult::kUnchanged);

  EXPECT_TRUE(IsControlledBy(client.Get<ConfigMap>(key).value(), owner));
}

class EventsServerTest : public ::testing::Test {
 protected:
  EventRecorder NewRecorder(EventApi api) {
    return {
        client_, "shop-operator", Logger({.write = [](std::string_view) {}}), clock_, {.api = api}};
  }
  static ObjectReference SettingsOf(const std::string& ns) {
    return {.apiVersion = "v1", .kind = "ConfigMap", .ns = ns, .name = "settings", .uid = "u1"};
  }
  std::vector<json> EventsIn(const Kind& kind, const std::string& ns) {
    std::vector<json> events;
    for (const Unstructured& event : client_.Dynamic(kind).List({.ns = ns}))
      events.push_back(event.Json());
    return events;
  }

  static constexpr Kind kCore{"v1", "Event", "events"};
  static constexpr Kind kGroup{"events.k8s.io/v1", "Event", "events"};
  testing::FakeClock clock_;
  testing::ApiServer server_{{.clock = clock_}};
  Client client_{server_.transport(), "shop-operator"};
};

TEST_F(EventsServerTest, RepeatedCoreEventsAreStoredAsOneEventWithACount) {
  EventRecorder recorder = NewRecorder(EventApi::kCore);
  for (int i = 0; i < 3; ++i) {
    recorder.Normal(SettingsOf("default"), "Synced", "all well",
                    {.action = "Sync", .related = SettingsOf("default")});
  }
  recorder.Stop();

  const auto events = EventsIn(kCore, "default");
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0]["count"], 3);
  EXPECT_EQ(events[0]["related"]["name"], "settings");
}

TEST_F(EventsServerTest, RepeatedEventsOfTheEventsGroupAreStoredAsOneEventWithASeries) {
  EventRecorder recorder = NewRecorder(EventApi::kEvents);
  for (int i = 0; i < 3; ++i) {
    recorder.Warning(SettingsOf("default"), "Failed", "try " + std::to_string(i));
  }
  recorder.Stop();

  const auto events = EventsIn(kGroup, "default");
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0]["series"]["count"], 3);
  EXPECT_EQ(events[0]["note"], "try 0");
  EXPECT_EQ(EventsIn(kCore, "default")[0]["message"], "try 0") << "both APIs show the same objects";
}

TEST_F(EventsServerTest, EventsOfClusterScopedObjectsAreAcceptedByBothApis) {
  for (const EventApi api : {EventApi::kCore, EventApi::kEvents}) {
    EventRecorder recorder = NewRecorder(api);
    recorder.Normal(SettingsOf(""), "Synced", "all well");
    recorder.Stop();
    clock_.Advance(1s);
  }

  EXPECT_THAT(EventsIn(kCore, "default"), SizeIs(2));
}

TEST(EnvironmentEventsTest, EventsOfTheEventsGroupAreListedWithTheirNote) {
  testing::Environment env;
  env.client().Create<ConfigMap>({{"metadata", {{"name", "settings"}, {"namespace", "default"}}}});

  env.Reconcile<ConfigMap>({"default", "settings"}, [](const ConfigMap& map, Context& context) {
    EventRecorder recorder(context.client, "operator", context.log, Clock::Real(),
                           {.api = EventApi::kEvents});
    recorder.Normal(map, "Seen", "the map was seen");
    recorder.Stop();
    return Result{};
  });

  EXPECT_THAT(env.Events(), ElementsAre("Normal Seen: the map was seen"));
}

}  // namespace
}  // namespace kopp
