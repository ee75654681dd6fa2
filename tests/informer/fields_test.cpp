#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/informer/fields.hpp>

namespace shop {

struct Size {
  int width = 1;
  int height = 1;
};
KOPP_FIELDS(Size, width, height)

struct Box {
  bool open = false;
  std::int32_t count = 7;
  std::uint8_t small = 0;
  double weight = 0;
  std::string label;
  std::optional<int> limit;
  std::optional<std::string> note;
  std::vector<Size> sizes;
  std::map<std::string, std::string> tags;
  std::string cls;
  kopp::RawJson extra;
  Size outer;
};
KOPP_FIELDS(Box, open, count, small, weight, label, limit, note, sizes, tags,
            KOPP_FIELD(cls, "class"), extra, outer)

struct Ratio {
  float value = 0;
};
KOPP_FIELDS(Ratio, value)

struct RawValues {
  std::vector<kopp::RawJson> list;
  std::map<std::string, kopp::RawJson> map;
};
KOPP_FIELDS(RawValues, list, map)

struct Readings {
  std::vector<std::optional<int>> values;
};
KOPP_FIELDS(Readings, values)

struct Maps {
  std::map<std::string, std::optional<int>> optionals;
  std::map<std::string, kopp::RawJson> raws;
  std::map<std::string, int> numbers;
};
KOPP_FIELDS(Maps, optionals, raws, numbers)

struct Rest {
  std::string name = {};
  std::map<std::string, kopp::RawJson> others = {};
};
KOPP_FIELDS(Rest, name, KOPP_FIELD(others, kopp::kOtherFields))

}  // namespace shop

namespace kopp {
namespace {

using shop::Box;
using shop::Maps;
using shop::Ratio;
using shop::RawValues;
using shop::Readings;
using shop::Rest;

template <typename View = Box>
std::string DecodeErrorOf(const std::string& text) {
  try {
    (void)Decode<View>(text);
  } catch (const DecodeError& error) {
    return error.what();
  }
  return "no error";
}

TEST(FieldsTest, DecodingSetsTheMemberOfEachListedField) {
  const Box box = Decode<Box>(R"({
    "open": true, "count": -3, "small": 255, "weight": 1.5, "label": "caf\u00e9 \"x\"",
    "limit": 9, "note": "n", "sizes": [{"width": 2, "height": 3}, {"width": 4}],
    "tags": {"a": "b", "c": "d"}, "class": "fragile", "extra": {"k": [1, 2]},
    "outer": {"height": 8}})");

