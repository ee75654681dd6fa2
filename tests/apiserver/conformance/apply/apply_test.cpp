#include "conformance.hpp"
#include "managed_fields.hpp"
#include "validation_messages.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::MatchesRegex;

/// Fixture of tests of server-side apply of one ConfigMap.
class ApplyTest : public ConformanceTest {
 protected:
  std::string ObjectPath() { return Path("configmaps") + "/a"; }

  /// Sends an apply with exactly this body, which may be YAML.
  JsonResponse ApplyRaw(const std::string& body, const std::string& query = "?fieldManager=m") {
    return Call({.method = "PATCH",
                 .target = ObjectPath() + query,
                 .body = body,
                 .content_type = "application/apply-patch+yaml"});
  }
};

json Desired(const json& data) {
  return {
      {"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}}}, {"data", data}};
}

TEST_F(ApplyTest, ApplyToAMissingObjectCreatesIt) {
  const JsonResponse created = Apply(ObjectPath(), Desired({{"k", "v"}}), "m");

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.at("/data"), json({{"k", "v"}}));
  EXPECT_EQ(Get(ObjectPath()).body, created.body);
}

TEST_F(ApplyTest, ApplyToAnExistingObjectUpdatesIt) {
  Apply(ObjectPath(), Desired({{"k", "v"}}), "m");

  const JsonResponse updated = Apply(ObjectPath(), Desired({{"k", "w"}}), "m");

  EXPECT_EQ(updated.status, 200);
  EXPECT_EQ(updated.at("/data"), json({{"k", "w"}}));
}

TEST_F(ApplyTest, RepeatedApplyChangesNothing) {
  const JsonResponse first = Apply(ObjectPath(), Desired({{"k", "v"}}), "m");

  const JsonResponse repeated = Apply(ObjectPath(), Desired({{"k", "v"}}), "m");

  EXPECT_EQ(repeated.status, 200);
  EXPECT_EQ(repeated.body, first.body);
}

TEST_F(ApplyTest, ApplyRecordsTheManagerAndItsFields) {
  json desired = Desired({{"k", "v"}});
  desired["metadata"]["labels"]["x"] = "1";

  json entries = Apply(ObjectPath(), desired, "m").at("/metadata/managedFields");

  ASSERT_EQ(entries.size(), 1U);
  EXPECT_THAT(entries[0]["time"].get<std::string>(),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  entries[0].erase("time");
  EXPECT_EQ(entries[0], ManagedFieldsEntry("m", "Apply", "v1", R"({"f:data": {"f:k": {}},
                                                      "f:metadata": {"f:labels": {"f:x": {}}}})"));
}

TEST_F(ApplyTest, EmptyMapsAreRecordedAsFields) {
  json desired = Desired(json::object());
  desired["metadata"]["labels"] = json::object();

  const JsonResponse created = Apply(ObjectPath(), desired, "m");

  EXPECT_EQ(ManagedFields(created),
            json({ManagedFieldsEntry("m", "Apply", "v1",
                                     R"({"f:data": {}, "f:metadata": {"f:labels": {}}})")}));
}

TEST_F(ApplyTest, ApplyWithoutFieldsRecordsNoManager) {
  const JsonResponse created =
      Apply(ObjectPath(),
            {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}}}}, "m");

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.at("/metadata/managedFields"), nullptr);
}

TEST_F(ApplyTest, FieldThatIsNoLongerAppliedIsRemoved) {
  json desired = Desired({{"k", "v"}, {"l", "w"}});
  desired["metadata"]["labels"]["x"] = "1";
  Apply(ObjectPath(), desired, "m");

  const JsonResponse updated = Apply(ObjectPath(), Desired({{"k", "v"}}), "m");

  EXPECT_EQ(updated.at("/data"), json({{"k", "v"}}));
  EXPECT_EQ(updated.at("/metadata/labels"), nullptr);
  EXPECT_EQ(ManagedFields(updated),
            json({ManagedFieldsEntry("m", "Apply", "v1", R"({"f:data": {"f:k": {}}})")}));
}

TEST_F(ApplyTest, BodyWithoutANameIsAccepted) {
  json desired = Desired({{"k", "v"}});
  desired["metadata"] = json::object();
  Post(Path("configmaps"), MakeConfigMap("a"));

  EXPECT_EQ(Apply(ObjectPath(), desired, "m").status, 200);
}

