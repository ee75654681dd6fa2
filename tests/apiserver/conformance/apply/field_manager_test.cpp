#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

/// Fixture of tests of the field managers that metadata.managedFields records for creates, updates
/// and patches.
class FieldManagerTest : public ConformanceTest {
 protected:
  std::string ObjectPath() { return Path("configmaps") + "/a"; }

  JsonResponse Create(const std::string& query = "?fieldManager=manager-1") {
    return Post(Path("configmaps") + query,
                {{"metadata", {{"name", "a"}, {"labels", {{"l", "1"}}}}}, {"data", {{"k", "1"}}}});
  }
};

TEST_F(FieldManagerTest, CreateRecordsTheFieldsOfTheRequest) {
  const JsonResponse created = Create();

  EXPECT_THAT(created.str("/metadata/managedFields/0/time"),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  json entry = created.at("/metadata/managedFields/0");
  entry.erase("time");
  EXPECT_EQ(entry, R"({
    "manager": "manager-1",
    "operation": "Update",
    "apiVersion": "v1",
    "fieldsType": "FieldsV1",
    "fieldsV1": {
      "f:data": {".": {}, "f:k": {}},
      "f:metadata": {"f:labels": {".": {}, "f:l": {}}}
    }
  })"_json);
  EXPECT_EQ(created.at("/metadata/managedFields").size(), 1);
}

// The product name is the part of the User-Agent before the slash: "kopp" of "kopp/1.2 (linux)".
TEST_F(FieldManagerTest, FieldManagerDefaultsToTheProductNameInTheUserAgent) {
  const JsonResponse created = Create("");

  EXPECT_EQ(created.str("/metadata/managedFields/0/manager"), "kopp");
}

TEST_F(FieldManagerTest, DefaultedStatusOfAPersistentVolumeClaimHasNoOwner) {
  json claim = MakeObjectWithName("a");
  claim["spec"] = {{"accessModes", {"ReadWriteOnce"}},
                   {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
  const JsonResponse created = Post(Path("persistentvolumeclaims"), claim);

  EXPECT_EQ(created.at("/metadata/managedFields/0/fieldsV1/f:status"), nullptr);
  EXPECT_NE(created.at("/metadata/managedFields/0/fieldsV1/f:spec"), nullptr);
}

TEST_F(FieldManagerTest, FieldsOfAClaimReferenceHaveTheirOwnOwners) {
  json volume = MakeObjectWithName(UniqueName("pv"));
  volume["spec"] = R"({"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
                       "hostPath": {"path": "/a"}, "claimRef": {"name": "a", "namespace": "b"}})"_json;
  const JsonResponse created = Post("/api/v1/persistentvolumes", volume);
  Delete("/api/v1/persistentvolumes/" + created.name());

  EXPECT_EQ(created.at("/metadata/managedFields/0/fieldsV1/f:spec/f:claimRef"),
            R"({".": {}, "f:name": {}, "f:namespace": {}})"_json);
}

TEST_F(FieldManagerTest, UnsetTimesOfAnEventHaveNoOwner) {
  json event = MakeObjectWithName("a");
  event.update({{"eventTime", "2026-01-01T00:00:00.000000Z"},
                {"action", "A"},
                {"reason", "R"},
                {"type", "Normal"},
                {"reportingController", "a.b/c"},
                {"reportingInstance", "i"}});
  event["regarding"] = {{"kind", "ConfigMap"}, {"name", "a"}, {"namespace", ns()}};
  const JsonResponse created = Post(Path("events.k8s.io/v1", "events"), event);

  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_TRUE(created.body.contains("deprecatedFirstTimestamp"));
  EXPECT_FALSE(
      created.at("/metadata/managedFields/0/fieldsV1").contains("f:deprecatedFirstTimestamp"));
}

TEST_F(FieldManagerTest, EmptyFieldManagerParameterDefaultsToTheProductNameInTheUserAgent) {
  const JsonResponse created = Create("?fieldManager=");

  EXPECT_EQ(created.str("/metadata/managedFields/0/manager"), "kopp");
}

TEST_F(FieldManagerTest, CreateWithoutFieldsRecordsNoManager) {
  const JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.at("/metadata/managedFields"), nullptr);
}

TEST_F(FieldManagerTest, AnotherFieldManagerTakesOwnershipOfAChangedField) {
  Create();
  const JsonResponse patched =
      MergePatch(ObjectPath() + "?fieldManager=manager-2", {{"data", {{"k", "2"}, {"z", "3"}}}});

  EXPECT_EQ(patched.str("/metadata/managedFields/0/manager"), "manager-1");
  EXPECT_EQ(patched.at("/metadata/managedFields/0/fieldsV1"),
            R"({"f:data": {}, "f:metadata": {"f:labels": {".": {}, "f:l": {}}}})"_json);
  EXPECT_EQ(patched.str("/metadata/managedFields/1/manager"), "manager-2");
  EXPECT_EQ(patched.at("/metadata/managedFields/1/fieldsV1"),
            R"({"f:data": {"f:k": {}, "f:z": {}}})"_json);
}