  EXPECT_TRUE(box.open);
  EXPECT_EQ(box.count, -3);
  EXPECT_EQ(box.small, 255);
  EXPECT_EQ(box.weight, 1.5);
  EXPECT_EQ(box.label, "café \"x\"");
  EXPECT_EQ(box.limit, 9);
  EXPECT_EQ(box.note, "n");
  ASSERT_EQ(box.sizes.size(), 2);
  EXPECT_EQ(box.sizes[1].width, 4);
  EXPECT_EQ(box.sizes[1].height, 1);
  EXPECT_THAT(box.tags,
              ::testing::ElementsAre(::testing::Pair("a", "b"), ::testing::Pair("c", "d")));
  EXPECT_EQ(box.cls, "fragile");
  EXPECT_EQ(nlohmann::json::parse(box.extra.text), nlohmann::json::parse(R"({"k": [1, 2]})"));
  EXPECT_EQ(box.outer.height, 8);
}

TEST(FieldsTest, DecodingSkipsUnlistedFieldsOfAnyType) {
  const Box box = Decode<Box>(
      R"({"managedFields": [{"f:x": {"deep": [[[{}]]]}}], "label": "x", "labels": 5, "lab": []})");

  EXPECT_EQ(box.label, "x");
}

TEST(FieldsTest, NullAndMissingFieldsKeepTheDefaultOfTheMember) {
  const Box box = Decode<Box>(R"({"count": null, "limit": null, "sizes": null, "outer": null})");

  EXPECT_EQ(box.count, 7);
  EXPECT_FALSE(box.limit.has_value());
  EXPECT_EQ(box.outer.width, 1);
}

TEST(FieldsTest, DecodingAListOrMapReplacesThePreviousElements) {
  Box box;
  box.sizes = {{9, 9}};
  box.tags = {{"old", "1"}};

  nlohmann::json::parse(R"({"sizes": [{"width": 2}], "tags": {"new": "2"}})").get_to(box);

  ASSERT_EQ(box.sizes.size(), 1);
  EXPECT_EQ(box.sizes[0].width, 2);
  EXPECT_THAT(box.tags, ::testing::ElementsAre(::testing::Pair("new", "2")));
}

TEST(FieldsTest, ATypeMismatchIsReportedWithThePathOfTheField) {
  EXPECT_EQ(DecodeErrorOf(R"({"sizes": [{"width": 1}, {"width": "wide"}]})"),
            "sizes[1].width: expected an integer, found a string");
  EXPECT_EQ(DecodeErrorOf(R"({"tags": {"a": {}}})"), "tags.a: expected a string, found an object");
  EXPECT_EQ(DecodeErrorOf(R"({"outer": []})"), "outer: expected an object, found a list");
  EXPECT_EQ(DecodeErrorOf(R"({"open": 1})"), "open: expected a boolean, found a number");
  EXPECT_EQ(DecodeErrorOf("[]"), "expected an object, found a list");
}

TEST(FieldsTest, ANumberOutOfTheRangeOfItsMemberIsAnErrorAndNotTruncated) {
  EXPECT_EQ(
      DecodeErrorOf(R"({"count": 3000000000})"),
      "count: 3000000000 is out of range: expected an integer from -2147483648 to 2147483647");
  EXPECT_EQ(DecodeErrorOf(R"({"small": 256})"), "small: 256 is out of range: expected at most 255");
  EXPECT_EQ(DecodeErrorOf(R"({"limit": 1.5})"), "limit: expected an integer, found a number");
  EXPECT_EQ(DecodeErrorOf<Ratio>(R"({"value": -1e39})"),
            "value: the number is out of range: expected at most 3.4028234663852886e+38");
  EXPECT_EQ(DecodeErrorOf<Ratio>(R"({"value": -3e38})"), "no error");
}

TEST(FieldsTest, DecodingInvalidJsonThrowsMalformed) {
  for (const std::string text :
       {"", "{", "{}}", "{\"a\":1} x", "nonsense", "{\"label\":\"\xff\"}"}) {
    try {
      (void)Decode<Box>(text);
      ADD_FAILURE() << "no exception for: " << text;
    } catch (const DecodeError& error) {
      EXPECT_EQ(error.kind(), DecodeError::Kind::kMalformed) << text << ": " << error.what();
    }
  }
}

TEST(FieldsTest, ErrorsOfInvalidJsonDoNotNameFunctionsOfTheParser) {
  EXPECT_EQ(DecodeErrorOf(""), "not valid JSON: the text is empty");
  EXPECT_EQ(DecodeErrorOf("<html>"), "not valid JSON: expected an object or a list");
  EXPECT_EQ(DecodeErrorOf("null"), "not valid JSON: expected an object or a list");
}

TEST(FieldsTest, InvalidUtf8ControlCharactersAndLoneSurrogatesAreMalformed) {
  using namespace std::string_literals;
  for (const std::string& label : {"\xC3"s, "\xED\xA0\x80"s, "\xC0\xAF"s, "a\0b"s, "a\nb"s,
                                   R"(\ud800)"s, R"(\u12)"s, R"(\x)"s}) {
    for (const std::string& text :
         {"{\"label\":\"" + label + "\"}", "{\"tags\":{\"" + label + "\":\"x\"}}"}) {
      try {
        (void)Decode<Box>(text);
        ADD_FAILURE() << "no exception for: " << text;
      } catch (const DecodeError& error) {
        EXPECT_EQ(error.kind(), DecodeError::Kind::kMalformed) << text << ": " << error.what();
      }
    }
  }
}

TEST(FieldsTest, StringsAndKeysWithEscapesAreUnescaped) {
  const Box box = Decode<Box>(R"({"label":"\"\\\u0000\ud83d\ude00","tags":{"a\/b":"\t"}})");

