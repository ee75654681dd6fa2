#include "conformance.hpp"
#include "explanations.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAreArray;

/// A list's query that cannot be understood.
struct BadQuery {
  std::string test{};
  std::string query{};
  std::string message{};

  friend void PrintTo(const BadQuery& bad, std::ostream* out) { *out << bad.query; }
};

class BadQueryTest : public ConformanceTest, public ::testing::WithParamInterface<BadQuery> {};

TEST_P(BadQueryTest, IsABadRequest) {
  const Answer answer = Get(Path("configmaps") + "?" + GetParam().query);

  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.reason(), "BadRequest");
  EXPECT_EQ(answer.message(), GetParam().message);
}

std::string NoNumber(const std::string& value) {
  return "strconv.ParseInt: parsing \"" + value + "\": invalid syntax";
}

const BadQuery bad_queries[] = {
    {"LimitThatIsNoNumber", "limit=x", NoNumber("x")},
    {"EmptyLimit", "limit=", NoNumber("")},
    {"LimitThatIsAFraction", "limit=1.5", NoNumber("1.5")},
    {"LimitThatIsTooLarge", "limit=99999999999999999999",
     "strconv.ParseInt: parsing \"99999999999999999999\": value out of range"},
    {"TimeoutThatIsNoNumber", "timeoutSeconds=x", NoNumber("x")},
    {"LimitOfAWatch", "watch=true&limit=x", NoNumber("x")},
    {"ContinueThatIsNoBase64", "continue=x",
     "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"},
    {"VersionThatIsNoNumber", "resourceVersion=x",
     "invalid resource version: resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing "
     "\"x\": invalid syntax"},
    {"VersionBelowZero", "resourceVersion=-1",
     "invalid resource version: resourceVersion: Invalid value: \"-1\": strconv.ParseUint: parsing "
     "\"-1\": invalid syntax"},
    {"LabelsThatBeginWithAnEqualsSign", "labelSelector=%3D",
     "found '=', expected: !, identifier, or 'end of string'"},
    {"LabelsThatEndWithAComma", "labelSelector=a,", "found '', expected: identifier after ','"},
    {"LabelsWithTwoCommas", "labelSelector=a%3D%3Db,,",
     "found ',', expected: identifier after ','"},
    {"LabelsWithoutAnOperator", "labelSelector=a+b",
     "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
    {"LabelsInWithoutAParenthesis", "labelSelector=a+in+b",
     "unable to parse requirement: found 'b' expected: '('"},
    {"LabelsInWithoutItsEnd", "labelSelector=a+in+(b",
     "unable to parse requirement: found '', expected: ',' or ')'"},
    {"LabelsNotWithoutAKey", "labelSelector=!",
     "unable to parse requirement: found '', expected: identifier"},
    {"LabelsWithABadKey", "labelSelector=-a",
     "unable to parse requirement: <nil>: Invalid value: \"-a\": name part " + no_qualified_name},
    {"LabelsWithABadValue", "labelSelector=a%3D-b",
     "unable to parse requirement: values[0][a]: Invalid value: \"-b\": " + no_label_value},
    {"LabelsGreaterThanAWord", "labelSelector=a%3Ex",
     "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the "
     "value must be an integer"},
    {"FieldsWithoutAnOperator", "fieldSelector=metadata.name",
     "invalid selector: 'metadata.name'; can't understand 'metadata.name'"},
    {"FieldsWithTwoEqualsSigns", "fieldSelector=metadata.name=a=b",
     "invalid field selector: unescaped character in value: 61"},
    {"FieldsOfAWatch", "watch=true&fieldSelector=spec.x=1",
     R"("spec.x" is not a known field selector: only "metadata.name", "metadata.namespace")"},
};
INSTANTIATE_TEST_SUITE_P(, BadQueryTest, ::testing::ValuesIn(bad_queries),
                         [](const auto& bad) { return bad.param.test; });

/// Options that may be read but not used so.
struct BadOptions {
  std::string test{};
  std::string method{};
  std::string query{};
  std::string kind{};
  std::vector<std::string> causes{};

  friend void PrintTo(const BadOptions& bad, std::ostream* out) { *out << bad.query; }
};

class BadOptionsTest : public ConformanceTest, public ::testing::WithParamInterface<BadOptions> {};

TEST_P(BadOptionsTest, AreInvalid) {
  const std::string& method = GetParam().method;
  const bool of_list = method == "GET" || method == "POST";
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer answer = Call(
      {.method = method,
       .target = Path("configmaps") + (of_list ? "" : "/a") + "?" + GetParam().query,
       .body = method == "GET" ? "" : "{}",
       .content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json"});

  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.reason(), "Invalid");
  EXPECT_EQ(answer.str("/details/group"), "meta.k8s.io");
  EXPECT_EQ(answer.str("/details/kind"), GetParam().kind);
  EXPECT_THAT(Causes(answer), ElementsAreArray(GetParam().causes));
}

const std::string without_version =
    "FieldValueForbidden resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
    "resourceVersion is provided";
const std::string no_match =
    R"(FieldValueNotSupported resourceVersionMatch: Unsupported value: "Bad": supported values: )"
    R"("Exact", "NotOlderThan", "")";
std::string NoDryRun(const std::string& value) {
  return "FieldValueNotSupported dryRun: Unsupported value: [\"" + value +
         "\"]: supported values: \"All\"";
}

const BadOptions bad_options[] = {
    {"MatchWithoutAVersion", "GET", "resourceVersionMatch=Exact", "ListOptions", {without_version}},
    {"UnknownMatchWithoutAVersion",
     "GET",
     "resourceVersionMatch=Bad",
     "ListOptions",
     {without_version, no_match}},
    {"UnknownMatch",
     "GET",
     "resourceVersion=1&resourceVersionMatch=Bad",
     "ListOptions",
     {no_match}},
    {"ExactMatchOfVersionZero",
     "GET",
     "resourceVersion=0&resourceVersionMatch=Exact",
     "ListOptions",
     {"FieldValueForbidden resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is "
      "forbidden for resourceVersion \"0\""}},
    {"MatchWithAContinueToken",
     "GET",
     "resourceVersion=1&resourceVersionMatch=Exact&continue=x",
     "ListOptions",
     {"FieldValueForbidden resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when "
      "continue is provided"}},
    {"InitialEventsOfAList",
     "GET",
     "sendInitialEvents=true",
     "ListOptions",
     {"FieldValueForbidden sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list"}},
    {"InitialEventsWithoutAMatch",
     "GET",
     "watch=true&sendInitialEvents=true",
     "ListOptions",
     {"FieldValueForbidden resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
      "resourceVersionMatch to NotOlderThan"}},
    {"DryRunOfACreate", "POST", "dryRun=Bad", "CreateOptions", {NoDryRun("Bad")}},
    {"DryRunThatIsEmpty", "POST", "dryRun=", "CreateOptions", {NoDryRun("")}},
    {"DryRunOfAnUpdate", "PUT", "dryRun=x", "UpdateOptions", {NoDryRun("x")}},
    {"DryRunOfAPatch", "PATCH", "dryRun=x", "PatchOptions", {NoDryRun("x")}},
    {"ForceOfAMergePatch",
     "PATCH",
     "force=true",
     "PatchOptions",
     {"FieldValueForbidden force: Forbidden: may not be specified for non-apply patch"}},
};
INSTANTIATE_TEST_SUITE_P(, BadOptionsTest, ::testing::ValuesIn(bad_options),
                         [](const auto& bad) { return bad.param.test; });

class QueryTest : public ConformanceTest {};

TEST_F(QueryTest, WhatTheServerDoesNotKnowIsPassedOver) {
  EXPECT_EQ(Get(Path("configmaps") + "?unknown=1").status, 200);
}

TEST_F(QueryTest, TheFirstOfTwoValuesCounts) {
  Post(Path("configmaps"), AConfigMap("a"));
  Post(Path("configmaps"), AConfigMap("b"));

  EXPECT_EQ(Get(Path("configmaps") + "?limit=1&limit=2").at("/items").size(), 1);
}

TEST_F(QueryTest, ALimitBelowOneIsNone) {
  Post(Path("configmaps"), AConfigMap("a"));
  Post(Path("configmaps"), AConfigMap("b"));

  EXPECT_EQ(Get(Path("configmaps") + "?limit=-1").at("/items").size(), 2);
}

TEST_F(QueryTest, AGetOfABadVersionIsAnErrorWithoutAReason) {
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer answer = Get(Path("configmaps") + "/a?resourceVersion=x");

  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.reason(), "");
  EXPECT_EQ(answer.message(),
            "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid "
            "syntax");
}

TEST_F(QueryTest, AWatchFromABadVersionIsAnErrorWithoutAReason) {
  const Answer answer = Get(Path("configmaps") + "?watch=true&resourceVersion=x");

  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.reason(), "");
  EXPECT_EQ(answer.message(),
            "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid "
            "syntax");
}

}  // namespace
}  // namespace kopp::conformance
