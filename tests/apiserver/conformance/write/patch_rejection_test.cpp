#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::StartsWith;

/// A patch of a ConfigMap that is rejected, and the Status that the server returns.
struct RejectedPatch {
  std::string test_name{};
  std::string type{};  ///< "merge-patch+json"
  std::string patch{};
  int status = 0;
  std::string reason{};
  std::string message{};
};
void PrintTo(const RejectedPatch& rejected, std::ostream* out) { *out << rejected.patch; }

class PatchRejectionTest : public ConformanceTest,
                           public ::testing::WithParamInterface<RejectedPatch> {};

TEST_P(PatchRejectionTest, RejectedPatchReturnsAStatusAndChangesNothing) {
  const JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));

  const JsonResponse response = Call({.method = "PATCH",
                                      .target = Path("configmaps") + "/a",
                                      .body = GetParam().patch,
                                      .content_type = "application/" + GetParam().type});

  EXPECT_EQ(response.status, GetParam().status);
  EXPECT_EQ(response.reason(), GetParam().reason);
  EXPECT_EQ(response.message(), GetParam().message);
  EXPECT_EQ(Get(Path("configmaps") + "/a").body, created.body);
}

const std::string merge_patch_subtype = "merge-patch+json";
const std::string json_patch_subtype = "json-patch+json";

const RejectedPatch rejected_patches[] = {
    {"MergePatchIsAnArray", merge_patch_subtype, "[]", 400, "BadRequest",
     "error decoding patch: json: cannot unmarshal array into Go value of type "
     "map[string]interface {}"},
    {"MergePatchIsAString", merge_patch_subtype, R"("x")", 400, "BadRequest",
     "error decoding patch: json: cannot unmarshal string into Go value of type "
     "map[string]interface {}"},
    {"MergePatchIsNull", merge_patch_subtype, "null", 400, "BadRequest", "Invalid JSON Patch"},
    {"MergePatchIsNotJson", merge_patch_subtype, "x", 400, "BadRequest",
     "error decoding patch: invalid character 'x' looking for beginning of value"},
    {"MergePatchIsTruncated", merge_patch_subtype, R"({"data":)", 400, "BadRequest",
     "error decoding patch: unexpected end of JSON input"},
    {"MergePatchRemovesTheMetadata", merge_patch_subtype, R"({"metadata": null})", 400,
     "BadRequest",
     "the name of the object (a based on URL) was undeterminable: name must be provided"},
    {"JsonPatchIsAnObject", json_patch_subtype, "{}", 400, "BadRequest",
     "error decoding patch: json: cannot unmarshal object into Go value of type "
     "[]handlers.jsonPatchOp"},
    {"JsonPatchIsNotJson", json_patch_subtype, "x", 400, "BadRequest",
     "error decoding patch: invalid character 'x' looking for beginning of value"},
    {"JsonPatchIsTruncated", json_patch_subtype, R"([{"op": "add")", 400, "BadRequest",
     "error decoding patch: unexpected end of JSON input"},
    {"JsonPatchIsAnArrayOfNumbers", json_patch_subtype, "[5]", 400, "BadRequest",
     "error decoding patch: json: cannot unmarshal number into Go value of type "
     "handlers.jsonPatchOp"},
    {"ContentTypeIsNotAPatchType", "json", "{}", 415, "UnsupportedMediaType",
     "415: Unsupported Media Type"},
};
INSTANTIATE_TEST_SUITE_P(, PatchRejectionTest, ::testing::ValuesIn(rejected_patches),
                         [](const auto& rejected) { return rejected.param.test_name; });

/// An invalid query parameter of a patch and the cause of its rejection.
struct InvalidPatchOption {
  std::string test_name{};
  std::string query{};
  std::string cause{};
};
void PrintTo(const InvalidPatchOption& option, std::ostream* out) { *out << option.query; }

class PatchOptionTest : public ConformanceTest,
                        public ::testing::WithParamInterface<InvalidPatchOption> {};

