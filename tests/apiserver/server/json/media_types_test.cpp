#include "json/media_types.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

namespace kopp::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> TypesOf(std::string_view accept) {
  std::vector<std::string> types;
  for (const MediaType& media : ParseAccept(accept)) types.emplace_back(media.type);
  return types;
}

TEST(MediaTypesTest, ParametersOfAMediaTypeAreParsed) {
  const auto all = ParseAccept("application/json ; as=Table;v=v1;g=meta.k8s.io;pretty=1");

  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].type, "application/json");
  EXPECT_EQ(all[0].as, "Table");
  EXPECT_EQ(all[0].version, "v1");
  EXPECT_EQ(all[0].group, "meta.k8s.io");
}

TEST(MediaTypesTest, MediaTypesAreSortedByQuality) {
  EXPECT_THAT(TypesOf("a/a;q=0.1, b/b;q=0.5,c/c"), ElementsAre("c/c", "b/b", "a/a"));
}

TEST(MediaTypesTest, MediaTypesOfEqualQualityKeepTheirOrder) {
  EXPECT_THAT(TypesOf("b/b,a/a;q=1"), ElementsAre("b/b", "a/a"));
}

TEST(MediaTypesTest, WildcardComesLast) {
  EXPECT_THAT(TypesOf("*/*,a/a"), ElementsAre("a/a", "*/*"));
}

TEST(MediaTypesTest, InvalidQualityCountsAsOne) {
  EXPECT_THAT(TypesOf("a/a;q=0.5,b/b;q=x"), ElementsAre("b/b", "a/a"));
}

TEST(MediaTypesTest, EmptyHeaderHasNoMediaTypes) { EXPECT_THAT(TypesOf(""), IsEmpty()); }

}  // namespace
}  // namespace kopp::apiserver
