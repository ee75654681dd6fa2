#include "conformance.hpp"
#include "explanations.hpp"
#include "managed_fields.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

/// Applies of one ConfigMap.
class ApplyTest : public ConformanceTest {
 protected:
  std::string Object() { return Path("configmaps") + "/a"; }

  /// The body as it is, which is YAML.
  Answer Send(const std::string& body, const std::string& query = "?fieldManager=m") {
    return Call({.method = "PATCH",
                 .target = Object() + query,
                 .body = body,
                 .content_type = "application/apply-patch+yaml"});
  }
};

json Desired(const json& data) {
  return {
      {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}}}, {"data", data}};
}

TEST_F(ApplyTest, WhatIsMissingIsCreated) {
  const Answer made = Apply(Object(), Desired({{"k", "v"}}), "m");

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/data"), json({{"k", "v"}}));
  EXPECT_EQ(Get(Object()).body, made.body);
}

TEST_F(ApplyTest, WhatIsThereIsUpdated) {
  Apply(Object(), Desired({{"k", "v"}}), "m");

  const Answer updated = Apply(Object(), Desired({{"k", "w"}}), "m");

  EXPECT_EQ(updated.status, 200);
  EXPECT_EQ(updated.at("/data"), json({{"k", "w"}}));
}

TEST_F(ApplyTest, TheSameAgainChangesNothing) {
  const Answer first = Apply(Object(), Desired({{"k", "v"}}), "m");

  const Answer again = Apply(Object(), Desired({{"k", "v"}}), "m");

  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, first.body);
}

TEST_F(ApplyTest, TheManagerAndItsFieldsAreKept) {
  json desired = Desired({{"k", "v"}});
  desired["metadata"]["labels"]["x"] = "1";

  json entries = Apply(Object(), desired, "m").at("/metadata/managedFields");

  ASSERT_EQ(entries.size(), 1U);
  EXPECT_THAT(entries[0]["time"].get<std::string>(),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  entries[0].erase("time");
  EXPECT_EQ(entries[0], Entry("m", "Apply", "v1", R"({"f:data": {"f:k": {}},
                                                      "f:metadata": {"f:labels": {"f:x": {}}}})"));
}

TEST_F(ApplyTest, EmptyMapsAreFieldsToo) {
  json desired = Desired(json::object());
  desired["metadata"]["labels"] = json::object();

  const Answer made = Apply(Object(), desired, "m");

  EXPECT_EQ(ManagedFields(made),
            json({Entry("m", "Apply", "v1", R"({"f:data": {}, "f:metadata": {"f:labels": {}}})")}));
}

TEST_F(ApplyTest, WhoAppliesNoFieldsIsNoManager) {
  const Answer made = Apply(
      Object(), {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}}}}, "m");

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/metadata/managedFields"), nullptr);
}

TEST_F(ApplyTest, AFieldGivenUpIsRemoved) {
  json desired = Desired({{"k", "v"}, {"l", "w"}});
  desired["metadata"]["labels"]["x"] = "1";
  Apply(Object(), desired, "m");

  const Answer updated = Apply(Object(), Desired({{"k", "v"}}), "m");

  EXPECT_EQ(updated.at("/data"), json({{"k", "v"}}));
  EXPECT_EQ(updated.at("/metadata/labels"), nullptr);
  EXPECT_EQ(ManagedFields(updated),
            json({Entry("m", "Apply", "v1", R"({"f:data": {"f:k": {}}})")}));
}

TEST_F(ApplyTest, TheNameMayBeLeftOut) {
  json desired = Desired({{"k", "v"}});
  desired["metadata"] = json::object();
  Post(Path("configmaps"), AConfigMap("a"));

  EXPECT_EQ(Apply(Object(), desired, "m").status, 200);
}

TEST_F(ApplyTest, WhatTheServerSetsIsPassedOver) {
  const Answer first = Apply(Object(), Desired({{"k", "v"}}), "m");
  json desired = Desired({{"k", "v"}});
  desired["metadata"]["creationTimestamp"] = "2001-01-01T00:00:00Z";
  desired["metadata"]["generation"] = 9;

  EXPECT_EQ(Apply(Object(), desired, "m").body, first.body);
}

TEST_F(ApplyTest, AnOldVersionIsAConflict) {
  Apply(Object(), Desired({{"k", "v"}}), "m");
  json desired = Desired({{"k", "w"}});
  desired["metadata"]["resourceVersion"] = "1";

  const Answer answer = Apply(Object(), desired, "m");

  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.message(),
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; "
            "please apply your changes to the latest version and try again");
}

TEST_F(ApplyTest, AUidForbidsToCreate) {
  const std::string uid = "00000000-0000-4000-8000-000000000000";
  json desired = Desired({{"k", "v"}});
  desired["metadata"]["uid"] = uid;

  const Answer answer = Apply(Object(), desired, "m");

  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.reason(), "Conflict");
  EXPECT_EQ(answer.message(),
            "Operation cannot be fulfilled on configmaps \"a\": uid mismatch: the provided object "
            "specified uid " +
                uid + ", and no existing object was found");
}

TEST_F(ApplyTest, AnInvalidResultIsRefusedWithItsCauses) {
  const Answer answer = Apply(Object(), Desired({{"bad key", "v"}}), "m");

  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(
      Causes(answer),
      ElementsAre("FieldValueInvalid data[bad key]: Invalid value: \"bad key\": " + no_config_key));
}