TEST_F(ApplyTest, CreationTimestampAndGenerationInTheBodyAreIgnored) {
  const JsonResponse first = Apply(ObjectPath(), Desired({{"k", "v"}}), "m");
  json desired = Desired({{"k", "v"}});
  desired["metadata"]["creationTimestamp"] = "2001-01-01T00:00:00Z";
  desired["metadata"]["generation"] = 9;

  EXPECT_EQ(Apply(ObjectPath(), desired, "m").body, first.body);
}

TEST_F(ApplyTest, OutdatedResourceVersionIsAConflict) {
  Apply(ObjectPath(), Desired({{"k", "v"}}), "m");
  json desired = Desired({{"k", "w"}});
  desired["metadata"]["resourceVersion"] = "1";

  const JsonResponse response = Apply(ObjectPath(), desired, "m");

  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.message(),
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; "
            "please apply your changes to the latest version and try again");
}

TEST_F(ApplyTest, OutdatedResourceVersionDoesNotPreventACreation) {
  json desired = Desired({{"k", "v"}});
  desired["metadata"]["resourceVersion"] = "1";

  const JsonResponse created = Apply(ObjectPath(), desired, "m");

  EXPECT_EQ(created.status, 201);
  EXPECT_NE(created.at("/metadata/resourceVersion"), "1");
  EXPECT_EQ(Apply(ObjectPath(), desired, "m").status, 409) << "now the object exists";
}

TEST_F(ApplyTest, UidOfAnotherObjectIsInvalid) {
  Apply(ObjectPath(), Desired({{"k", "v"}}), "m");
  json desired = Desired({{"k", "v"}});
  desired["metadata"]["uid"] = "00000000-0000-4000-8000-000000000000";

  const JsonResponse response = Apply(ObjectPath(), desired, "m");

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.at("/details/causes/0/field"), "metadata.uid");
}

TEST_F(ApplyTest, UidIsNotAFieldOfTheManager) {
  json desired = Desired({{"k", "v"}});
  const JsonResponse created = Apply(ObjectPath(), desired, "m");
  desired["metadata"]["uid"] = created.at("/metadata/uid");

  const JsonResponse repeated = Apply(ObjectPath(), desired, "m");

  EXPECT_EQ(repeated.status, 200);
  EXPECT_EQ(repeated.body, created.body);
}

TEST_F(ApplyTest, UidOfAMissingObjectIsAConflict) {
  const std::string uid = "00000000-0000-4000-8000-000000000000";
  json desired = Desired({{"k", "v"}});
  desired["metadata"]["uid"] = uid;

  const JsonResponse response = Apply(ObjectPath(), desired, "m");

  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.reason(), "Conflict");
  EXPECT_EQ(response.message(),
            "Operation cannot be fulfilled on configmaps \"a\": uid mismatch: the provided object "
            "specified uid " +
                uid + ", and no existing object was found");
}

TEST_F(ApplyTest, InvalidResultIsRejectedWithItsCauses) {
  const JsonResponse response = Apply(ObjectPath(), Desired({{"bad key", "v"}}), "m");

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueInvalid data[bad key]: Invalid value: \"bad key\": " +
                          config_key_error));
}

TEST_F(ApplyTest, DryRunDoesNotCreateTheObject) {
  const JsonResponse response = Apply(ObjectPath(), Desired({{"k", "v"}}), "m", "&dryRun=All");

  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.at("/data"), json({{"k", "v"}}));
  EXPECT_EQ(response.resource_version(), "");
  EXPECT_EQ(Get(ObjectPath()).status, 404);
}

TEST_F(ApplyTest, DryRunDoesNotUpdateTheObject) {
  const JsonResponse created = Apply(ObjectPath(), Desired({{"k", "v"}}), "m");

  const JsonResponse response = Apply(ObjectPath(), Desired({{"k", "w"}}), "m", "&dryRun=All");

  EXPECT_EQ(response.str("/data/k"), "w");
  EXPECT_EQ(Get(ObjectPath()).body, created.body);
}

TEST_F(ApplyTest, YamlBodyIsAccepted) {
  const JsonResponse created = ApplyRaw(
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

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.at("/data"),
            json({{"text", "one\ntwo\n"}, {"quoted", "5"}, {"plain", "some words"}}));
  EXPECT_EQ(created.at("/metadata/labels"), json({{"x", "1"}}));
}

