#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/informer/detail/json_splitter.hpp>
#include <kopp/informer/fields.hpp>

namespace kopp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Mode = JsonSplitter::Mode;

struct SplitResult {
  std::vector<std::string> objects;
  std::string envelope;
  bool is_complete = false;
};

/// Splits `text` in chunks of `chunk_size` bytes, and returns the objects and the envelope.
SplitResult Split(Mode mode, std::string_view text, std::size_t chunk_size) {
  SplitResult result;
  JsonSplitter splitter(mode);
  for (std::size_t offset = 0; offset < text.size(); offset += chunk_size) {
    splitter.Feed(text.substr(offset, chunk_size));
    while (const auto object = splitter.Next()) result.objects.emplace_back(object->text);
  }
  result.envelope = splitter.envelope();
  result.is_complete = splitter.IsComplete();
  return result;
}

class JsonSplitterTest : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(ChunkSizes, JsonSplitterTest,
                         ::testing::Values(1, 2, 3, 7, 63, 64, 65, 128, 1000));

TEST_P(JsonSplitterTest, WatchFramesAreSplitForAnyChunkSize) {
  const SplitResult result =
      Split(Mode::kDocuments, "{\"a\":\"}{\\\"\\\\\"}\n{\"é\":[{}]}\r\n {}", GetParam());

  EXPECT_THAT(result.objects, ElementsAre("{\"a\":\"}{\\\"\\\\\"}", "{\"é\":[{}]}", "{}"));
  EXPECT_TRUE(result.is_complete);
}

TEST_P(JsonSplitterTest, StringsWithEscapesQuotesAndBracketsAreSkippedAtAnyPosition) {
  for (std::size_t shift = 0; shift < 140; ++shift) {
    const std::string object =
        "{\"" + std::string(shift, 'x') + R"(":"[\\\"}\\","{":[{"]":"\\\\"}]})";
    const SplitResult result = Split(Mode::kDocuments, object + object, GetParam());

    EXPECT_THAT(result.objects, ElementsAre(object, object)) << shift;
  }
}

TEST_P(JsonSplitterTest, EachObjectIsFollowedByReadablePadding) {
  const std::string text = R"({"a":1} {"b":2} {"c":3})";
  // The chunks are on the heap, so that AddressSanitizer reports a byte that is not readable.
  JsonSplitter splitter(Mode::kDocuments);
  int sum = 0;
  for (std::size_t offset = 0; offset < text.size(); offset += GetParam()) {
    const std::vector<char> chunk(
        text.begin() + static_cast<std::ptrdiff_t>(offset),
        text.begin() + static_cast<std::ptrdiff_t>(std::min(text.size(), offset + GetParam())));
    splitter.Feed({chunk.data(), chunk.size()});
    while (const auto object = splitter.Next()) {
      const char* padding = object->text.data() + object->text.size();
      for (std::size_t i = 0; i < PaddedText::kPadding; ++i) sum += padding[i];
    }
  }
  EXPECT_NE(sum, -1);
}

TEST_P(JsonSplitterTest, AKeyThatEndsWithItemsDoesNotBeginTheItems) {
  const SplitResult result =
      Split(Mode::kListItems, R"({"x\\\"items":[{"a":1}],"items" : [{"b":2}]})", GetParam());

  EXPECT_THAT(result.objects, ElementsAre(R"({"b":2})"));
}

TEST_P(JsonSplitterTest, ListItemsAreSplitAndTheOtherMembersAreInTheEnvelope) {
  const SplitResult result = Split(Mode::kListItems,
                                   R"({"kind":"FooList","metadata":{"a":{"items":[{"no":1}]}},
                            "items":[{"x":"],"}, {"y":[1,{"z":2}]}],"last":"items"})",
                                   GetParam());

  EXPECT_THAT(result.objects, ElementsAre(R"({"x":"],"})", R"({"y":[1,{"z":2}]})"));
  EXPECT_EQ(nlohmann::json::parse(result.envelope),
            nlohmann::json::parse(
                R"({"kind":"FooList","metadata":{"a":{"items":[{"no":1}]}},"items":[],
                    "last":"items"})"));
  EXPECT_TRUE(result.is_complete);
}

