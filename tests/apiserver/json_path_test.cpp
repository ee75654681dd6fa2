// The conformance suite has the paths that people write; here are the others that the real server
// reads, and what it makes of them.
#include "json_path.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

struct Path {
  std::string test{};
  std::string path{};
  std::string first{};  ///< JSON of the first thing that it leads to; "": to nothing
};
void PrintTo(const Path& path, std::ostream* out) { *out << path.path; }

class JsonPathTest : public ::testing::TestWithParam<Path> {};

TEST_P(JsonPathTest, LeadsToThis) {
  const json object = json::parse(R"({
      "text": "t", "dotted.key": "d", "a-b": "dash", "none": null, "strings": ["a", "b", "c"],
      "object": {"x": 1, "y": "z"}, "nested": [[1, 2], [3, 4]],
      "items": [{"x": "a", "n": 1, "m": 1, "o": {"p": true}}, {"x": "b", "n": 2, "f": 1.5}, {"n": 3}]
  })");

  const auto path = JsonPath::Read(GetParam().path);

  ASSERT_TRUE(path.has_value());
  const JsonPath::Found found = path->Follow(object);
  EXPECT_EQ(found.empty() ? "" : found.front()->dump(), GetParam().first);
}

const Path paths[] = {
    {"AField", ".text", R"("t")"},
    {"AFieldThatIsNotThere", ".nope", ""},
    {"AFieldOfAString", ".text.nope", ""},
    {"AFieldOfAList", ".items.x", ""},
    {"ANameWithADash", ".a-b", R"("dash")"},
    {"ANameWithADot", ".dotted\\.key", R"("d")"},
    {"ADotInBracketsDivides", "['dotted.key']", ""},
    {"Null", ".none", "null"},
    {"Nothing", ".", ""},
    {"ASpaceBehindIt", ".text ", R"("t")"},
    {"AnIndex", ".strings[0]", R"("a")"},
    {"AnIndexFromBehind", ".strings[-1]", R"("c")"},
    {"AnIndexBehindTheEnd", ".strings[9]", ""},
    {"AnIndexOfAnObject", ".object[0]", ""},
    {"ASlice", ".strings[1:2]", R"("b")"},
    {"ASliceFromBehind", ".items[-2:-1].x", R"("b")"},
    {"ASliceWithSteps", ".strings[::2]", R"("a")"},
    {"SeveralIndices", ".strings[2,0]", R"("c")"},
    {"SeveralNames", "['nope','text']", R"("t")"},
    {"AllOfAList", ".strings[*]", R"("a")"},
    {"AllOfAListOfLists", ".nested[*][1]", "2"},
    {"AllOfAnObject", ".object.*", "1"},
    {"AllItemsOfAnObject", ".object[*]", ""},
    {"AnywhereBelow", "..p", "true"},
    {"ItemsWithATexts", ".items[?(@.x==\"b\")].n", "2"},
    {"ItemsWithOneQuotedOtherwise", ".items[?(@.x=='b')].n", "2"},
    {"ItemsWithAName", ".items[?(@['x']=='b')].n", "2"},
    {"ItemsWithANumber", ".items[?(@.n == 3)].n", "3"},
    {"ItemsWithMore", ".items[?(@.n>1)].x", R"("b")"},
    {"ItemsWithLess", ".items[?(@.x<\"b\")].n", "1"},
    {"ItemsWithAtLeast", ".items[?(@.n>=2)].n", "2"},
    {"ItemsWithAtMost", ".items[?(@.n<=1)].n", "1"},
    {"ItemsWithAnother", ".items[?(@.n!=1)].x", R"("b")"},
    {"ItemsWithAFraction", ".items[?(@.f==1.5)].x", R"("b")"},
    {"ItemsWithABoolean", ".items[?(@.o.p==true)].n", "1"},
    {"ItemsWithTwoThatAreEqual", ".items[?(@.n==@.m)].x", R"("a")"},
    {"ItemsWithTheValueInFront", ".items[?(2==@.n)].x", R"("b")"},
    {"ItemsThatHaveOne", ".items[?(@.f)].x", R"("b")"},
    {"ItemsThatAreOne", ".strings[?(@==\"b\")]", R"("b")"},
    {"NoItems", ".items[?(@.x==\"nope\")].n", ""},
    {"ItemsOfAnotherType", ".items[?(@.n>\"x\")].x", ""},
};
INSTANTIATE_TEST_SUITE_P(, JsonPathTest, ::testing::ValuesIn(paths),
                         [](const auto& path) { return path.param.test; });

class NoJsonPathTest : public ::testing::TestWithParam<Path> {};

TEST_P(NoJsonPathTest, IsNotRead) { EXPECT_FALSE(JsonPath::Read(GetParam().path).has_value()); }

const Path no_paths[] = {
    {"NoDot", "text"},
    {"DoubleQuotesInBrackets", "[\"text\"]"},
    {"SpacesInBrackets", ".strings[ 0 ]"},
    {"TwoComparisons", ".items[?(@.x==\"a\" && @.n==1)].x"},
    {"AnUnknownComparison", ".items[?(@.x=~\"a\")].x"},
    {"AStepBack", ".strings[::-1]"},
    {"AnIndexThatIsNoNumber", ".strings[x]"},
};
INSTANTIATE_TEST_SUITE_P(, NoJsonPathTest, ::testing::ValuesIn(no_paths),
                         [](const auto& path) { return path.param.test; });

}  // namespace
}  // namespace kopp::apiserver
