#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// An invalid request body and the error message for it.
struct RequestBody {
  std::string test_name{};
  std::string body{};
  std::string message_start{};  ///< how the message starts
  std::string message_end{};    ///< how the message ends

  friend void PrintTo(const RequestBody& request, std::ostream* out) { *out << request.body; }
};

class MalformedBodyTest : public ConformanceTest,
                          public ::testing::WithParamInterface<RequestBody> {
 protected:
  void ExpectBadRequest(const JsonResponse& response) {
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(response.reason(), "BadRequest");
    EXPECT_THAT(response.message(),
                AllOf(StartsWith(GetParam().message_start), EndsWith(GetParam().message_end)));
  }
};

TEST_P(MalformedBodyTest, CreateWithAMalformedBodyIsABadRequest) {
  ExpectBadRequest(Call({.method = "POST", .target = Path("configmaps"), .body = GetParam().body}));
}

TEST_P(MalformedBodyTest, UpdateWithAMalformedBodyIsABadRequest) {
  ExpectBadRequest(
      Call({.method = "PUT", .target = Path("configmaps") + "/a", .body = GetParam().body}));
}

const std::string unrecognized_object =
    "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; "
    "json parse error: ";
const RequestBody malformed_bodies[] = {
    {"EmptyBody", "", unrecognized_object + "unexpected end of JSON input (<empty>)"},
    {"IncompleteObject", "{", unrecognized_object + "unexpected end of JSON input ({)"},
    {"Array", "[]", unrecognized_object + "json: cannot unmarshal array into Go value of type ",
     " (5b5d)"},
    {"String", "\"x\"",
     unrecognized_object + "json: cannot unmarshal string into Go value of type ", " (227822)"},
    {"TrailingValue", R"({"metadata":{"name":"a"}}{})",
     unrecognized_object + "invalid character '{' after top-level value"},
    {"TrailingComma", R"({"metadata":{"name":"a"},})",
     unrecognized_object + "invalid character '}' looking for beginning of object key string",
     R"( ({"metadata":{"name":"a"},}))"},
    {"LongBodyIsTruncatedInTheMessage", R"({"metadata":{"name":"a-long-name"},})",
     unrecognized_object, R"( ({"metadata":{"name":"a-long-na ...))"},
    {"IncompleteLiteral", R"({"a":nul})",
     unrecognized_object + "invalid character '}' in literal null (expecting 'l')"},
    {"TabInAString", "{\"a\":\"\t\"}",
     unrecognized_object + R"(invalid character '\t' in string literal)"},
    {"UnknownEscape", R"({"a":"\x"})",
     unrecognized_object + "invalid character 'x' in string escape code"},
    {"IncompleteUnicodeEscape", R"({"a":"\u12"})",
     unrecognized_object + R"(invalid character '"' in \u hexadecimal character escape)"},
    {"LeadingZero", R"({"a":01})",
     unrecognized_object + "invalid character '1' after object key:value pair"},
    {"KindIsANumber", R"({"kind":5})",
     unrecognized_object +
         "json: cannot unmarshal number into Go struct field .kind of type string"},
};
INSTANTIATE_TEST_SUITE_P(, MalformedBodyTest, ::testing::ValuesIn(malformed_bodies),
                         [](const auto& body) { return body.param.test_name; });

class WrongKindTest : public MalformedBodyTest {};

TEST_P(WrongKindTest, CreateWithAnotherKindOrVersionIsABadRequest) {
  ExpectBadRequest(Call({.method = "POST", .target = Path("configmaps"), .body = GetParam().body}));
}