TEST_P(PatchOptionTest, InvalidPatchOptionIsRejected) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  const JsonResponse response =
      MergePatch(Path("configmaps") + "/a?" + GetParam().query, {{"data", {{"k", "v"}}}});

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(response.message(), StartsWith("PatchOptions.meta.k8s.io \"\" is invalid: "));
  EXPECT_EQ(response.str("/details/group"), "meta.k8s.io");
  EXPECT_EQ(response.str("/details/kind"), "PatchOptions");
  EXPECT_THAT(Causes(response), ElementsAre(GetParam().cause));
}

const InvalidPatchOption invalid_patch_options[] = {
    {"ForceWithoutApply", "force=true",
     "FieldValueForbidden force: Forbidden: may not be specified for non-apply patch"},
    {"UnknownDryRunValue", "dryRun=Some",
     R"(FieldValueNotSupported dryRun: Unsupported value: ["Some"]: supported values: "All")"},
    {"UnknownFieldValidation", "fieldValidation=Nope",
     "FieldValueNotSupported fieldValidation: Unsupported value: \"Nope\": supported values: \"\", "
     "\"Ignore\", \"Strict\", \"Warn\""},
    {"FieldManagerIsTooLong", "fieldManager=" + std::string(129, 'x'),
     "FieldValueTooLong fieldManager: Too long: may not be more than 128 bytes"},
    {"FieldManagerHasALineBreak", "fieldManager=a%0Ab",
     "FieldValueInvalid fieldManager: Invalid value: \"a\\nb\": invalid character U+000A (at "
     "position 1)"},
};
INSTANTIATE_TEST_SUITE_P(, PatchOptionTest, ::testing::ValuesIn(invalid_patch_options),
                         [](const auto& option) { return option.param.test_name; });

/// A patch whose result is JSON that the server cannot decode as an object of the kind.
struct UndecodableResult {
  std::string test_name{};
  std::string query{};
  std::string patch{};
  std::string decoding_error{};
};
void PrintTo(const UndecodableResult& result, std::ostream* out) { *out << result.patch; }

class PatchResultTest : public ConformanceTest,
                        public ::testing::WithParamInterface<UndecodableResult> {};

TEST_P(PatchResultTest, PatchWithAnUndecodableResultIsInvalid) {
  const JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));

  const JsonResponse response = Call({.method = "PATCH",
                                      .target = Path("configmaps") + "/a" + GetParam().query,
                                      .body = GetParam().patch,
                                      .content_type = "application/merge-patch+json"});

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.reason(), "Invalid");
  EXPECT_THAT(response.message(), StartsWith(R"( "" is invalid: patch: Invalid value: "{)"));
  EXPECT_THAT(response.message(), EndsWith(": " + GetParam().decoding_error));
  EXPECT_EQ(response.at("/details/causes").size(), 1U);
  EXPECT_EQ(response.str("/details/causes/0/reason"), "FieldValueInvalid");
  EXPECT_EQ(response.str("/details/causes/0/field"), "patch");
  EXPECT_EQ(Get(Path("configmaps") + "/a").body, created.body);
}

const UndecodableResult undecodable_results[] = {
    {"NumberForAString", "", R"({"data": {"k": 5}})",
     "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"},
    {"NumberForAMap", "", R"({"data": 5})",
     "json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string"},
    {"UnknownFieldsWithStrictFieldValidation", "?fieldValidation=Strict",
     R"({"zzz": 1, "metadata": {"yyy": 2}})",
     R"(strict decoding error: unknown field "metadata.yyy", unknown field "zzz")"},
    {"DuplicateFieldWithStrictFieldValidation", "?fieldValidation=Strict",
     R"({"data": {"k": "1", "k": "2"}})", R"(strict decoding error: duplicate field "data.k")"},
};
INSTANTIATE_TEST_SUITE_P(, PatchResultTest, ::testing::ValuesIn(undecodable_results),
                         [](const auto& result) { return result.param.test_name; });

class PatchTest : public ConformanceTest {};

TEST_F(PatchTest, AllInvalidOptionsAreReportedTogether) {
  const JsonResponse patched =
      MergePatch(Path("configmaps") + "/a?force=true&fieldValidation=Nope&dryRun=Some", {});
  const JsonResponse applied = Call({.method = "PATCH",
                                     .target = Path("configmaps") + "/a?dryRun=Some",
                                     .body = R"({"apiVersion": "v1", "kind": "ConfigMap"})",
                                     .content_type = "application/apply-patch+yaml"});

  const std::string dry_run =
      R"(FieldValueNotSupported dryRun: Unsupported value: ["Some"]: supported values: "All")";
  EXPECT_THAT(
      Causes(patched),
      ElementsAre("FieldValueForbidden force: Forbidden: may not be specified for non-apply patch",
                  dry_run, StartsWith("FieldValueNotSupported fieldValidation: ")));
  EXPECT_THAT(Causes(applied),
              ElementsAre("FieldValueRequired fieldManager: Required value: is required for apply "
                          "patch",
                          dry_run));
}

TEST_F(PatchTest, ChangingTheKindIsInvalid) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  const JsonResponse response = JsonPatch(
      Path("configmaps") + "/a", R"([{"op": "replace", "path": "/kind", "value": "X"}])"_json);

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(response.message(), StartsWith(" \"\" is invalid: patch: Invalid value: \"{"));
  EXPECT_THAT(response.message(),
              EndsWith("no kind \"X\" is registered for version \"v1\" in scheme "
                       "\"pkg/runtime/scheme.go:110\""));
}

