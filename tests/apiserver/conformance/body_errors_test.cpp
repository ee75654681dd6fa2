#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A body that is no ConfigMap, or no Deployment.
struct Body {
  std::string test{};
  std::string body{};
  std::string begin{};  ///< of the message
  std::string end{};    ///< of the message

  friend void PrintTo(const Body& each, std::ostream* out) { *out << each.body; }
};

class MalformedTest : public ConformanceTest, public ::testing::WithParamInterface<Body> {
 protected:
  void ExpectBadRequest(const Answer& answer) {
    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(answer.reason(), "BadRequest");
    EXPECT_THAT(answer.message(), AllOf(StartsWith(GetParam().begin), EndsWith(GetParam().end)));
  }
};

TEST_P(MalformedTest, IsABadRequestInACreate) {
  ExpectBadRequest(Call({.method = "POST", .target = Path("configmaps"), .body = GetParam().body}));
}

TEST_P(MalformedTest, IsABadRequestInAnUpdate) {
  ExpectBadRequest(
      Call({.method = "PUT", .target = Path("configmaps") + "/a", .body = GetParam().body}));
}

const std::string unrecognized =
    "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
    "json parse error: ";
const Body malformed[] = {
    {"NoBody", "", unrecognized + "unexpected end of JSON input (<empty>)"},
    {"HalfABody", "{", unrecognized + "unexpected end of JSON input ({)"},
    {"AnArray", "[]", unrecognized + "json: cannot unmarshal array into Go value of type ",
     " (5b5d)"},
    {"AString", "\"x\"", unrecognized + "json: cannot unmarshal string into Go value of type ",
     " (227822)"},
    {"AnotherValueAfterIt", R"({"metadata":{"name":"a"}}{})",
     unrecognized + "invalid character '{' after top-level value"},
    {"ACommaTooMany", R"({"metadata":{"name":"a"},})",
     unrecognized + "invalid character '}' looking for beginning of object key string",
     R"( ({"metadata":{"name":"a"},}))"},
    {"ALongBodyIsCited", R"({"metadata":{"name":"a-long-name"},})", unrecognized,
     R"( ({"metadata":{"name":"a-long-na ...))"},
    {"AKindThatIsANumber", R"({"kind":5})",
     unrecognized + "json: cannot unmarshal number into Go struct field .kind of type string"},
};
INSTANTIATE_TEST_SUITE_P(, MalformedTest, ::testing::ValuesIn(malformed),
                         [](const auto& body) { return body.param.test; });

class WrongKindTest : public MalformedTest {};

TEST_P(WrongKindTest, IsABadRequestInACreate) {
  ExpectBadRequest(Call({.method = "POST", .target = Path("configmaps"), .body = GetParam().body}));
}

const Body wrong_kinds[] = {
    {"AnotherKind", R"({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "a"}})",
     R"(Secret in version "v1" cannot be handled as a ConfigMap: )"},
    {"AList", R"({"kind": "ConfigMapList", "apiVersion": "v1", "items": []})",
     R"(ConfigMapList in version "v1" cannot be handled as a ConfigMap: )"},
    {"AnUnknownKind", R"({"kind": "Nope", "apiVersion": "v1", "metadata": {"name": "a"}})",
     R"(Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for )"
     R"(version "v1" in scheme)"},
    {"AnUnknownVersion", R"({"kind": "ConfigMap", "apiVersion": "v2", "metadata": {"name": "a"}})",
     R"(ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is )"
     R"(registered for version "v2" in scheme)"},
    {"AnotherGroup", R"({"kind": "ConfigMap", "apiVersion": "apps/v1", "metadata": {"name": "a"}})",
     R"(ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is )"
     R"(registered for version "apps/v1" in scheme)"},
    {"NoGroupAndVersionAtAll", R"({"kind": "X", "apiVersion": "a/b/c"})",
     "the object provided is unrecognized (must be of type ConfigMap): unexpected GroupVersion "
     "string: a/b/c ("},
};
INSTANTIATE_TEST_SUITE_P(, WrongKindTest, ::testing::ValuesIn(wrong_kinds),
                         [](const auto& body) { return body.param.test; });

class WrongTypeTest : public ConformanceTest, public ::testing::WithParamInterface<Body> {};

TEST_P(WrongTypeTest, IsABadRequestThatNamesTheField) {
  json deployment = ADeployment("a");
  deployment.merge_patch(json::parse(GetParam().body));
  const Answer answer = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.reason(), "BadRequest");
  EXPECT_THAT(answer.message(),
              AllOf(StartsWith(R"(Deployment in version "v1" cannot be handled as a Deployment: )" +
                               GetParam().begin),
                    EndsWith(GetParam().end)));
}

