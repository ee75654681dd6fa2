#include "net/url_query.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::detail {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(UrlQueryTest, ParametersAreDecodedAndMayRepeat) {
  EXPECT_THAT(ParseQuery("exclude=a%2Fb&verbose&exclude=c+d&x=1=2"),
              UnorderedElementsAre(Pair("exclude", "a/b"), Pair("exclude", "c d"),
                                   Pair("verbose", ""), Pair("x", "1=2")));
}

TEST(UrlQueryTest, EmptyQueryHasNoParameters) {
  EXPECT_THAT(ParseQuery(""), IsEmpty());
  EXPECT_THAT(ParseQuery("&&"), IsEmpty());
}

TEST(UrlQueryTest, InvalidEscapesAreLeftAsTheyAre) {
  EXPECT_EQ(DecodePercent("100%", true), "100%");
  EXPECT_EQ(DecodePercent("%4", true), "%4");
  EXPECT_EQ(DecodePercent("%zz%41", true), "%zzA");
}

TEST(UrlQueryTest, PlusIsASpaceOnlyInQueries) {
  EXPECT_EQ(DecodePercent("a+b", true), "a b");
  EXPECT_EQ(DecodePercent("a+b", false), "a+b");
}

}  // namespace
}  // namespace kopp::detail
