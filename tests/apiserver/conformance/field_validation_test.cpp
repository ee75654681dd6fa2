#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// A ConfigMap with fields that there are not, and with fields named twice.
constexpr const char* kFaulty = R"({"kind": "ConfigMap", "apiVersion": "v1",
  "metadata": {"name": "a", "nmae": "x"},
  "bogus": 1, "data": {"a": "1", "a": "2"}, "data": {"b": "1"}})";

class FieldValidationTest : public ConformanceTest {
 protected:
  Answer Create(const std::string& query) {
    return Call({.method = "POST", .target = Path("configmaps") + query, .body = kFaulty});
  }
};

TEST_F(FieldValidationTest, StrictRefusesAndTellsAllInTheirOrder) {
  const Answer made = Create("?fieldValidation=Strict");

  EXPECT_EQ(made.status, 400);
  EXPECT_EQ(made.reason(), "BadRequest");
  EXPECT_EQ(made.message(),
            R"(ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: )"
            R"(unknown field "metadata.nmae", unknown field "bogus", duplicate field "data.a", )"
            R"(duplicate field "data")");
}

TEST_F(FieldValidationTest, WarnTakesTheObjectAndWarns) {
  const Answer made = Create("?fieldValidation=Warn");

  EXPECT_EQ(made.status, 201);
  EXPECT_THAT(made.warnings,
              ElementsAre(R"(unknown field "metadata.nmae")", R"(unknown field "bogus")",
                          R"(duplicate field "data.a")", R"(duplicate field "data")"));
}

TEST_F(FieldValidationTest, ARefusalWarnsToo) {
  const Answer made = Post(Path("configmaps"), {{"metadata", {{"name", "UP"}}}, {"bogus", 1}});

  EXPECT_EQ(made.status, 422);
  EXPECT_THAT(made.warnings, ElementsAre(R"(unknown field "bogus")"));
}

TEST_F(FieldValidationTest, WarnIsTheDefault) {
  const Answer made = Create("");

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.warnings.size(), 4);
}

TEST_F(FieldValidationTest, IgnoreTakesTheObjectInSilence) {
  const Answer made = Create("?fieldValidation=Ignore");

  EXPECT_EQ(made.status, 201);
  EXPECT_THAT(made.warnings, IsEmpty());
}

TEST_F(FieldValidationTest, UnknownFieldsAreDropped) {
  const Answer made = Create("?fieldValidation=Ignore");

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/bogus"), nullptr);
  EXPECT_EQ(made.at("/metadata/nmae"), nullptr);
}

TEST_F(FieldValidationTest, TheLastOfTwoValuesCounts) {
  const Answer made =
      Call({.method = "POST",
            .target = Path("configmaps"),
            .body = R"({"metadata": {"name": "a"}, "data": {"a": "1", "a": "2"}})"});

  EXPECT_EQ(made.str("/data/a"), "2");
}

TEST_F(FieldValidationTest, AFieldInAListIsToldWithItsPlace) {
  json deployment = ADeployment("a");
  deployment["spec"]["template"]["spec"]["containers"][0]["imagee"] = "x";
  const Answer made = Post(Path("apps/v1", "deployments") + "?fieldValidation=Strict", deployment);

  EXPECT_EQ(
      made.message(),
      R"(Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: )"
      R"(unknown field "spec.template.spec.containers[0].imagee")");
}

TEST_F(FieldValidationTest, FieldsAreToldApartByTheirCase) {
  const Answer made =
      Post(Path("configmaps"), {{"metadata", {{"name", "a"}}}, {"Data", {{"a", "b"}}}});

  EXPECT_EQ(made.at("/data"), nullptr);
  EXPECT_THAT(made.warnings, ElementsAre(R"(unknown field "Data")"));
}

TEST_F(FieldValidationTest, AnUpdateIsReadLikeACreate) {
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer put = Put(Path("configmaps") + "/a?fieldValidation=Strict",
                         {{"metadata", {{"name", "a"}}}, {"bogus", 1}});

  EXPECT_EQ(put.status, 400);
  EXPECT_EQ(put.message(),
            R"(ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: )"
            R"(unknown field "bogus")");
}

TEST_F(FieldValidationTest, AMergePatchIsInvalidWhenStrict) {
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer patched =
      MergePatch(Path("configmaps") + "/a?fieldValidation=Strict", {{"bogus", 1}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_EQ(patched.reason(), "Invalid");
  EXPECT_THAT(patched.message(), StartsWith(R"( "" is invalid: patch: Invalid value: "{\")"));
  EXPECT_THAT(patched.message(), EndsWith(R"(: strict decoding error: unknown field "bogus")"));
  EXPECT_EQ(patched.str("/details/causes/0/field"), "patch");
}

TEST_F(FieldValidationTest, AMergePatchWarnsByDefault) {
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer patched = MergePatch(Path("configmaps") + "/a", {{"bogus", 1}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_THAT(patched.warnings, ElementsAre(R"(unknown field "bogus")"));
}

TEST_F(FieldValidationTest, AJsonPatchThatAddsAnUnknownFieldIsInvalidWhenStrict) {
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer patched = JsonPatch(Path("configmaps") + "/a?fieldValidation=Strict",
                                   R"([{"op": "add", "path": "/bogus", "value": 1}])"_json);

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(patched.message(), EndsWith(R"(: strict decoding error: unknown field "bogus")"));
}

TEST_F(FieldValidationTest, AnyOtherWordIsInvalid) {
  const Answer made = Create("?fieldValidation=strict");

  EXPECT_EQ(made.status, 422);
  EXPECT_EQ(made.str("/details/kind"), "CreateOptions");
  EXPECT_THAT(Causes(made),
              ElementsAre("FieldValueNotSupported fieldValidation: Unsupported value: \"strict\": "
                          R"(supported values: "", "Ignore", "Strict", "Warn")"));
}

}  // namespace
}  // namespace kopp::conformance
