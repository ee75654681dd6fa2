#include "api/response.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

std::string Encoded(ServerResponse response) {
  EncodeBody(response);
  return response.body.text();
}

TEST(ResponseBodyTest, AValueIsEncodedAsJsonThatEndsWithANewline) {
  EXPECT_EQ(Encoded({.body = json{{"kind", "Status"}}}), "{\"kind\":\"Status\"}\n");
}

TEST(ResponseBodyTest, AValueOfAnotherContentTypeHasNoNewline) {
  EXPECT_EQ(Encoded({.body = json{{"paths", 1}}, .content_type = "text/plain"}), R"({"paths":1})");
}

TEST(ResponseBodyTest, TextIsNotEncodedAgain) {
  ServerResponse response{.body = R"({"b":1, "a":2})"};
  EncodeBody(response);

  EXPECT_EQ(Encoded(std::move(response)), R"({"b":1, "a":2})");
}

TEST(ResponseBodyTest, EncodingReplacesInvalidUtf8) {
  EXPECT_EQ(Encoded({.body = json{{"a", "\xff"}}}), "{\"a\":\"\uFFFD\"}\n");
}

TEST(ResponseBodyTest, OnlyABodyWithAValueHasOne) {
  EXPECT_EQ(*ResponseBody(json{{"a", 1}}).value(), json({{"a", 1}}));
  EXPECT_EQ(ResponseBody(R"({"a":1})").value(), nullptr);
}

TEST(ResponseBodyTest, TextIsParsedToAValue) {
  EXPECT_EQ(ResponseBody(R"({"a":1})").ToValue(), json({{"a", 1}}));
  EXPECT_EQ(ResponseBody(json{{"a", 1}}).ToValue(), json({{"a", 1}}));
  EXPECT_TRUE(ResponseBody("502").ToValue().is_number());
  EXPECT_TRUE(ResponseBody("Bad Gateway").ToValue().is_discarded());
}

}  // namespace
}  // namespace kopp::apiserver
