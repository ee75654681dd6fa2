#include "fieldmanager/managed_fields.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns metadata.managedFields of a new Pod with this spec and a status.
json ManagedFieldsOfNewPod(json spec, bool has_status) {
  json pod{{"metadata", {{"name", "a"}, {"managedFields", {{{"manager", "client"}}}}}},
           {"spec", std::move(spec)},
           {"status", {{"phase", "Pending"}}}};
  const FieldManager manager{
      .name = "creator", .api_version = "v1", .time = "now", .has_status = has_status};
  SetFirstManager(pod, *Schemas::BuiltIn().Find("Pod"), manager);
  return pod["metadata"].value("managedFields", json());
}

TEST(SetFirstManagerTest, TheCreatorOwnsAllFieldsExceptTheStatus) {
  EXPECT_EQ(ManagedFieldsOfNewPod({{"nodeName", "n"}}, true), R"([{
    "manager": "creator",
    "operation": "Update",
    "apiVersion": "v1",
    "fieldsType": "FieldsV1",
    "time": "now",
    "fieldsV1": {"f:spec": {"f:nodeName": {}}}
  }])"_json);
}

TEST(SetFirstManagerTest, TheCreatorOwnsTheStatusOfAKindWithoutAStatusSubresource) {
  EXPECT_EQ(ManagedFieldsOfNewPod({{"nodeName", "n"}}, false).at(0).at("fieldsV1"),
            R"({"f:spec": {"f:nodeName": {}}, "f:status": {"f:phase": {}}})"_json);
}

TEST(SetFirstManagerTest, AnObjectWithAValueOfAWrongTypeHasNoManagers) {
  EXPECT_EQ(ManagedFieldsOfNewPod({{"containers", {"a"}}}, true), json());
  EXPECT_EQ(ManagedFieldsOfNewPod({{"nodeName", {"a"}}}, true), json());
}

/// Returns the times of the managers after "creator" has updated its Pod at the time "later".
json TimesAfterUpdateOf(const json& change) {
  const Schema& schema = *Schemas::BuiltIn().Find("Pod");
  FieldManager manager{.name = "creator", .api_version = "v1", .time = "now", .has_status = true};
  json pod{{"metadata", {{"name", "a"}, {"labels", {{"a", "1"}, {"b", "1"}}}}}};
  SetFirstManager(pod, schema, manager);
  json updated = pod;
  updated.merge_patch(change);
  manager.time = "later";
  json times;
  updated = UpdateManagedFields(pod, updated, schema, manager);
  for (const json& entry : updated["metadata"]["managedFields"]) times.push_back(entry["time"]);
  return times;
}

TEST(UpdateManagedFieldsTest, AnEntryGetsTheTimeOfAnUpdateThatSetsAFieldAlsoIfItOwnedTheField) {
  EXPECT_EQ(TimesAfterUpdateOf(R"({"metadata":{"labels":{"a":"2"}}})"_json), R"(["later"])"_json);
  EXPECT_EQ(TimesAfterUpdateOf(R"({"metadata":{"labels":{"c":"1"}}})"_json), R"(["later"])"_json);
}

TEST(UpdateManagedFieldsTest, AnEntryKeepsItsTimeIfAnUpdateChangesNothingOrOnlyRemovesFields) {
  EXPECT_EQ(TimesAfterUpdateOf(json::object()), R"(["now"])"_json);
  EXPECT_EQ(TimesAfterUpdateOf(R"({"metadata":{"labels":{"b":null}}})"_json), R"(["now"])"_json);
}

}  // namespace
}  // namespace kopp::apiserver
