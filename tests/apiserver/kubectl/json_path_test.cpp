// Tests JSONPath syntax that is rare in practice. The conformance suite tests the common paths. The
// expected results are those of kube-apiserver.
#include "printers/json_path.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

struct Path {
  std::string test_name{};
  std::string path{};
  std::string first{};  ///< the first selected value as JSON; "" if nothing is selected
};
void PrintTo(const Path& path, std::ostream* out) { *out << path.path; }

class JsonPathTest : public ::testing::TestWithParam<Path> {};

TEST_P(JsonPathTest, EvaluateReturnsTheSelectedValues) {
  const json object = json::parse(R"({
      "text": "t", "dotted.key": "d", "a-b": "dash", "none": null, "strings": ["a", "b", "c"],
      "object": {"x": 1, "y": "z"}, "nested": [[1, 2], [3, 4]],
      "items": [{"x": "a", "n": 1, "m": 1, "o": {"p": true}}, {"x": "b", "n": 2, "f": 1.5}, {"n": 3}]
  })");

  const auto path = JsonPath::Parse(GetParam().path);

  ASSERT_TRUE(path.has_value());
  const JsonPath::Values values = path->Evaluate(object);
  EXPECT_EQ(values.empty() ? "" : values.front()->dump(), GetParam().first);
}

const Path path_cases[] = {
    {"Field", ".text", R"("t")"},
    {"MissingField", ".nope", ""},
    {"FieldOfString", ".text.nope", ""},
    {"FieldOfList", ".items.x", ""},
    {"NameWithDash", ".a-b", R"("dash")"},
    {"NameWithEscapedDot", ".dotted\\.key", R"("d")"},
    {"DotInBracketsSeparatesFields", "['dotted.key']", ""},
    {"Null", ".none", "null"},
    {"DotAlone", ".", ""},
    {"TrailingSpace", ".text ", R"("t")"},
    {"Index", ".strings[0]", R"("a")"},
    {"NegativeIndex", ".strings[-1]", R"("c")"},
    {"IndexOutOfRange", ".strings[9]", ""},
    {"IndexOfObject", ".object[0]", ""},
    {"Slice", ".strings[1:2]", R"("b")"},
    {"SliceWithNegativeIndices", ".items[-2:-1].x", R"("b")"},
    {"SliceWithStep", ".strings[::2]", R"("a")"},
    {"SeveralIndices", ".strings[2,0]", R"("c")"},
    {"SeveralNames", "['nope','text']", R"("t")"},
    {"WildcardOfList", ".strings[*]", R"("a")"},
    {"WildcardOfNestedLists", ".nested[*][1]", "2"},
    {"WildcardOfObject", ".object.*", "1"},
    {"IndexWildcardOfObject", ".object[*]", ""},
    {"RecursiveDescent", "..p", "true"},
    {"FilterByString", ".items[?(@.x==\"b\")].n", "2"},
    {"FilterBySingleQuotedString", ".items[?(@.x=='b')].n", "2"},
    {"FilterWithBracketName", ".items[?(@['x']=='b')].n", "2"},
    {"FilterByNumber", ".items[?(@.n == 3)].n", "3"},
    {"FilterGreater", ".items[?(@.n>1)].x", R"("b")"},
    {"FilterLess", ".items[?(@.x<\"b\")].n", "1"},
    {"FilterGreaterOrEqual", ".items[?(@.n>=2)].n", "2"},
    {"FilterLessOrEqual", ".items[?(@.n<=1)].n", "1"},
    {"FilterNotEqual", ".items[?(@.n!=1)].x", R"("b")"},
    {"FilterByFraction", ".items[?(@.f==1.5)].x", R"("b")"},
    {"FilterByBoolean", ".items[?(@.o.p==true)].n", "1"},
    {"FilterComparesTwoFields", ".items[?(@.n==@.m)].x", R"("a")"},
    {"FilterWithLiteralFirst", ".items[?(2==@.n)].x", R"("b")"},
    {"FilterByExistence", ".items[?(@.f)].x", R"("b")"},
    {"FilterByItemItself", ".strings[?(@==\"b\")]", R"("b")"},
    {"FilterWithoutMatch", ".items[?(@.x==\"nope\")].n", ""},
    {"FilterWithOtherType", ".items[?(@.n>\"x\")].x", ""},
};
INSTANTIATE_TEST_SUITE_P(, JsonPathTest, ::testing::ValuesIn(path_cases),
                         [](const auto& path) { return path.param.test_name; });

class InvalidJsonPathTest : public ::testing::TestWithParam<Path> {};

TEST_P(InvalidJsonPathTest, ParseReturnsNullopt) {
  EXPECT_FALSE(JsonPath::Parse(GetParam().path).has_value());
}

const Path invalid_paths[] = {
    {"MissingDot", "text"},
    {"DoubleQuotesInBrackets", "[\"text\"]"},
    {"SpacesInBrackets", ".strings[ 0 ]"},
    {"TwoComparisons", ".items[?(@.x==\"a\" && @.n==1)].x"},
    {"UnknownOperator", ".items[?(@.x=~\"a\")].x"},
    {"NegativeStep", ".strings[::-1]"},
    {"IndexIsNotANumber", ".strings[x]"},
};
INSTANTIATE_TEST_SUITE_P(, InvalidJsonPathTest, ::testing::ValuesIn(invalid_paths),
                         [](const auto& path) { return path.param.test_name; });

}  // namespace
}  // namespace kopp::apiserver