const RequestBody wrong_kinds[] = {
    {"AnotherKind", R"({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "a"}})",
     R"(Secret in version "v1" cannot be handled as a ConfigMap: )"},
    {"List", R"({"kind": "ConfigMapList", "apiVersion": "v1", "items": []})",
     R"(ConfigMapList in version "v1" cannot be handled as a ConfigMap: )"},
    {"UnknownKind", R"({"kind": "Nope", "apiVersion": "v1", "metadata": {"name": "a"}})",
     R"(Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for )"
     R"(version "v1" in scheme)"},
    {"UnknownVersion", R"({"kind": "ConfigMap", "apiVersion": "v2", "metadata": {"name": "a"}})",
     R"(ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is )"
     R"(registered for version "v2" in scheme)"},
    {"AnotherGroup", R"({"kind": "ConfigMap", "apiVersion": "apps/v1", "metadata": {"name": "a"}})",
     R"(ConfigMap in version "v1" cannot be handled as a ConfigMap: no kind "ConfigMap" is )"
     R"(registered for version "apps/v1" in scheme)"},
    {"MalformedApiVersion", R"({"kind": "X", "apiVersion": "a/b/c"})",
     "the object provided is unrecognized (must be of type ConfigMap): unexpected GroupVersion "
     "string: a/b/c ("},
};
INSTANTIATE_TEST_SUITE_P(, WrongKindTest, ::testing::ValuesIn(wrong_kinds),
                         [](const auto& body) { return body.param.test_name; });

class WrongFieldTypeTest : public ConformanceTest,
                           public ::testing::WithParamInterface<RequestBody> {};

TEST_P(WrongFieldTypeTest, ValueOfTheWrongTypeIsABadRequestWithTheFieldName) {
  json deployment = MakeDeployment("a");
  deployment.merge_patch(json::parse(GetParam().body));
  const JsonResponse response = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.reason(), "BadRequest");
  EXPECT_THAT(response.message(),
              AllOf(StartsWith(R"(Deployment in version "v1" cannot be handled as a Deployment: )" +
                               GetParam().message_start),
                    EndsWith(GetParam().message_end)));
}

const RequestBody wrong_types[] = {
    {"StringForAnInteger", R"({"spec": {"replicas": "3"}})",
     "json: cannot unmarshal string into Go struct field ", "spec.replicas of type int32"},
    {"FractionForAnInteger", R"({"spec": {"replicas": 1.5}})",
     "json: cannot unmarshal number 1.5 into Go struct field ", "spec.replicas of type int32"},
    {"IntegerOutOfRange", R"({"spec": {"replicas": 99999999999}})",
     "json: cannot unmarshal number 99999999999 into Go struct field ",
     "spec.replicas of type int32"},
    {"FractionOfZeroForAnInteger", R"({"spec": {"replicas": 1.0}})",
     "json: cannot unmarshal number 1.0 into Go struct field ", "spec.replicas of type int32"},
    {"NumberForAListOfContainers", R"({"spec": {"template": {"spec": {"containers": 1}}}})",
     "json: cannot unmarshal number into Go struct field "},
    {"TextAfterATime", R"({"metadata": {"creationTimestamp": "2026-02-28T23:59:00Zx"}})",
     R"(parsing time "2026-02-28T23:59:00Zx": extra text: "x")"},
    {"LowerCaseTime", R"({"metadata": {"creationTimestamp": "2026-02-28t23:59:00Z"}})",
     R"(parsing time "2026-02-28t23:59:00Z" as "2006-01-02T15:04:05Z07:00": cannot parse )"
     R"("t23:59:00Z" as "T")"},
    {"TimeWithoutZone", R"({"metadata": {"creationTimestamp": "2026-02-28T23:59:00"}})",
     R"(parsing time "2026-02-28T23:59:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as )"
     R"("Z07:00")"},
    {"BoolForAnInteger", R"({"spec": {"replicas": true}})",
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
    {"MalformedTimestamp", R"({"metadata": {"creationTimestamp": "yesterday"}})",
     "parsing time \"yesterday\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"yesterday\" as "
     "\"2006\""},
    {"MonthOutOfRange", R"({"metadata": {"creationTimestamp": "2026-13-01T00:00:00Z"}})",
     R"(parsing time "2026-13-01T00:00:00Z": month out of range)"},
    {"DayOutOfRange", R"({"metadata": {"creationTimestamp": "2026-02-29T00:00:00Z"}})",
     R"(parsing time "2026-02-29T00:00:00Z": day out of range)"},
    {"HourOutOfRange", R"({"metadata": {"creationTimestamp": "2026-02-28T24:00:00Z"}})",
     R"(parsing time "2026-02-28T24:00:00Z": hour out of range)"},
    {"SecondOutOfRange", R"({"metadata": {"creationTimestamp": "2026-02-28T23:59:60+01:00"}})",
     R"(parsing time "2026-02-28T23:59:60+01:00": second out of range)"},
};
INSTANTIATE_TEST_SUITE_P(, WrongFieldTypeTest, ::testing::ValuesIn(wrong_types),
                         [](const auto& body) { return body.param.test_name; });