TEST_F(ApplyTest, ADryRunCreatesNothing) {
  const Answer answer = Apply(Object(), Desired({{"k", "v"}}), "m", "&dryRun=All");

  EXPECT_EQ(answer.status, 201);
  EXPECT_EQ(answer.at("/data"), json({{"k", "v"}}));
  EXPECT_EQ(answer.version(), "");
  EXPECT_EQ(Get(Object()).status, 404);
}

TEST_F(ApplyTest, ADryRunUpdatesNothing) {
  const Answer made = Apply(Object(), Desired({{"k", "v"}}), "m");

  const Answer answer = Apply(Object(), Desired({{"k", "w"}}), "m", "&dryRun=All");

  EXPECT_EQ(answer.str("/data/k"), "w");
  EXPECT_EQ(Get(Object()).body, made.body);
}

TEST_F(ApplyTest, TheBodyMayBeYaml) {
  const Answer made = Send(
      "# what we want\n"
      "apiVersion: v1\n"
      "kind: ConfigMap\n"
      "metadata:\n"
      "  name: a\n"
      "  labels: {x: \"1\"}\n"
      "data:\n"
      "  text: |\n"
      "    one\n"
      "    two\n"
      "  quoted: \"5\"\n"
      "  plain: some words\n");

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/data"),
            json({{"text", "one\ntwo\n"}, {"quoted", "5"}, {"plain", "some words"}}));
  EXPECT_EQ(made.at("/metadata/labels"), json({{"x", "1"}}));
}

TEST_F(ApplyTest, APlainNumberInYamlIsNoString) {
  const Answer answer = Send(
      "apiVersion: v1\n"
      "kind: ConfigMap\n"
      "metadata: {name: a}\n"
      "data:\n"
      "  k: 5\n");

  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.message(),
            "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected "
            "string, got "
            "&value.valueUnstructured{Value:5}");
}

TEST_F(ApplyTest, AnUnknownFieldIsRefusedWhateverFieldValidationSays) {
  json desired = Desired({{"k", "v"}});
  desired["zzz"] = 1;

  const Answer answer = Apply(Object(), desired, "m", "&fieldValidation=Ignore");

  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.reason(), "");
  EXPECT_EQ(answer.message(),
            "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .zzz: field not "
            "declared in schema");
}

TEST_F(ApplyTest, AFieldManagerIsNeeded) {
  const Answer answer = Send(Desired({{"k", "v"}}).dump(), "");

  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.message(),
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required "
            "for apply patch");
  EXPECT_THAT(Causes(answer),
              ElementsAre("FieldValueRequired fieldManager: Required value: is required for apply "
                          "patch"));
}

TEST_F(ApplyTest, ItsTypeIsForPatchesOnly) {
  const Answer answer = Call({.method = "POST",
                              .target = Path("configmaps"),
                              .body = Desired({{"k", "v"}}).dump(),
                              .content_type = "application/apply-patch+yaml"});

  EXPECT_EQ(answer.status, 415);
  EXPECT_EQ(answer.reason(), "UnsupportedMediaType");
  EXPECT_EQ(answer.message(),
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

TEST_F(ApplyTest, ANamespaceThatIsNotThereIsNotFound) {
  const std::string none = Unique("none");

  const Answer answer = Apply("/api/v1/namespaces/" + none + "/configmaps/a", Desired({}), "m");

  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.message(), "namespaces \"" + none + "\" not found");
}

struct BadBody {
  std::string name{};
  std::string body{};
  std::string message{};
};
void PrintTo(const BadBody& bad, std::ostream* out) { *out << bad.body; }

class ApplyBodyTest : public ApplyTest, public ::testing::WithParamInterface<BadBody> {};

TEST_P(ApplyBodyTest, IsABadRequest) {
  Post(Path("configmaps"), AConfigMap("a"));

  const Answer answer = Send(GetParam().body);

  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.reason(), "BadRequest");
  EXPECT_EQ(answer.message(), GetParam().message);
}

const BadBody bad_bodies[] = {
    {"AnotherName", R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}})",
     "the name of the object (b) does not match the name on the URL (a)"},
    {"AnotherNamespace",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "other"}})",
     "the namespace of the provided object does not match the namespace sent on the request"},
    {"NoApiVersion", R"({"kind": "ConfigMap", "metadata": {"name": "a"}})",
     "invalid object type: /, Kind=ConfigMap"},
    {"NoKind", R"({"apiVersion": "v1", "metadata": {"name": "a"}})",
     "invalid object type: /v1, Kind="},
    {"AnotherKind", R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})",
     "invalid object type: /v1, Kind=Pod"},
    {"AnotherGroup", R"({"apiVersion": "apps/v1", "kind": "ConfigMap", "metadata": {"name": "a"}})",
     "invalid object type: apps/v1, Kind=ConfigMap"},
    {"Null", "null", "invalid object type: /, Kind="},
    {"AList", "- a",
     "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
     "array into Go value of type map[string]interface {}"},
    {"ANumber", "5",
     "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
     "number into Go value of type map[string]interface {}"},
    {"ManagedFields",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": [{}]}})",
     "metadata.managedFields must be nil"},
    {"AnEmptyListOfManagedFields",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": []}})",
     "metadata.managedFields must be nil"},
};
INSTANTIATE_TEST_SUITE_P(, ApplyBodyTest, ::testing::ValuesIn(bad_bodies),
                         [](const auto& bad) { return bad.param.name; });

TEST_F(ApplyTest, YamlThatCannotBeReadIsABadRequest) {
  const Answer answer = Send("a: b: c");

  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.message(), ::testing::StartsWith("error decoding YAML: "));
}

}  // namespace
}  // namespace kopp::conformance
