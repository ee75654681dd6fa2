#include "conformance.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAreArray;

/// A malformed query of a list.
struct InvalidQuery {
  std::string test_name{};
  std::string query{};
  std::string message{};

  friend void PrintTo(const InvalidQuery& invalid, std::ostream* out) { *out << invalid.query; }
};

class InvalidQueryTest : public ConformanceTest,
                         public ::testing::WithParamInterface<InvalidQuery> {};

TEST_P(InvalidQueryTest, MalformedQueryIsABadRequest) {
  const JsonResponse response = Get(Path("configmaps") + "?" + GetParam().query);

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.reason(), "BadRequest");
  EXPECT_EQ(response.message(), GetParam().message);
}

/// Returns the message of Go for a value that is not an integer.
std::string ParseIntError(const std::string& value) {
  return "strconv.ParseInt: parsing \"" + value + "\": invalid syntax";
}

const InvalidQuery invalid_queries[] = {
    {"LimitNotANumber", "limit=x", ParseIntError("x")},
    {"EmptyLimit", "limit=", ParseIntError("")},
    {"FractionalLimit", "limit=1.5", ParseIntError("1.5")},
    {"LimitOutOfRange", "limit=99999999999999999999",
     "strconv.ParseInt: parsing \"99999999999999999999\": value out of range"},
    {"TimeoutNotANumber", "timeoutSeconds=x", ParseIntError("x")},
    {"LimitOfAWatchNotANumber", "watch=true&limit=x", ParseIntError("x")},
    {"ContinueTokenNotBase64", "continue=x",
     "invalid continue token: continue key is not valid: illegal base64 data at input byte 0"},
    {"ResourceVersionNotANumber", "resourceVersion=x",
     "invalid resource version: resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing "
     "\"x\": invalid syntax"},
    {"NegativeResourceVersion", "resourceVersion=-1",
     "invalid resource version: resourceVersion: Invalid value: \"-1\": strconv.ParseUint: parsing "
     "\"-1\": invalid syntax"},
    {"LabelSelectorStartingWithAnEqualsSign", "labelSelector=%3D",
     "found '=', expected: !, identifier, or 'end of string'"},
    {"LabelSelectorEndingWithAComma", "labelSelector=a,",
     "found '', expected: identifier after ','"},
    {"LabelSelectorWithTwoCommas", "labelSelector=a%3D%3Db,,",
     "found ',', expected: identifier after ','"},
    {"LabelSelectorWithoutOperator", "labelSelector=a+b",
     "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"},
    {"LabelSelectorInWithoutParenthesis", "labelSelector=a+in+b",
     "unable to parse requirement: found 'b' expected: '('"},
    {"LabelSelectorInWithoutClosingParenthesis", "labelSelector=a+in+(b",
     "unable to parse requirement: found '', expected: ',' or ')'"},
    {"LabelSelectorNotWithoutKey", "labelSelector=!",
     "unable to parse requirement: found '', expected: identifier"},
    {"LabelSelectorWithAnInvalidKey", "labelSelector=-a",
     "unable to parse requirement: <nil>: Invalid value: \"-a\": name part " +
         qualified_name_error},
    {"LabelSelectorWithAnInvalidValue", "labelSelector=a%3D-b",
     "unable to parse requirement: values[0][a]: Invalid value: \"-b\": " + label_value_error},
    {"LabelSelectorGreaterThanAWord", "labelSelector=a%3Ex",
     "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the "
     "value must be an integer"},
    {"FieldSelectorWithoutOperator", "fieldSelector=metadata.name",
     "invalid selector: 'metadata.name'; can't understand 'metadata.name'"},
    {"FieldSelectorWithTwoEqualsSigns", "fieldSelector=metadata.name=a=b",
     "invalid field selector: unescaped character in value: 61"},
    {"FieldSelectorWithoutOperatorInALaterTerm", "fieldSelector=metadata.name%3Da,b",
     "invalid selector: 'metadata.name=a,b'; can't understand 'b'"},
    {"FieldSelectorWithInvalidEscapeSequence", "fieldSelector=metadata.name%3D%5Cx",
     "invalid field selector: invalid escape sequence: \\x"},
    {"FieldSelectorEndingWithABackslash", "fieldSelector=metadata.name%3Da%5C",
     "invalid field selector: invalid escape sequence: \\"},
    {"UnsupportedFieldSelectorOfAWatch", "watch=true&fieldSelector=spec.x=1",
     R"("spec.x" is not a known field selector: only "metadata.name", "metadata.namespace")"},
};
INSTANTIATE_TEST_SUITE_P(, InvalidQueryTest, ::testing::ValuesIn(invalid_queries),
                         [](const auto& invalid) { return invalid.param.test_name; });

/// Options that are well-formed, but invalid for the request.
struct InvalidOptions {
  std::string test_name{};
  std::string method{};
  std::string query{};
  std::string kind{};
  std::vector<std::string> causes{};

