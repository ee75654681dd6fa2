#include "schema/pattern.hpp"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace kopp::schema {
namespace {

std::string ErrorOf(const std::string& expression) {
  try {
    const Pattern pattern(expression);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(PatternTest, PartialMatchFindsAMatchAnywhereInTheText) {
  EXPECT_TRUE(Pattern("b").PartialMatch("abc"));
  EXPECT_FALSE(Pattern("^b").PartialMatch("abc"));
}

TEST(PatternTest, FullMatchRequiresAMatchOfTheWholeText) {
  EXPECT_TRUE(Pattern("a|abc").FullMatch("abc"));
  EXPECT_FALSE(Pattern("b").FullMatch("abc"));
}

TEST(PatternTest, CaseInsensitivePatternIgnoresTheCaseOfAsciiLettersOnly) {
  const Pattern pattern("k+", Pattern::Case::kInsensitive);

  EXPECT_TRUE(pattern.FullMatch("kK"));
  EXPECT_FALSE(pattern.FullMatch("\u212A")) << "the Kelvin sign";
}

TEST(PatternTest, DotMatchesOneCharacterInUtf8) { EXPECT_TRUE(Pattern(".").FullMatch("ä")); }

TEST(PatternTest, InvalidExpressionsThrowTheMessageOfGosRegexpPackage) {
  EXPECT_EQ(ErrorOf("a("), "error parsing regexp: missing closing ): `a(`");
  EXPECT_EQ(ErrorOf("[a"), "error parsing regexp: missing closing ]: `[a`");
  EXPECT_EQ(ErrorOf("*"), "error parsing regexp: missing argument to repetition operator: `*`");
  EXPECT_EQ(ErrorOf("a**"), "error parsing regexp: invalid nested repetition operator: `**`");
  EXPECT_EQ(ErrorOf("[z-a]"), "error parsing regexp: invalid character class range: `z-a`");
  EXPECT_EQ(ErrorOf("a{1001}"), "error parsing regexp: invalid repeat count: `{1001}`");
  EXPECT_EQ(ErrorOf("\\8"), "error parsing regexp: invalid escape sequence: `\\8`");
  EXPECT_EQ(ErrorOf("(?=a)"), "error parsing regexp: invalid or unsupported Perl syntax: `(?=`");
}

TEST(PatternTest, NestedRepetitionsMatchALongTextInLinearTime) {
  const std::string text(100'000, 'a');

  EXPECT_FALSE(Pattern("^(a*)*b$").PartialMatch(text));
}

TEST(PatternTest, DeeplyNestedGroupsAreAccepted) {
  const std::string expression = std::string(900, '(') + 'a' + std::string(900, ')');

  EXPECT_TRUE(Pattern(expression).FullMatch("a"));
}

}  // namespace
}  // namespace kopp::schema