class RequestBodyTest : public ConformanceTest {};

TEST_F(RequestBodyTest, KindAndApiVersionAreOptional) {
  const JsonResponse created = Post(Path("configmaps"), {{"metadata", {{"name", "a"}}}});

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.str("/kind"), "ConfigMap");
}

TEST_F(RequestBodyTest, InvalidBase64InASecretIsABadRequest) {
  const JsonResponse response =
      Post(Path("secrets"), {{"metadata", {{"name", "a"}}}, {"data", {{"a", "%%"}}}});

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.message(),
            R"(Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input )"
            "byte 0");
}

TEST_F(RequestBodyTest, WrappedBase64IsStoredWithoutLineBreaksAndUnusedBits) {
  const JsonResponse created =
      Post(Path("secrets"), {{"metadata", {{"name", "a"}}},
                             {"data", {{"a", "YW\r\nJj\n"}, {"b", "YR=\n="}, {"c", "YWJ="}}}});

  EXPECT_EQ(created.at("/data"), R"({"a": "YWJj", "b": "YQ==", "c": "YWI="})"_json);
}

/// Base64 text and the offset that the error names.
class InvalidBase64Test
    : public ConformanceTest,
      public ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(InvalidBase64Test, TheErrorNamesTheOffset) {
  const JsonResponse response =
      Post(Path("secrets"), {{"metadata", {{"name", "a"}}}, {"data", {{"a", GetParam().first}}}});

  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.message(),
              EndsWith(std::string("illegal base64 data at input byte ") + GetParam().second));
}

INSTANTIATE_TEST_SUITE_P(, InvalidBase64Test,
                         ::testing::Values(std::pair{"Y", "0"}, std::pair{"YW", "0"},
                                           std::pair{"YWJjYW", "4"}, std::pair{"=", "0"},
                                           std::pair{"Y===", "1"}, std::pair{"YW=", "3"},
                                           std::pair{"YW=a", "2"}, std::pair{"YW==Y", "4"},
                                           std::pair{"YWJ=YQ==", "4"}, std::pair{"YW_j", "2"}));

TEST_F(RequestBodyTest, BytesMayBeAnArrayOfNumbers) {
  const JsonResponse created =
      Post(Path("secrets"),
           {{"metadata", {{"name", "a"}}}, {"data", {{"a", {97, 255}}, {"b", json::array()}}}});

  EXPECT_EQ(created.at("/data"), R"({"a": "Yf8=", "b": ""})"_json);
}

TEST_F(RequestBodyTest, InvalidTextIsReplaced) {
  const std::string body =
      "{\"metadata\":{\"name\":\"a\"},\"data\":{\"a\":\"\xff-\\ud800-\\udc00"
      "-\\ud83d\\ude00\",\"b\":\"\\\\ud800\"}}";
  const JsonResponse created = Call({.method = "POST", .target = Path("configmaps"), .body = body});

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.str("/data/a"), "\uFFFD-\uFFFD-\uFFFD-\U0001F600");
  EXPECT_EQ(created.str("/data/b"), "\\ud800");
}

TEST_F(RequestBodyTest, FieldsAfterInvalidTextAreChecked) {
  const JsonResponse created =
      Call({.method = "POST",
            .target = Path("configmaps"),
            .body = "{\"metadata\":{\"name\":\"a\"},\"x\xff\":1,\"y\":1,\"y\":2}"});

  EXPECT_EQ(created.status, 201);
  EXPECT_THAT(created.warnings,
              ::testing::ElementsAre("unknown field \"x\uFFFD\"", "unknown field \"y\""));
}

