#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/informer/fields.hpp>
#include <kopp/informer/json_splitter.hpp>

namespace kopp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Of = JsonSplitter::Of;

struct Cut {
  std::vector<std::string> objects;
  std::string envelope;
  bool at_end = false;
};

/// Feeds `text` in pieces of `step` bytes.
Cut Split(Of of, std::string_view text, std::size_t step) {
  Cut cut;
  JsonSplitter splitter(of, [&](std::string_view object) { cut.objects.emplace_back(object); });
  for (std::size_t at = 0; at < text.size(); at += step) splitter.Feed(text.substr(at, step));
  cut.envelope = splitter.envelope();
  cut.at_end = splitter.AtEnd();
  return cut;
}

class JsonSplitterTest : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(InPiecesOf, JsonSplitterTest, ::testing::Values(1, 2, 3, 7, 1000));

TEST_P(JsonSplitterTest, FramesAreCutWhereverTheBytesWereCut) {
  const Cut cut = Split(Of::kDocuments, "{\"a\":\"}{\\\"\\\\\"}\n{\"é\":[{}]}\r\n {}", GetParam());

  EXPECT_THAT(cut.objects, ElementsAre("{\"a\":\"}{\\\"\\\\\"}", "{\"é\":[{}]}", "{}"));
  EXPECT_TRUE(cut.at_end);
}

TEST_P(JsonSplitterTest, TheItemsOfAListAreCutAndItsOtherMembersKept) {
  const Cut cut = Split(Of::kItems,
                        R"({"kind":"FooList","metadata":{"a":{"items":[{"no":1}]}},
                            "items":[{"x":"],"}, {"y":[1,{"z":2}]}],"last":"items"})",
                        GetParam());

  EXPECT_THAT(cut.objects, ElementsAre(R"({"x":"],"})", R"({"y":[1,{"z":2}]})"));
  EXPECT_EQ(nlohmann::json::parse(cut.envelope),
            nlohmann::json::parse(
                R"({"kind":"FooList","metadata":{"a":{"items":[{"no":1}]}},"items":[],
                    "last":"items"})"));
  EXPECT_TRUE(cut.at_end);
}

TEST_P(JsonSplitterTest, AListWithoutItemsIsAList) {
  EXPECT_THAT(Split(Of::kItems, R"({"items":[]})", GetParam()).objects, IsEmpty());
  EXPECT_TRUE(Split(Of::kItems, R"({"items":null,"kind":"L"})", GetParam()).at_end);
}

TEST_P(JsonSplitterTest, WhatIsCutShortIsNotAtItsEnd) {
  EXPECT_FALSE(Split(Of::kDocuments, R"({"a":1} {"b":)", GetParam()).at_end);
  EXPECT_FALSE(Split(Of::kItems, R"({"items":[{"a":1})", GetParam()).at_end);
  EXPECT_FALSE(Split(Of::kItems,
                     R"({"items":[]})"
                     " ",
                     GetParam())
                   .objects.size());
  EXPECT_FALSE(Split(Of::kItems, "", GetParam()).at_end) << "no list came at all";
}

TEST_P(JsonSplitterTest, TextBetweenObjectsIsMalformed) {
  EXPECT_THROW(Split(Of::kDocuments, "{} x {}", GetParam()), DecodeError);
  EXPECT_THROW(Split(Of::kDocuments, "[{}]", GetParam()), DecodeError);
  EXPECT_THROW(Split(Of::kDocuments, "<html>", GetParam()), DecodeError);
  EXPECT_THROW(Split(Of::kItems, R"({"items":[]} {})", GetParam()), DecodeError);
}

TEST_P(JsonSplitterTest, BracketsThatDoNotMatchAreMalformed) {
  EXPECT_THROW(Split(Of::kDocuments, "{]", GetParam()), DecodeError);
  EXPECT_THROW(Split(Of::kDocuments, "}", GetParam()), DecodeError);
  EXPECT_THROW(Split(Of::kItems, R"({"items":[[]]})", GetParam()), DecodeError);
}

TEST(JsonSplitterLimitTest, NestingDeeperThan512IsRefused) {
  const std::string deep(100'000, '[');
  EXPECT_THROW(Split(Of::kDocuments, "{\"a\":" + deep, 1000), DecodeError);
  EXPECT_NO_THROW(Split(Of::kDocuments, "{\"a\":" + deep.substr(0, 511), 1000));
}

TEST(JsonSplitterLimitTest, AnObjectThatNeverEndsIsRefusedAt64MiB) {
  const std::string piece(1U << 20U, 'x');
  JsonSplitter splitter(Of::kDocuments, [](std::string_view) {});
  splitter.Feed("{\"a\":\"");

  const auto feed = [&] {
    for (int i = 0; i < 64; ++i) splitter.Feed(piece);
  };
  EXPECT_THROW(feed(), DecodeError);
}

}  // namespace
}  // namespace kopp
