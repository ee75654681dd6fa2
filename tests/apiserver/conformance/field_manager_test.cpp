#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

class FieldManagerTest : public ConformanceTest {
 protected:
  std::string Object() { return Path("configmaps") + "/a"; }

  Answer Create(const std::string& query = "?fieldManager=boss") {
    return Post(Path("configmaps") + query,
                {{"metadata", {{"name", "a"}, {"labels", {{"l", "1"}}}}}, {"data", {{"k", "1"}}}});
  }
};

TEST_F(FieldManagerTest, WhoCreatesOwnsWhatHeSent) {
  const Answer made = Create();

  EXPECT_THAT(made.str("/metadata/managedFields/0/time"),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  json entry = made.at("/metadata/managedFields/0");
  entry.erase("time");
  EXPECT_EQ(entry, R"({
    "manager": "boss",
    "operation": "Update",
    "apiVersion": "v1",
    "fieldsType": "FieldsV1",
    "fieldsV1": {
      "f:data": {".": {}, "f:k": {}},
      "f:metadata": {"f:labels": {".": {}, "f:l": {}}}
    }
  })"_json);
  EXPECT_EQ(made.at("/metadata/managedFields").size(), 1);
}

// A User-Agent such as "kopp/1.2 (linux)" gives what is before the slash.
TEST_F(FieldManagerTest, WithoutANameItIsTheUserAgents) {
  const Answer made = Create("");

  EXPECT_EQ(made.str("/metadata/managedFields/0/manager"), "kopp");
}

TEST_F(FieldManagerTest, AClaimsStatusIsNobodys) {
  json claim = AConfigMap("a");
  claim["spec"] = {{"accessModes", {"ReadWriteOnce"}},
                   {"resources", {{"requests", {{"storage", "1Gi"}}}}}};
  const Answer made = Post(Path("persistentvolumeclaims"), claim);

  EXPECT_EQ(made.at("/metadata/managedFields/0/fieldsV1/f:status"), nullptr);
  EXPECT_NE(made.at("/metadata/managedFields/0/fieldsV1/f:spec"), nullptr);
}

TEST_F(FieldManagerTest, AnEmptyNameIsNone) {
  const Answer made = Create("?fieldManager=");

  EXPECT_EQ(made.str("/metadata/managedFields/0/manager"), "kopp");
}

TEST_F(FieldManagerTest, NothingOfNoteIsOwnedByNobody) {
  const Answer made = Post(Path("configmaps"), AConfigMap("a"));

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/metadata/managedFields"), nullptr);
}

TEST_F(FieldManagerTest, WhoChangesAFieldTakesIt) {
  Create();
  const Answer patched =
      MergePatch(Object() + "?fieldManager=other", {{"data", {{"k", "2"}, {"z", "3"}}}});

  EXPECT_EQ(patched.str("/metadata/managedFields/0/manager"), "boss");
  EXPECT_EQ(patched.at("/metadata/managedFields/0/fieldsV1"),
            R"({"f:data": {}, "f:metadata": {"f:labels": {".": {}, "f:l": {}}}})"_json);
  EXPECT_EQ(patched.str("/metadata/managedFields/1/manager"), "other");
  EXPECT_EQ(patched.at("/metadata/managedFields/1/fieldsV1"),
            R"({"f:data": {"f:k": {}, "f:z": {}}})"_json);
}

TEST_F(FieldManagerTest, WhoSendsAFieldAsItIsDoesNotTakeIt) {
  Create();
  const Answer patched = MergePatch(Object() + "?fieldManager=other", {{"data", {{"k", "1"}}}});

  EXPECT_EQ(patched.at("/metadata/managedFields").size(), 1);
}

TEST_F(FieldManagerTest, AFieldThatIsRemovedIsNobodys) {
  Create();
  MergePatch(Object() + "?fieldManager=other", {{"data", {{"z", "3"}}}});
  const Answer patched = MergePatch(Object() + "?fieldManager=third", {{"data", {{"z", nullptr}}}});

  EXPECT_EQ(patched.at("/metadata/managedFields").size(), 1);
  EXPECT_EQ(patched.str("/metadata/managedFields/0/manager"), "boss");
}