TEST_P(JsonSplitterTest, AListWithAnEmptyItemsArrayIsCompleteAndHasNoObjects) {
  const SplitResult result = Split(Mode::kListItems, R"({"items":[]})", GetParam());

  EXPECT_THAT(result.objects, IsEmpty());
  EXPECT_TRUE(result.is_complete);
}

TEST_P(JsonSplitterTest, AListWithNullItemsIsCompleteAndHasNoObjects) {
  const SplitResult result = Split(Mode::kListItems, R"({"items":null,"kind":"L"})", GetParam());

  EXPECT_THAT(result.objects, IsEmpty());
  EXPECT_TRUE(result.is_complete);
}

TEST_P(JsonSplitterTest, WhitespaceAfterAListIsIgnored) {
  const SplitResult result = Split(Mode::kListItems, "{\"items\":[]} \r\n", GetParam());

  EXPECT_THAT(result.objects, IsEmpty());
  EXPECT_TRUE(result.is_complete);
}

TEST_P(JsonSplitterTest, TruncatedInputIsNotComplete) {
  EXPECT_FALSE(Split(Mode::kDocuments, R"({"a":1} {"b":)", GetParam()).is_complete);
  EXPECT_FALSE(Split(Mode::kListItems, R"({"items":[{"a":1})", GetParam()).is_complete);
  EXPECT_FALSE(Split(Mode::kListItems, "", GetParam()).is_complete) << "the input is empty";
}

TEST_P(JsonSplitterTest, TextOutsideObjectsThrowsDecodeError) {
  EXPECT_THROW(Split(Mode::kDocuments, "{} x {}", GetParam()), DecodeError);
  EXPECT_THROW(Split(Mode::kDocuments, "[{}]", GetParam()), DecodeError);
  EXPECT_THROW(Split(Mode::kDocuments, "<html>", GetParam()), DecodeError);
}

TEST_P(JsonSplitterTest, ASecondObjectAfterAListThrowsDecodeError) {
  EXPECT_THROW(Split(Mode::kListItems, R"({"items":[]} {})", GetParam()), DecodeError);
}

TEST_P(JsonSplitterTest, MismatchedBracketsThrowDecodeError) {
  EXPECT_THROW(Split(Mode::kDocuments, "{]", GetParam()), DecodeError);
  EXPECT_THROW(Split(Mode::kDocuments, "}", GetParam()), DecodeError);
  EXPECT_THROW(Split(Mode::kListItems, R"({"items":[}])", GetParam()), DecodeError);
  EXPECT_THROW(Split(Mode::kListItems, R"({"items":[]])", GetParam()), DecodeError);
}

TEST_P(JsonSplitterTest, AListItemThatIsNotAnObjectThrowsDecodeError) {
  EXPECT_THROW(Split(Mode::kListItems, R"({"items":[[]]})", GetParam()), DecodeError);
}

TEST(JsonSplitterLimitTest, NestingDeeperThan10000LevelsThrows) {
  const std::string deep(100'000, '[');
  EXPECT_THROW(Split(Mode::kDocuments, "{\"a\":" + deep, 1000), DecodeError);
  EXPECT_NO_THROW(Split(Mode::kDocuments, "{\"a\":" + deep.substr(0, 9'999), 1000));
}

TEST(JsonSplitterLimitTest, AnUnfinishedObjectLargerThan64MiBThrows) {
  const std::string chunk(1U << 20U, 'x');
  JsonSplitter splitter(Mode::kDocuments);
  splitter.Feed("{\"a\":\"");

  const auto feed = [&] {
    for (int i = 0; i < 65; ++i) {
      EXPECT_FALSE(splitter.Next());
      splitter.Feed(chunk);
    }
  };
  EXPECT_THROW(feed(), DecodeError);
}

}  // namespace
}  // namespace kopp
