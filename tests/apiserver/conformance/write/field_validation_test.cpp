#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// A ConfigMap with unknown fields and duplicate fields.
constexpr const char* kConfigMapWithFieldErrors = R"({"kind": "ConfigMap", "apiVersion": "v1",
  "metadata": {"name": "a", "nmae": "x"},
  "bogus": 1, "data": {"a": "1", "a": "2"}, "data": {"b": "1"}})";

class FieldValidationTest : public ConformanceTest {
 protected:
  JsonResponse Create(const std::string& query) {
    return Call({.method = "POST",
                 .target = Path("configmaps") + query,
                 .body = kConfigMapWithFieldErrors});
  }
};

TEST_F(FieldValidationTest, StrictRejectsTheObjectAndListsAllErrorsInDocumentOrder) {
  const JsonResponse response = Create("?fieldValidation=Strict");

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.reason(), "BadRequest");
  EXPECT_EQ(response.message(),
            R"(ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: )"
            R"(unknown field "metadata.nmae", unknown field "bogus", duplicate field "data.a", )"
            R"(duplicate field "data")");
}

TEST_F(FieldValidationTest, UnknownValueIsReportedWithTheOtherInvalidOptions) {
  const JsonResponse response = Create("?fieldValidation=Nope&dryRun=Some&fieldManager=a%0Ab");

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(
      response.message(),
      R"(CreateOptions.meta.k8s.io "" is invalid: [fieldManager: Invalid value: "a\nb": invalid )"
      R"(character U+000A (at position 1), dryRun: Unsupported value: ["Some"]: supported values: )"
      R"("All", fieldValidation: Unsupported value: "Nope": supported values: "", "Ignore", )"
      R"("Strict", "Warn"])");
}

TEST_F(FieldValidationTest, WarnAcceptsTheObjectAndReturnsWarnings) {
  const JsonResponse created = Create("?fieldValidation=Warn");

  EXPECT_EQ(created.status, 201);
  EXPECT_THAT(created.warnings,
              ElementsAre(R"(unknown field "metadata.nmae")", R"(unknown field "bogus")",
                          R"(duplicate field "data.a")", R"(duplicate field "data")"));
}

TEST_F(FieldValidationTest, CreateRejectedByValidationStillReturnsUnknownFieldWarnings) {
  const JsonResponse response =
      Post(Path("configmaps"), {{"metadata", {{"name", "UP"}}}, {"bogus", 1}});

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(response.warnings, ElementsAre(R"(unknown field "bogus")"));
}

TEST_F(FieldValidationTest, FieldValidationDefaultsToWarn) {
  const JsonResponse created = Create("");

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.warnings.size(), 4);
}

TEST_F(FieldValidationTest, IgnoreAcceptsTheObjectWithoutWarnings) {
  const JsonResponse created = Create("?fieldValidation=Ignore");

  EXPECT_EQ(created.status, 201);
  EXPECT_THAT(created.warnings, IsEmpty());
}

TEST_F(FieldValidationTest, IgnoreFieldValidationPrunesUnknownFields) {
  const JsonResponse created = Create("?fieldValidation=Ignore");

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.at("/bogus"), nullptr);
  EXPECT_EQ(created.at("/metadata/nmae"), nullptr);
}

TEST_F(FieldValidationTest, LastValueOfADuplicateFieldIsStored) {
  const JsonResponse created =
      Call({.method = "POST",
            .target = Path("configmaps"),
            .body = R"({"metadata": {"name": "a"}, "data": {"a": "1", "a": "2"}})"});

  EXPECT_EQ(created.str("/data/a"), "2");
}

TEST_F(FieldValidationTest, UnknownFieldInAListIsReportedWithItsIndex) {
  json deployment = MakeDeployment("a");
  deployment["spec"]["template"]["spec"]["containers"][0]["imagee"] = "x";
  const JsonResponse response =
      Post(Path("apps/v1", "deployments") + "?fieldValidation=Strict", deployment);

  EXPECT_EQ(
      response.message(),
      R"(Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: )"
      R"(unknown field "spec.template.spec.containers[0].imagee")");
}

TEST_F(FieldValidationTest, FieldNamesAreCaseSensitive) {
  const JsonResponse created =
      Post(Path("configmaps"), {{"metadata", {{"name", "a"}}}, {"Data", {{"a", "b"}}}});

  EXPECT_EQ(created.at("/data"), nullptr);
  EXPECT_THAT(created.warnings, ElementsAre(R"(unknown field "Data")"));
}

TEST_F(FieldValidationTest, StrictRejectsAnUpdateWithAnUnknownField) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse put = Put(Path("configmaps") + "/a?fieldValidation=Strict",
                               {{"metadata", {{"name", "a"}}}, {"bogus", 1}});

  EXPECT_EQ(put.status, 400);
  EXPECT_EQ(put.message(),
            R"(ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: )"
            R"(unknown field "bogus")");
}

TEST_F(FieldValidationTest, StrictRejectsAMergePatchWithAnUnknownField) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse patched =
      MergePatch(Path("configmaps") + "/a?fieldValidation=Strict", {{"bogus", 1}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_EQ(patched.reason(), "Invalid");
  EXPECT_THAT(patched.message(), StartsWith(R"( "" is invalid: patch: Invalid value: "{\")"));
  EXPECT_THAT(patched.message(), EndsWith(R"(: strict decoding error: unknown field "bogus")"));
  EXPECT_EQ(patched.str("/details/causes/0/field"), "patch");
}

TEST_F(FieldValidationTest, MergePatchWithAnUnknownFieldReturnsAWarningByDefault) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse patched = MergePatch(Path("configmaps") + "/a", {{"bogus", 1}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_THAT(patched.warnings, ElementsAre(R"(unknown field "bogus")"));
}

TEST_F(FieldValidationTest, StrictRejectsAJsonPatchThatAddsAnUnknownField) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse patched = JsonPatch(Path("configmaps") + "/a?fieldValidation=Strict",
                                         R"([{"op": "add", "path": "/bogus", "value": 1}])"_json);

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(patched.message(), EndsWith(R"(: strict decoding error: unknown field "bogus")"));
}

TEST_F(FieldValidationTest, UnsupportedFieldValidationParameterIsRejected) {
  const JsonResponse response = Create("?fieldValidation=strict");

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.str("/details/kind"), "CreateOptions");
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueNotSupported fieldValidation: Unsupported value: \"strict\": "
                          R"(supported values: "", "Ignore", "Strict", "Warn")"));
}

}  // namespace
}  // namespace kopp::conformance
