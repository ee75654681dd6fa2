#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <kopp/informer/fields.hpp>
#include <kopp/k8s/int_or_string.hpp>

namespace kopp::k8s {
namespace {

struct Port {
  IntOrString port = {};
};
KOPP_FIELDS(Port, port)

TEST(IntOrStringTest, ParseReturnsANumberForDigitsAndOtherwiseTheText) {
  EXPECT_EQ(IntOrString::Parse("80"), IntOrString(80));
  EXPECT_EQ(IntOrString::Parse("http"), IntOrString("http"));
  EXPECT_EQ(IntOrString::Parse("99999999999"), IntOrString("99999999999"));
  EXPECT_EQ(IntOrString::Parse("+5"), IntOrString(5));
  EXPECT_EQ(IntOrString::Parse("+-5"), IntOrString("+-5"));
  EXPECT_NE(IntOrString("80"), IntOrString(80));
}

TEST(IntOrStringTest, NumbersAndTextsKeepTheirTypeInJson) {
  EXPECT_EQ(Encode(Port{80}), R"({"port":80})");
  EXPECT_EQ(Encode(Port{"80"}), R"({"port":"80"})");
  EXPECT_EQ(Decode<Port>(R"({"port":80})").port, IntOrString(80));
  EXPECT_EQ(Decode<Port>(R"({"port":"80"})").port, IntOrString("80"));
}

TEST(IntOrStringTest, AnotherJsonTypeOrANumberOutOfRangeIsADecodeError) {
  EXPECT_THROW((void)Decode<Port>(R"({"port":true})"), DecodeError);
  EXPECT_THROW((void)Decode<Port>(R"({"port":1.5})"), DecodeError);
  EXPECT_THROW((void)Decode<Port>(R"({"port":3000000000})"), DecodeError);
}

TEST(IntOrStringTest, APercentageIsScaledUpOrDown) {
  EXPECT_EQ(IntOrString("25%").Scaled(10, /*round_up=*/true), 3);
  EXPECT_EQ(IntOrString("25%").Scaled(10, /*round_up=*/false), 2);
  EXPECT_EQ(IntOrString("100%").Scaled(7, /*round_up=*/true), 7);
  EXPECT_EQ(IntOrString(4).Scaled(10, /*round_up=*/true), 4);
  EXPECT_THROW((void)IntOrString("http").Scaled(10, /*round_up=*/true), std::invalid_argument);
}

TEST(IntOrStringTest, ToStringReturnsTheNumberOrTheText) {
  EXPECT_EQ(IntOrString(-1).ToString(), "-1");
  EXPECT_EQ(IntOrString("25%").ToString(), "25%");
  EXPECT_LT(IntOrString(9), IntOrString(10));
  EXPECT_LT(IntOrString(9), IntOrString("1"));
}

}  // namespace
}  // namespace kopp::k8s