const Body wrong_types[] = {
    {"StringForANumber", R"({"spec": {"replicas": "3"}})",
     "json: cannot unmarshal string into Go struct field ", "spec.replicas of type int32"},
    {"FractionForAWholeNumber", R"({"spec": {"replicas": 1.5}})",
     "json: cannot unmarshal number 1.5 into Go struct field ", "spec.replicas of type int32"},
    {"NumberThatIsTooLarge", R"({"spec": {"replicas": 99999999999}})",
     "json: cannot unmarshal number 99999999999 into Go struct field ",
     "spec.replicas of type int32"},
    {"BoolForANumber", R"({"spec": {"replicas": true}})",
     "json: cannot unmarshal bool into Go struct field ", "spec.replicas of type int32"},
    {"StringForABool", R"({"spec": {"paused": "yes"}})",
     "json: cannot unmarshal string into Go struct field ", "spec.paused of type bool"},
    {"NumberForAString", R"({"metadata": {"name": 5}})",
     "json: cannot unmarshal number into Go struct field ", "metadata.name of type string"},
    {"NumberForALabel", R"({"metadata": {"labels": {"a": 1}}})",
     "json: cannot unmarshal number into Go struct field ", "metadata.labels of type string"},
    {"ArrayForAMap", R"({"metadata": {"labels": []}})",
     "json: cannot unmarshal array into Go struct field ",
     "metadata.labels of type map[string]string"},
    {"StringForAnObject", R"({"spec": "x"})",
     "json: cannot unmarshal string into Go struct field "},
    {"ObjectForAList", R"({"spec": {"template": {"spec": {"containers": {"a": "b"}}}}})",
     "json: cannot unmarshal object into Go struct field "},
    {"NoTime", R"({"metadata": {"creationTimestamp": "yesterday"}})",
     "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as "
     "\"2006\""},
};
INSTANTIATE_TEST_SUITE_P(, WrongTypeTest, ::testing::ValuesIn(wrong_types),
                         [](const auto& body) { return body.param.test; });

class BodyTest : public ConformanceTest {};

TEST_F(BodyTest, KindAndVersionMayBeLeftOut) {
  const Answer made = Post(Path("configmaps"), {{"metadata", {{"name", "a"}}}});

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.str("/kind"), "ConfigMap");
}

TEST_F(BodyTest, BytesThatAreNoBase64AreABadRequest) {
  const Answer made =
      Post(Path("secrets"), {{"metadata", {{"name", "a"}}}, {"data", {{"a", "%%"}}}});

  EXPECT_EQ(made.status, 400);
  EXPECT_EQ(made.message(),
            R"(Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input )"
            "byte 0");
}

TEST_F(BodyTest, MoreThan3MibAreTooLarge) {
  const Answer made = Post(Path("configmaps"), {{"metadata", {{"name", "a"}}},
                                                {"data", {{"a", std::string(3 << 20, 'x')}}}});

  EXPECT_EQ(made.status, 413);
  EXPECT_EQ(made.reason(), "RequestEntityTooLarge");
  EXPECT_EQ(made.message(), "Request entity too large: limit is 3145728");
}

TEST_F(BodyTest, APatchOfMoreThan3MibIsTooLarge) {
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer patched =
      MergePatch(Path("configmaps") + "/a", {{"data", {{"a", std::string(3 << 20, 'x')}}}});

  EXPECT_EQ(patched.status, 413);
  EXPECT_EQ(patched.message(), "Request entity too large: limit is 3145728");
}

TEST_F(BodyTest, NestingWithoutEndIsABadRequest) {
  const Answer made =
      Call({.method = "POST",
            .target = Path("configmaps"),
            .body = R"({"x":)" + std::string(20'000, '[') + std::string(20'000, ']') + "}"});

  EXPECT_EQ(made.status, 400);
  EXPECT_THAT(made.message(),
              StartsWith(unrecognized + "invalid character '[' exceeded max depth"));
}

TEST_F(BodyTest, NestingOfFourHundredIsTaken) {
  const Answer made = Call({.method = "POST",
                            .target = Path("configmaps"),
                            .body = R"({"metadata":{"name":"a"},"x":)" + std::string(400, '[') +
                                    std::string(400, ']') + "}"});

  EXPECT_EQ(made.status, 201);
}

class PatchBodyTest : public ConformanceTest, public ::testing::WithParamInterface<Body> {};

TEST_P(PatchBodyTest, IsABadRequestInAMergePatch) {
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer patched = Call({.method = "PATCH",
                               .target = Path("configmaps") + "/a",
                               .body = GetParam().body,
                               .content_type = "application/merge-patch+json"});

  EXPECT_EQ(patched.status, 400);
  EXPECT_EQ(patched.reason(), "BadRequest");
  EXPECT_THAT(patched.message(), StartsWith(GetParam().begin));
}

const Body bad_patches[] = {
    {"HalfABody", "{", "error decoding patch: unexpected end of JSON input"},
    {"AnArray", "[]", "error decoding patch: json: cannot unmarshal array into Go value of type "},
    {"ANumber", "5", "error decoding patch: json: cannot unmarshal number into Go value of type "},
};
INSTANTIATE_TEST_SUITE_P(, PatchBodyTest, ::testing::ValuesIn(bad_patches),
                         [](const auto& body) { return body.param.test; });

TEST_F(BodyTest, APatchThatMakesAWrongTypeIsInvalid) {
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer patched = MergePatch(Path("configmaps") + "/a", {{"data", {{"a", 5}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_EQ(patched.reason(), "Invalid");
  EXPECT_EQ(patched.str("/details/causes/0/field"), "patch");
  EXPECT_THAT(patched.message(),
              AllOf(StartsWith(R"( "" is invalid: patch: Invalid value: "{)"),
                    HasSubstr("json: cannot unmarshal number into Go struct field "),
                    EndsWith("data of type string")));
}

TEST_F(BodyTest, DeleteOptionsThatAreNoJsonAreAnErrorWithoutAReason) {
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer answer =
      Call({.method = "DELETE", .target = Path("configmaps") + "/a", .body = "{"});

  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.reason(), "");
  EXPECT_EQ(answer.message(),
            "couldn't get version/kind; json parse error: unexpected end of JSON input");
  EXPECT_EQ(Get(Path("configmaps") + "/a").status, 200);
}

}  // namespace
}  // namespace kopp::conformance