TEST_F(FieldManagerTest, PatchThatDoesNotChangeAFieldRecordsNoManager) {
  Create();
  const JsonResponse patched =
      MergePatch(ObjectPath() + "?fieldManager=manager-2", {{"data", {{"k", "1"}}}});

  EXPECT_EQ(patched.at("/metadata/managedFields").size(), 1);
}

TEST_F(FieldManagerTest, RemovedFieldHasNoOwner) {
  Create();
  MergePatch(ObjectPath() + "?fieldManager=manager-2", {{"data", {{"z", "3"}}}});
  const JsonResponse patched =
      MergePatch(ObjectPath() + "?fieldManager=manager-3", {{"data", {{"z", nullptr}}}});

  EXPECT_EQ(patched.at("/metadata/managedFields").size(), 1);
  EXPECT_EQ(patched.str("/metadata/managedFields/0/manager"), "manager-1");
}

TEST_F(FieldManagerTest, StatusPatchRecordsAnEntryWithTheStatusSubresource) {
  const std::string path = Path("apps/v1", "deployments");
  Post(path + "?fieldManager=manager-1", MakeDeployment("a"));
  const JsonResponse patched =
      MergePatch(path + "/a/status?fieldManager=manager-1", {{"status", {{"replicas", 1}}}});

  json entry = patched.at("/metadata/managedFields/1");
  entry.erase("time");
  EXPECT_EQ(entry, R"({
    "manager": "manager-1",
    "operation": "Update",
    "apiVersion": "apps/v1",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:status": {"f:replicas": {}}},
    "subresource": "status"
  })"_json);
}

TEST_F(FieldManagerTest, PatchWithOneEmptyManagedFieldsEntryClearsManagedFields) {
  Create();
  const JsonResponse patched =
      MergePatch(ObjectPath(), {{"metadata", {{"managedFields", json::array({json::object()})}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/metadata/managedFields"), nullptr);
}

TEST_F(FieldManagerTest, FieldManagerOf128BytesIsAccepted) {
  const std::string name(128, 'x');

  EXPECT_EQ(Create("?fieldManager=" + name).str("/metadata/managedFields/0/manager"), name);
}

/// An invalid field manager in the query of a request.
struct InvalidFieldManager {
  std::string test_name{};
  std::string method{};
  std::string field_manager{};
  std::string options_kind{};  ///< "CreateOptions"
  std::string cause{};

  friend void PrintTo(const InvalidFieldManager& invalid, std::ostream* out) {
    *out << invalid.field_manager;
  }
};

class InvalidFieldManagerTest : public FieldManagerTest,
                                public ::testing::WithParamInterface<InvalidFieldManager> {};

TEST_P(InvalidFieldManagerTest, InvalidFieldManagerIsRejected) {
  Create();
  const JsonResponse response =
      Call({.method = GetParam().method,
            .target = (GetParam().method == "POST" ? Path("configmaps") : ObjectPath()) +
                      "?fieldManager=" + GetParam().field_manager,
            .body = R"({"metadata": {"name": "a"}})",
            .content_type = GetParam().method == "PATCH" ? "application/merge-patch+json"
                                                         : "application/json"});

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.reason(), "Invalid");
  EXPECT_EQ(response.str("/details/group"), "meta.k8s.io");
  EXPECT_EQ(response.str("/details/kind"), GetParam().options_kind);
  EXPECT_THAT(Causes(response), ElementsAre(GetParam().cause));
}

const std::string field_manager_too_long =
    "FieldValueTooLong fieldManager: Too long: may not be more than 128 bytes";
const InvalidFieldManager invalid_field_managers[] = {
    {"TooLongOnCreate", "POST", std::string(129, 'x'), "CreateOptions", field_manager_too_long},
    {"TooLongOnUpdate", "PUT", std::string(129, 'x'), "UpdateOptions", field_manager_too_long},
    {"TooLongOnPatch", "PATCH", std::string(129, 'x'), "PatchOptions", field_manager_too_long},
    {"LineBreak", "POST", "a%0Ab", "CreateOptions",
     "FieldValueInvalid fieldManager: Invalid value: \"a\\nb\": invalid character U+000A (at "
     "position 1)"},
};
INSTANTIATE_TEST_SUITE_P(, InvalidFieldManagerTest, ::testing::ValuesIn(invalid_field_managers),
                         [](const auto& invalid) { return invalid.param.test_name; });

TEST_F(FieldManagerTest, OldestUpdatesBeyondTenEntriesAreMergedAsAncientChanges) {
  Create();
  json entries;
  for (int i = 0; i < 12; ++i) {
    // Entries of the same second are merged in the order of their names, "manager-1" first.
    const std::string name = "other-" + std::to_string(i);
    entries = MergePatch(ObjectPath() + "?fieldManager=" + name, {{"data", {{name, "1"}}}})
                  .at("/metadata/managedFields");
  }

  EXPECT_EQ(entries.size(), 10);
  json ancient_changes;
  for (const json& entry : entries) {
    if (entry["manager"] == "ancient-changes") ancient_changes = entry["fieldsV1"];
  }
  EXPECT_EQ(ancient_changes["f:metadata"], R"({"f:labels": {".": {}, "f:l": {}}})"_json);
  EXPECT_EQ(ancient_changes["f:data"].size(),
            5);  // the map itself, the key "k" of Create(), and three keys of the loop
}

}  // namespace
}  // namespace kopp::conformance