TEST_F(RequestBodyTest, InvalidTextInAPatchIsReplaced) {
  Post(Path("configmaps"), {{"metadata", {{"name", "a"}}}, {"data", {{"k", "v"}}}});
  const auto patch = [&](const std::string& type, const std::string& body, const char* query = "") {
    return Call({.method = "PATCH",
                 .target = Path("configmaps") + "/a" + query,
                 .body = body,
                 .content_type = type});
  };
  const std::string operations = R"([{"op":"replace","path":"/data/k","value":")"
                                 "\xff"
                                 R"(","x)"
                                 "\xff"
                                 R"(":1}])";
  const std::string strict = "?fieldValidation=Strict";

  EXPECT_EQ(patch("application/json-patch+json", operations).str("/data/k"), "\uFFFD");
  EXPECT_EQ(patch("application/merge-patch+json", "{\"data\":{\"k\":\"m\xff\"}}").str("/data/k"),
            "m\uFFFD");
  EXPECT_EQ(patch("application/strategic-merge-patch+json", "{\"data\":{\"k\":\"s\\udc00\"}}")
                .str("/data/k"),
            "s\uFFFD");
  EXPECT_EQ(patch("application/json-patch+json", operations, strict.c_str()).status, 422);
  EXPECT_EQ(patch("application/merge-patch+json", "{\"x\xff\":1}", strict.c_str()).status, 422);
}

TEST_F(RequestBodyTest, InvalidByteOutsideAStringIsNamedInTheError) {
  Post(Path("configmaps"), {{"metadata", {{"name", "a"}}}});
  const JsonResponse response = Call({.method = "PATCH",
                                      .target = Path("configmaps") + "/a",
                                      .body = "{\xff}",
                                      .content_type = "application/merge-patch+json"});

  EXPECT_EQ(response.message(),
            "error decoding patch: invalid character '\u00FF' looking for beginning of object key "
            "string");
}

TEST_F(RequestBodyTest, NullElementsBecomeZeroValues) {
  json job = R"({"metadata": {"name": "a", "labels": {"l": null}}, "spec": {"template": {"spec": {
      "restartPolicy": "Never",
      "containers": [{"name": "c", "image": "c", "args": ["x", null], "env": [null, {"name": "e"}],
                      "resources": {"limits": {"example.com/a": null}}}]}}}})"_json;
  EXPECT_THAT(Causes(Post(Path("batch/v1", "jobs"), job)),
              ::testing::ElementsAre("FieldValueRequired spec.template.spec.containers[0].env[0]."
                                     "name: Required value"));
  job.at("/spec/template/spec/containers/0/env"_json_pointer).erase(0);
  const JsonResponse created = Post(Path("batch/v1", "jobs"), job);

  EXPECT_EQ(created.at("/metadata/labels/l"), "");
  EXPECT_EQ(created.at("/spec/template/spec/containers/0/args"), json({"x", ""}));
  EXPECT_EQ(created.at("/spec/template/spec/containers/0/resources/limits/example.com~1a"), "0");
}

TEST_F(RequestBodyTest, QuantitiesMayBeNumbersAndHaveSpaces) {
  const JsonResponse created =
      Post(Path("limitranges"),
           R"({"metadata": {"name": "a"}, "spec": {"limits": [{"type": "PersistentVolumeClaim",
               "min": {"storage": 1.5}, "max": {"storage": " 1024Mi "}}]}})"_json);

  EXPECT_EQ(created.at("/spec/limits/0/min/storage"), "1500m");
  EXPECT_EQ(created.at("/spec/limits/0/max/storage"), "1Gi");
}

TEST_F(RequestBodyTest, ValueOfAnotherTypeIsNoQuantity) {
  for (const json& value : {json(true), json::object(), json::array({1})}) {
    const JsonResponse response =
        Post(Path("limitranges"),
             {{"metadata", {{"name", "a"}}},
              {"spec", {{"limits", {{{"type", "Pod"}, {"max", {{"cpu", value}}}}}}}}});
    EXPECT_THAT(response.message(), HasSubstr("quantities must match the regular expression"));
  }
}

TEST_F(RequestBodyTest, TimesAreStoredInUtcWithoutFractions) {
  const JsonResponse created =
      Post(Path("events"), {{"metadata", {{"name", "a"}}},
                            {"involvedObject", {{"namespace", ns()}}},
                            {"firstTimestamp", "2026-01-01T01:02:03.999+02:00"},
                            {"lastTimestamp", "0001-01-01T00:00:00Z"},
                            {"reason", "r"},
                            {"action", "a"},
                            {"reportingComponent", "example.com/c"},
                            {"reportingInstance", "i"},
                            {"type", "Normal"},
                            {"eventTime", "2026-01-01T00:30:00.123456-00:30"}});

  EXPECT_EQ(created.at("/firstTimestamp"), "2025-12-31T23:02:03Z") << created.text;
  EXPECT_EQ(created.at("/lastTimestamp"), nullptr);
  EXPECT_EQ(created.at("/eventTime"), "2026-01-01T01:00:00.123456Z");
}