TEST_F(PatchTest, RemovingTheKindIsAllowedAndRemovingTheApiVersionIsABadRequest) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  EXPECT_EQ(MergePatch(Path("configmaps") + "/a", {{"kind", nullptr}}).status, 200);
  const JsonResponse response = MergePatch(Path("configmaps") + "/a", {{"apiVersion", nullptr}});
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.message(),
            "the name of the object (a based on URL) was undeterminable: name must be provided");
}

TEST_F(PatchTest, ContentTypeWithACharsetIsAccepted) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  const JsonResponse response =
      Call({.method = "PATCH",
            .target = Path("configmaps") + "/a",
            .body = R"({"data": {"k": "v"}})",
            .content_type = "application/merge-patch+json; charset=utf-8"});

  EXPECT_EQ(response.status, 200);
}

TEST_F(PatchTest, PatchOfACollectionIsNotAllowed) {
  const JsonResponse response = MergePatch(Path("configmaps"), {{"data", {{"k", "v"}}}});

  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(response.reason(), "MethodNotAllowed");
  EXPECT_EQ(response.message(), "the server does not allow this method on the requested resource");
}

TEST_F(PatchTest, StatusPatchChangesOnlyTheStatus) {
  const std::string object = Path("apps/v1", "deployments") + "/a";
  Post(Path("apps/v1", "deployments"), MakeDeployment("a"));

  const JsonResponse patched =
      MergePatch(object + "/status", {{"spec", {{"replicas", 9}}},
                                      {"metadata", {{"labels", {{"x", "1"}}}}},
                                      {"status", {{"replicas", 3}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/spec/replicas"), 1);
  EXPECT_EQ(patched.at("/status/replicas"), 3);
  EXPECT_EQ(patched.at("/metadata/generation"), 1);
}

TEST_F(PatchTest, PatchOfTheObjectDoesNotChangeTheStatus) {
  Post(Path("apps/v1", "deployments"), MakeDeployment("a"));

  const JsonResponse patched =
      MergePatch(Path("apps/v1", "deployments") + "/a",
                 {{"spec", {{"replicas", 9}}}, {"status", {{"replicas", 3}}}});

  EXPECT_EQ(patched.at("/spec/replicas"), 9);
  EXPECT_EQ(patched.at("/status/replicas"), nullptr);
  EXPECT_EQ(patched.at("/metadata/generation"), 2);
}

}  // namespace
}  // namespace kopp::conformance
