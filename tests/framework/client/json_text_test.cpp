#include "client/json_text.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::detail {
namespace {

using nlohmann::json;

std::string TextOf(const json& value) {
  std::string text;
  AppendJson(text, value);
  return text;
}

TEST(JsonTextTest, TheTextOfAValueOfAnyTypeIsThatOfDump) {
  const json value{
      {"bool", {true, false}},
      {"empty", {json::object(), json::array(), "", nullptr}},
      {"float", {0.1, 1.0, -2.5e300}},
      {"integer", {0, -1, std::numeric_limits<std::int64_t>::min()}},
      {"nested", {{{"a", json::array({json::array({1, 2}), json::array()})}, {"b", {{"c", "{"}}}}}},
      {"unsigned", std::numeric_limits<std::uint64_t>::max()},
  };
  EXPECT_EQ(TextOf(value), value.dump());
}

TEST(JsonTextTest, QuotesControlCharactersAndOtherAlphabetsAreEscapedAsInDump) {
  const json value{{"a \"key\" \\ ", "tab\t, line\n, \x01 \x7f"}, {"Schlüssel", "größer, 値, 🙂"}};
  EXPECT_EQ(TextOf(value), value.dump());
}

TEST(JsonTextTest, ATextOrKeyThatIsNotUtf8Throws) {
  EXPECT_THROW(TextOf({{"name", "\xff"}}), json::type_error);
  EXPECT_THROW(TextOf({{"\xff", "value"}}), json::type_error);
}

TEST(JsonTextTest, KeysAreSeparatedByCommasExceptTheFirst) {
  std::string text = "{";
  for (const char* key : {"a", "b"}) {
    AppendJsonKey(text, key);
    AppendJsonString(text, "{");
  }
  EXPECT_EQ(text, R"({"a":"{","b":"{")");
}

}  // namespace
}  // namespace kopp::detail