TEST_F(RequestBodyTest, BodyOfMoreThan3MiBIsTooLarge) {
  const JsonResponse response =
      Post(Path("configmaps"),
           {{"metadata", {{"name", "a"}}}, {"data", {{"a", std::string(3 << 20, 'x')}}}});

  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.reason(), "RequestEntityTooLarge");
  EXPECT_EQ(response.message(), "Request entity too large: limit is 3145728");
}

TEST_F(RequestBodyTest, PatchOfMoreThan3MiBIsTooLarge) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse patched =
      MergePatch(Path("configmaps") + "/a", {{"data", {{"a", std::string(3 << 20, 'x')}}}});

  EXPECT_EQ(patched.status, 413);
  EXPECT_EQ(patched.message(), "Request entity too large: limit is 3145728");
}

TEST_F(RequestBodyTest, NestingDepthOf20000IsABadRequest) {
  const JsonResponse response =
      Call({.method = "POST",
            .target = Path("configmaps"),
            .body = R"({"x":)" + std::string(20'000, '[') + std::string(20'000, ']') + "}"});

  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.message(),
              StartsWith(unrecognized_object + "invalid character '[' exceeded max depth"));
}

TEST_F(RequestBodyTest, NestingDepthOf400IsAccepted) {
  const JsonResponse created = Call({.method = "POST",
                                     .target = Path("configmaps"),
                                     .body = R"({"metadata":{"name":"a"},"x":)" +
                                             std::string(400, '[') + std::string(400, ']') + "}"});

  EXPECT_EQ(created.status, 201);
}

class MalformedPatchBodyTest : public ConformanceTest,
                               public ::testing::WithParamInterface<RequestBody> {};

TEST_P(MalformedPatchBodyTest, MergePatchWithAMalformedBodyIsABadRequest) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse patched = Call({.method = "PATCH",
                                     .target = Path("configmaps") + "/a",
                                     .body = GetParam().body,
                                     .content_type = "application/merge-patch+json"});

  EXPECT_EQ(patched.status, 400);
  EXPECT_EQ(patched.reason(), "BadRequest");
  EXPECT_THAT(patched.message(), StartsWith(GetParam().message_start));
}

const RequestBody malformed_patch_bodies[] = {
    {"IncompleteObject", "{", "error decoding patch: unexpected end of JSON input"},
    {"Array", "[]", "error decoding patch: json: cannot unmarshal array into Go value of type "},
    {"Number", "5", "error decoding patch: json: cannot unmarshal number into Go value of type "},
};
INSTANTIATE_TEST_SUITE_P(, MalformedPatchBodyTest, ::testing::ValuesIn(malformed_patch_bodies),
                         [](const auto& body) { return body.param.test_name; });

TEST_F(RequestBodyTest, PatchThatSetsAValueOfTheWrongTypeIsInvalid) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse patched = MergePatch(Path("configmaps") + "/a", {{"data", {{"a", 5}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_EQ(patched.reason(), "Invalid");
  EXPECT_EQ(patched.str("/details/causes/0/field"), "patch");
  EXPECT_THAT(patched.message(),
              AllOf(StartsWith(R"( "" is invalid: patch: Invalid value: "{)"),
                    HasSubstr("json: cannot unmarshal number into Go struct field "),
                    EndsWith("data of type string")));
}

TEST_F(RequestBodyTest, MalformedDeleteOptionsAreAServerErrorWithoutAReason) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse response =
      Call({.method = "DELETE", .target = Path("configmaps") + "/a", .body = "{"});

  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.reason(), "");
  EXPECT_EQ(response.message(),
            "couldn't get version/kind; json parse error: unexpected end of JSON input");
  EXPECT_EQ(Get(Path("configmaps") + "/a").status, 200);
}

}  // namespace
}  // namespace kopp::conformance