  using namespace std::string_literals;
  EXPECT_EQ(box.label, "\"\\\0\xF0\x9F\x98\x80"s);
  EXPECT_THAT(box.tags, ::testing::ElementsAre(::testing::Pair("a/b", "\t")));
}

TEST(FieldsTest, EncodingOmitsEmptyFieldsButWritesNumbersAndBooleans) {
  EXPECT_EQ(Encode(Box{}),
            R"({"open":false,"count":7,"small":0,"weight":0,"outer":{"width":1,"height":1}})");
}

TEST(FieldsTest, DecodingAnEncodedStructReturnsTheSameValues) {
  Box box;
  box.label = "line\nbreak \"quoted\" \\ café";
  box.limit = std::numeric_limits<int>::min();
  box.note = "";
  box.sizes = {{1, 2}, {3, 4}};
  box.tags = {{"a", "1"}, {"b", ""}};
  box.cls = "x";
  box.extra.text = R"([1,{"a":null}])";

  const Box decoded = Decode<Box>(Encode(box));

  EXPECT_EQ(Encode(decoded), Encode(box));
  EXPECT_EQ(decoded.label, box.label);
  EXPECT_EQ(decoded.note, "") << "an optional is written if it is set, even to an empty string";
  EXPECT_EQ(decoded.tags, box.tags);
}

TEST(FieldsTest, AStructConvertsToAndFromNlohmannJson) {
  Box box;
  box.cls = "fragile";
  const nlohmann::json json = box;
  EXPECT_EQ(json.at("class"), "fragile");

  EXPECT_EQ(json.get<Box>().cls, "fragile");
}

TEST(FieldsTest, AnEmptyOptionalInAListIsNull) {
  const auto readings = Decode<Readings>(R"({"values":[1,null,3]})");

  EXPECT_THAT(readings.values, ::testing::ElementsAre(1, std::nullopt, 3));
  EXPECT_EQ(Encode(readings), R"({"values":[1,null,3]})");
}

TEST(FieldsTest, AnEmptyRawJsonInAListOrMapIsNull) {
  EXPECT_EQ(Encode(RawValues{.list = {{"1"}, {}}, .map = {{"a", {}}}}),
            R"({"list":[1,null],"map":{"a":null}})");
}

TEST(FieldsTest, ANullEntryOfAMapIsKeptIfItsTypeHoldsNull) {
  const auto maps = Decode<Maps>(
      R"({"optionals":{"a":null,"b":1},"raws":{"a":null,"b":[]},"numbers":{"a":null,"b":1}})");

  EXPECT_EQ(Encode(maps),
            R"({"optionals":{"a":null,"b":1},"raws":{"a":null,"b":[]},"numbers":{"b":1}})");
}

TEST(FieldsTest, TheMemberForOtherFieldsHasThoseThatNoMemberHas) {
  const auto rest = Decode<Rest>(R"({"z":[1, {"a":2}],"name":"x","q\"":null,"a":"\n"})");

  EXPECT_EQ(rest.name, "x");
  EXPECT_THAT(rest.others,
              ::testing::UnorderedElementsAre(::testing::Pair("z", RawJson{R"([1, {"a":2}])"}),
                                              ::testing::Pair("q\"", RawJson{"null"}),
                                              ::testing::Pair("a", RawJson{R"("\n")"})));
  EXPECT_EQ(nlohmann::json(rest),
            nlohmann::json::parse(R"({"z":[1,{"a":2}],"name":"x","q\"":null,"a":"\n"})"));
}

TEST(FieldsTest, AnEmptyMemberForOtherFieldsIsOmitted) {
  EXPECT_EQ(Encode(Rest{.name = "x"}), R"({"name":"x"})");
  EXPECT_EQ(Encode(Decode<Rest>(R"({"a":1})")), R"({"a":1})");
}

TEST(FieldsTest, EncodingReplacesInvalidUtf8) {
  Box box;
  box.label = "a\xff";

  EXPECT_EQ(Decode<Box>(Encode(box)).label, "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace kopp
