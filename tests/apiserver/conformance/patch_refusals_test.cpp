#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::StartsWith;

struct PatchRefusal {
  std::string name{};
  std::string type{};  ///< "merge-patch+json"
  std::string patch{};
  int status = 0;
  std::string reason{};
  std::string message{};
};
void PrintTo(const PatchRefusal& refusal, std::ostream* out) { *out << refusal.patch; }

class PatchRefusalTest : public ConformanceTest,
                         public ::testing::WithParamInterface<PatchRefusal> {};

TEST_P(PatchRefusalTest, IsAStatusAndChangesNothing) {
  const Answer made = Post(Path("configmaps"), AConfigMap("a"));

  const Answer answer = Call({.method = "PATCH",
                              .target = Path("configmaps") + "/a",
                              .body = GetParam().patch,
                              .content_type = "application/" + GetParam().type});

  EXPECT_EQ(answer.status, GetParam().status);
  EXPECT_EQ(answer.reason(), GetParam().reason);
  EXPECT_EQ(answer.message(), GetParam().message);
  EXPECT_EQ(Get(Path("configmaps") + "/a").body, made.body);
}

const std::string merge = "merge-patch+json";
const std::string json_patch_type = "json-patch+json";

const PatchRefusal patch_refusals[] = {
    {"AMergePatchThatIsAList", merge, "[]", 400, "BadRequest",
     "error decoding patch: json: cannot unmarshal array into Go value of type "
     "map[string]interface "
     "{}"},
    {"AMergePatchThatIsAString", merge, R"("x")", 400, "BadRequest",
     "error decoding patch: json: cannot unmarshal string into Go value of type "
     "map[string]interface {}"},
    {"AMergePatchThatIsNull", merge, "null", 400, "BadRequest", "Invalid JSON Patch"},
    {"AMergePatchThatIsNoJson", merge, "x", 400, "BadRequest",
     "error decoding patch: invalid character 'x' looking for beginning of value"},
    {"AMergePatchThatIsCut", merge, R"({"data":)", 400, "BadRequest",
     "error decoding patch: unexpected end of JSON input"},
    {"AMergePatchThatRemovesTheMetadata", merge, R"({"metadata": null})", 400, "BadRequest",
     "the name of the object (a based on URL) was undeterminable: name must be provided"},
    {"AJsonPatchThatIsAnObject", json_patch_type, "{}", 400, "BadRequest",
     "error decoding patch: json: cannot unmarshal object into Go value of type "
     "[]handlers.jsonPatchOp"},
    {"AJsonPatchThatIsNoJson", json_patch_type, "x", 400, "BadRequest",
     "error decoding patch: invalid character 'x' looking for beginning of value"},
    {"AJsonPatchThatIsCut", json_patch_type, R"([{"op": "add")", 400, "BadRequest",
     "error decoding patch: unexpected end of JSON input"},
    {"AJsonPatchOfNumbers", json_patch_type, "[5]", 400, "BadRequest",
     "error decoding patch: json: cannot unmarshal number into Go value of type "
     "handlers.jsonPatchOp"},
    {"APatchOfNoType", "json", "{}", 415, "UnsupportedMediaType", "415: Unsupported Media Type"},
};
INSTANTIATE_TEST_SUITE_P(, PatchRefusalTest, ::testing::ValuesIn(patch_refusals),
                         [](const auto& refusal) { return refusal.param.name; });

struct Option {
  std::string name{};
  std::string query{};
  std::string cause{};
};
void PrintTo(const Option& option, std::ostream* out) { *out << option.query; }

class PatchOptionTest : public ConformanceTest, public ::testing::WithParamInterface<Option> {};

TEST_P(PatchOptionTest, IsRefused) {
  Post(Path("configmaps"), AConfigMap("a"));

  const Answer answer =
      MergePatch(Path("configmaps") + "/a?" + GetParam().query, {{"data", {{"k", "v"}}}});

  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(answer.message(), StartsWith("PatchOptions.meta.k8s.io \"\" is invalid: "));
  EXPECT_EQ(answer.str("/details/group"), "meta.k8s.io");
  EXPECT_EQ(answer.str("/details/kind"), "PatchOptions");
  EXPECT_THAT(Causes(answer), ElementsAre(GetParam().cause));
}

const Option options[] = {
    {"ForceWithoutApply", "force=true",
     "FieldValueForbidden force: Forbidden: may not be specified for non-apply patch"},
    {"ADryRunOfPart", "dryRun=Some",
     R"(FieldValueNotSupported dryRun: Unsupported value: ["Some"]: supported values: "All")"},
    {"AnUnknownFieldValidation", "fieldValidation=Nope",
     "FieldValueNotSupported fieldValidation: Unsupported value: \"Nope\": supported values: \"\", "
     "\"Ignore\", \"Strict\", \"Warn\""},
    {"AManagerWithTooLongAName", "fieldManager=" + std::string(129, 'x'),
     "FieldValueTooLong fieldManager: Too long: may not be more than 128 bytes"},
    {"AManagerWithALineBreak", "fieldManager=a%0Ab",
     "FieldValueInvalid fieldManager: Invalid value: \"a\\nb\": invalid character U+000A (at "
     "position 1)"},
};
INSTANTIATE_TEST_SUITE_P(, PatchOptionTest, ::testing::ValuesIn(options),
                         [](const auto& option) { return option.param.name; });