  friend void PrintTo(const InvalidOptions& invalid, std::ostream* out) { *out << invalid.query; }
};

class InvalidOptionsTest : public ConformanceTest,
                           public ::testing::WithParamInterface<InvalidOptions> {};

TEST_P(InvalidOptionsTest, InvalidOptionsAreRejected) {
  const std::string& method = GetParam().method;
  const bool is_collection = method == "GET" || method == "POST";
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse response = Call(
      {.method = method,
       .target = Path("configmaps") + (is_collection ? "" : "/a") + "?" + GetParam().query,
       .body = method == "GET" ? "" : "{}",
       .content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json"});

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.reason(), "Invalid");
  EXPECT_EQ(response.str("/details/group"), "meta.k8s.io");
  EXPECT_EQ(response.str("/details/kind"), GetParam().kind);
  EXPECT_THAT(Causes(response), ElementsAreArray(GetParam().causes));
}

const std::string match_without_version =
    "FieldValueForbidden resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
    "resourceVersion is provided";
const std::string match_not_supported =
    R"(FieldValueNotSupported resourceVersionMatch: Unsupported value: "Bad": supported values: )"
    R"("Exact", "NotOlderThan", "")";
std::string DryRunNotSupported(const std::string& value) {
  return "FieldValueNotSupported dryRun: Unsupported value: [\"" + value +
         "\"]: supported values: \"All\"";
}

const InvalidOptions invalid_options[] = {
    {"MatchWithoutVersion",
     "GET",
     "resourceVersionMatch=Exact",
     "ListOptions",
     {match_without_version}},
    {"UnknownMatchWithoutVersion",
     "GET",
     "resourceVersionMatch=Bad",
     "ListOptions",
     {match_without_version, match_not_supported}},
    {"UnknownMatch",
     "GET",
     "resourceVersion=1&resourceVersionMatch=Bad",
     "ListOptions",
     {match_not_supported}},
    {"ExactMatchWithVersionZero",
     "GET",
     "resourceVersion=0&resourceVersionMatch=Exact",
     "ListOptions",
     {"FieldValueForbidden resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is "
      "forbidden for resourceVersion \"0\""}},
    {"MatchWithContinueToken",
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
    {"InitialEventsWithoutMatch",
     "GET",
     "watch=true&sendInitialEvents=true",
     "ListOptions",
     {"FieldValueForbidden resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
      "resourceVersionMatch to NotOlderThan"}},
    {"UnknownDryRunOfACreate", "POST", "dryRun=Bad", "CreateOptions", {DryRunNotSupported("Bad")}},
    {"EmptyDryRun", "POST", "dryRun=", "CreateOptions", {DryRunNotSupported("")}},
    {"UnknownDryRunOfAnUpdate", "PUT", "dryRun=x", "UpdateOptions", {DryRunNotSupported("x")}},
    {"UnknownDryRunOfAPatch", "PATCH", "dryRun=x", "PatchOptions", {DryRunNotSupported("x")}},
    {"ForceOfAMergePatch",
     "PATCH",
     "force=true",
     "PatchOptions",
     {"FieldValueForbidden force: Forbidden: may not be specified for non-apply patch"}},
};
INSTANTIATE_TEST_SUITE_P(, InvalidOptionsTest, ::testing::ValuesIn(invalid_options),
                         [](const auto& invalid) { return invalid.param.test_name; });

/// Fixture of tests of unusual queries of get, list and watch requests.
class QueryTest : public ConformanceTest {};

TEST_F(QueryTest, UnknownQueryParameterIsIgnored) {
  EXPECT_EQ(Get(Path("configmaps") + "?unknown=1").status, 200);
}

TEST_F(QueryTest, FirstOfTwoValuesOfAParameterIsUsed) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  Post(Path("configmaps"), MakeConfigMap("b"));

  EXPECT_EQ(Get(Path("configmaps") + "?limit=1&limit=2").at("/items").size(), 1);
}

TEST_F(QueryTest, NegativeLimitMeansNoLimit) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  Post(Path("configmaps"), MakeConfigMap("b"));

  EXPECT_EQ(Get(Path("configmaps") + "?limit=-1").at("/items").size(), 2);
}

TEST_F(QueryTest, GetWithAMalformedResourceVersionIsAnErrorWithoutReason) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse response = Get(Path("configmaps") + "/a?resourceVersion=x");

  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.reason(), "");
  EXPECT_EQ(response.message(),
            "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid "
            "syntax");
}

TEST_F(QueryTest, WatchFromAMalformedResourceVersionIsAnErrorWithoutReason) {
  const JsonResponse response = Get(Path("configmaps") + "?watch=true&resourceVersion=x");

  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.reason(), "");
  EXPECT_EQ(response.message(),
            "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid "
            "syntax");
}

}  // namespace
}  // namespace kopp::conformance