TEST_F(FieldManagerTest, AStatusIsOwnedApart) {
  const std::string path = Path("apps/v1", "deployments");
  Post(path + "?fieldManager=boss", ADeployment("a"));
  const Answer patched =
      MergePatch(path + "/a/status?fieldManager=boss", {{"status", {{"replicas", 1}}}});

  json entry = patched.at("/metadata/managedFields/1");
  entry.erase("time");
  EXPECT_EQ(entry, R"({
    "manager": "boss",
    "operation": "Update",
    "apiVersion": "apps/v1",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:status": {"f:replicas": {}}},
    "subresource": "status"
  })"_json);
}

TEST_F(FieldManagerTest, TheListIsClearedByAnEmptyEntry) {
  Create();
  const Answer patched =
      MergePatch(Object(), {{"metadata", {{"managedFields", json::array({json::object()})}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/metadata/managedFields"), nullptr);
}

TEST_F(FieldManagerTest, ANameOf128BytesIsTaken) {
  const std::string name(128, 'x');

  EXPECT_EQ(Create("?fieldManager=" + name).str("/metadata/managedFields/0/manager"), name);
}

struct BadManager {
  std::string test{};
  std::string method{};
  std::string name{};
  std::string options{};
  std::string cause{};

  friend void PrintTo(const BadManager& bad, std::ostream* out) { *out << bad.name; }
};

class BadFieldManagerTest : public FieldManagerTest,
                            public ::testing::WithParamInterface<BadManager> {};

TEST_P(BadFieldManagerTest, IsInvalid) {
  Create();
  const Answer answer =
      Call({.method = GetParam().method,
            .target = (GetParam().method == "POST" ? Path("configmaps") : Object()) +
                      "?fieldManager=" + GetParam().name,
            .body = R"({"metadata": {"name": "a"}})",
            .content_type = GetParam().method == "PATCH" ? "application/merge-patch+json"
                                                         : "application/json"});

  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.reason(), "Invalid");
  EXPECT_EQ(answer.str("/details/group"), "meta.k8s.io");
  EXPECT_EQ(answer.str("/details/kind"), GetParam().options);
  EXPECT_THAT(Causes(answer), ElementsAre(GetParam().cause));
}

const std::string too_long =
    "FieldValueTooLong fieldManager: Too long: may not be more than 128 bytes";
const BadManager bad_managers[] = {
    {"TooLongInACreate", "POST", std::string(129, 'x'), "CreateOptions", too_long},
    {"TooLongInAnUpdate", "PUT", std::string(129, 'x'), "UpdateOptions", too_long},
    {"TooLongInAPatch", "PATCH", std::string(129, 'x'), "PatchOptions", too_long},
    {"ALineBreak", "POST", "a%0Ab", "CreateOptions",
     "FieldValueInvalid fieldManager: Invalid value: \"a\\nb\": invalid character U+000A (at "
     "position 1)"},
};
INSTANTIATE_TEST_SUITE_P(, BadFieldManagerTest, ::testing::ValuesIn(bad_managers),
                         [](const auto& bad) { return bad.param.test; });

TEST_F(FieldManagerTest, OfMoreThanTenWhoUpdateTheOldestBecomeOne) {
  Create();
  json entries;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "m" + std::to_string(i);
    entries = MergePatch(Object() + "?fieldManager=" + name, {{"data", {{name, "1"}}}})
                  .at("/metadata/managedFields");
  }

  EXPECT_EQ(entries.size(), 10);
  json owned;
  for (const json& entry : entries) {
    if (entry["manager"] == "ancient-changes") owned = entry["fieldsV1"];
  }
  EXPECT_EQ(owned["f:metadata"], R"({"f:labels": {".": {}, "f:l": {}}})"_json);
  EXPECT_EQ(owned["f:data"].size(), 5);  // the map, what was there at first, and three of them
}

}  // namespace
}  // namespace kopp::conformance