TEST_F(ApplyTest, UnquotedYamlNumberInAStringFieldIsRejected) {
  const JsonResponse response = ApplyRaw(
      "apiVersion: v1\n"
      "kind: ConfigMap\n"
      "metadata: {name: a}\n"
      "data:\n"
      "  k: 5\n");

  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.message(),
            "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.k: expected "
            "string, got "
            "&value.valueUnstructured{Value:5}");
}

TEST_F(ApplyTest, UnknownFieldIsRejectedEvenWithFieldValidationIgnore) {
  json desired = Desired({{"k", "v"}});
  desired["zzz"] = 1;

  const JsonResponse response = Apply(ObjectPath(), desired, "m", "&fieldValidation=Ignore");

  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.reason(), "");
  EXPECT_EQ(response.message(),
            "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .zzz: field not "
            "declared in schema");
}

TEST_F(ApplyTest, ApplyWithoutFieldManagerIsInvalid) {
  const JsonResponse response = ApplyRaw(Desired({{"k", "v"}}).dump(), "");

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.message(),
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required "
            "for apply patch");
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueRequired fieldManager: Required value: is required for apply "
                          "patch"));
}

TEST_F(ApplyTest, PostWithTheApplyMediaTypeIsUnsupported) {
  const JsonResponse response = Call({.method = "POST",
                                      .target = Path("configmaps"),
                                      .body = Desired({{"k", "v"}}).dump(),
                                      .content_type = "application/apply-patch+yaml"});

  EXPECT_EQ(response.status, 415);
  EXPECT_EQ(response.reason(), "UnsupportedMediaType");
  EXPECT_EQ(response.message(),
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

TEST_F(ApplyTest, ApplyInAMissingNamespaceIsNotFound) {
  const std::string none = UniqueName("none");

  const JsonResponse response =
      Apply("/api/v1/namespaces/" + none + "/configmaps/a", Desired({}), "m");

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.message(), "namespaces \"" + none + "\" not found");
}

/// An apply body that is a bad request, and the expected message.
struct InvalidApplyBody {
  std::string test_name{};
  std::string body{};
  std::string message{};
};
void PrintTo(const InvalidApplyBody& invalid, std::ostream* out) { *out << invalid.body; }

class ApplyBodyTest : public ApplyTest, public ::testing::WithParamInterface<InvalidApplyBody> {};

TEST_P(ApplyBodyTest, InvalidBodyIsABadRequest) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  const JsonResponse response = ApplyRaw(GetParam().body);

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.reason(), "BadRequest");
  EXPECT_EQ(response.message(), GetParam().message);
}

const InvalidApplyBody invalid_apply_bodies[] = {
    {"NameDiffersFromUrl",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}})",
     "the name of the object (b) does not match the name on the URL (a)"},
    {"NamespaceDiffersFromUrl",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "other"}})",
     "the namespace of the provided object does not match the namespace sent on the request"},
    {"NoApiVersion", R"({"kind": "ConfigMap", "metadata": {"name": "a"}})",
     "invalid object type: /, Kind=ConfigMap"},
    {"NoKind", R"({"apiVersion": "v1", "metadata": {"name": "a"}})",
     "invalid object type: /v1, Kind="},
    {"KindDiffersFromUrl", R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})",
     "invalid object type: /v1, Kind=Pod"},
    {"GroupDiffersFromUrl",
     R"({"apiVersion": "apps/v1", "kind": "ConfigMap", "metadata": {"name": "a"}})",
     "invalid object type: apps/v1, Kind=ConfigMap"},
    {"Null", "null", "invalid object type: /, Kind="},
    {"List", "- a",
     "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
     "array into Go value of type map[string]interface {}"},
    {"Number", "5",
     "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
     "number into Go value of type map[string]interface {}"},
    {"ManagedFields",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": [{}]}})",
     "metadata.managedFields must be nil"},
    {"EmptyManagedFields",
     R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": []}})",
     "metadata.managedFields must be nil"},
};
INSTANTIATE_TEST_SUITE_P(, ApplyBodyTest, ::testing::ValuesIn(invalid_apply_bodies),
                         [](const auto& invalid) { return invalid.param.test_name; });

TEST_F(ApplyTest, MalformedYamlIsABadRequest) {
  const JsonResponse response = ApplyRaw("a: b: c");

  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.message(), ::testing::StartsWith("error decoding YAML: "));
}

}  // namespace
}  // namespace kopp::conformance
