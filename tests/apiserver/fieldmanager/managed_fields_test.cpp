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

}  // namespace
}  // namespace kopp::apiserver