struct Result {
  std::string name{};
  std::string query{};
  std::string patch{};
  std::string why{};
};
void PrintTo(const Result& result, std::ostream* out) { *out << result.patch; }

/// The server first makes the whole new object, as JSON, and then cannot read it.
class PatchResultTest : public ConformanceTest, public ::testing::WithParamInterface<Result> {};

TEST_P(PatchResultTest, CannotBeRead) {
  const Answer made = Post(Path("configmaps"), AConfigMap("a"));

  const Answer answer = Call({.method = "PATCH",
                              .target = Path("configmaps") + "/a" + GetParam().query,
                              .body = GetParam().patch,
                              .content_type = "application/merge-patch+json"});

  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.reason(), "Invalid");
  EXPECT_THAT(answer.message(), StartsWith(R"( "" is invalid: patch: Invalid value: "{)"));
  EXPECT_THAT(answer.message(), EndsWith(": " + GetParam().why));
  EXPECT_EQ(answer.at("/details/causes").size(), 1U);
  EXPECT_EQ(answer.str("/details/causes/0/reason"), "FieldValueInvalid");
  EXPECT_EQ(answer.str("/details/causes/0/field"), "patch");
  EXPECT_EQ(Get(Path("configmaps") + "/a").body, made.body);
}

const Result results[] = {
    {"ANumberForAString", "", R"({"data": {"k": 5}})",
     "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"},
    {"ANumberForAMap", "", R"({"data": 5})",
     "json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string"},
    {"UnknownFieldsWhereTheyAreForbidden", "?fieldValidation=Strict",
     R"({"zzz": 1, "metadata": {"yyy": 2}})",
     R"(strict decoding error: unknown field "metadata.yyy", unknown field "zzz")"},
    {"AFieldTwiceWhereThatIsForbidden", "?fieldValidation=Strict",
     R"({"data": {"k": "1", "k": "2"}})", R"(strict decoding error: duplicate field "data.k")"},
};
INSTANTIATE_TEST_SUITE_P(, PatchResultTest, ::testing::ValuesIn(results),
                         [](const auto& result) { return result.param.name; });

class PatchTest : public ConformanceTest {};

TEST_F(PatchTest, TheKindStaysAsItIs) {
  Post(Path("configmaps"), AConfigMap("a"));

  const Answer answer = JsonPatch(Path("configmaps") + "/a",
                                  R"([{"op": "replace", "path": "/kind", "value": "X"}])"_json);

  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(answer.message(), StartsWith(" \"\" is invalid: patch: Invalid value: \"{"));
  EXPECT_THAT(answer.message(), EndsWith("no kind \"X\" is registered for version \"v1\" in scheme "
                                         "\"pkg/runtime/scheme.go:110\""));
}

TEST_F(PatchTest, TheKindMayBeLeftOutAndTheVersionMayNot) {
  Post(Path("configmaps"), AConfigMap("a"));

  EXPECT_EQ(MergePatch(Path("configmaps") + "/a", {{"kind", nullptr}}).status, 200);
  const Answer answer = MergePatch(Path("configmaps") + "/a", {{"apiVersion", nullptr}});
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.message(),
            "the name of the object (a based on URL) was undeterminable: name must be provided");
}

TEST_F(PatchTest, TheTypeMayNameACharset) {
  Post(Path("configmaps"), AConfigMap("a"));

  const Answer answer = Call({.method = "PATCH",
                              .target = Path("configmaps") + "/a",
                              .body = R"({"data": {"k": "v"}})",
                              .content_type = "application/merge-patch+json; charset=utf-8"});

  EXPECT_EQ(answer.status, 200);
}

TEST_F(PatchTest, ACollectionCannotBePatched) {
  const Answer answer = MergePatch(Path("configmaps"), {{"data", {{"k", "v"}}}});

  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(answer.reason(), "MethodNotAllowed");
  EXPECT_EQ(answer.message(), "the server does not allow this method on the requested resource");
}

TEST_F(PatchTest, APatchOfTheStatusLeavesTheRestAlone) {
  const std::string object = Path("apps/v1", "deployments") + "/a";
  Post(Path("apps/v1", "deployments"), ADeployment("a"));

  const Answer patched = MergePatch(object + "/status", {{"spec", {{"replicas", 9}}},
                                                         {"metadata", {{"labels", {{"x", "1"}}}}},
                                                         {"status", {{"replicas", 3}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/spec/replicas"), 1);
  EXPECT_EQ(patched.at("/status/replicas"), 3);
  EXPECT_EQ(patched.at("/metadata/generation"), 1);
}

TEST_F(PatchTest, APatchOfTheObjectLeavesTheStatusAlone) {
  Post(Path("apps/v1", "deployments"), ADeployment("a"));

  const Answer patched = MergePatch(Path("apps/v1", "deployments") + "/a",
                                    {{"spec", {{"replicas", 9}}}, {"status", {{"replicas", 3}}}});

  EXPECT_EQ(patched.at("/spec/replicas"), 9);
  EXPECT_EQ(patched.at("/status/replicas"), nullptr);
  EXPECT_EQ(patched.at("/metadata/generation"), 2);
}

}  // namespace
}  // namespace kopp::conformance
