#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <kopp/informer/fields.hpp>
#include <kopp/k8s/quantity.hpp>

namespace kopp::k8s {
namespace {

/// A quantity in a request and the canonical form in which kube-apiserver 1.34 returns it.
struct QuantityCase {
  std::string test_name{};
  std::string input{};
  std::string canonical{};

  friend void PrintTo(const QuantityCase& quantity, std::ostream* out) { *out << quantity.input; }
};

class QuantityTest : public ::testing::TestWithParam<QuantityCase> {};

TEST_P(QuantityTest, ToStringReturnsTheCanonicalForm) {
  EXPECT_EQ(Quantity(GetParam().input).ToString(), GetParam().canonical);
}

const QuantityCase quantities[] = {
    {"Number", "1", "1"},
    {"Zero", "0Gi", "0"},
    {"Fraction", "0.5", "500m"},
    {"Thousandths", "1500m", "1500m"},
    {"ThousandthsOfAWholeNumber", "2000m", "2"},
    {"Thousands", "1000k", "1M"},
    {"BinaryMultipleOf1024", "1024Mi", "1Gi"},
    {"BinaryNotAMultipleOf1024", "1000Ki", "1000Ki"},
    {"BinaryFraction", "1.5Gi", "1536Mi"},
    {"BinaryBelow1024", "0.5Ki", "512"},
    {"Exponent", "12e6", "12e6"},
    {"ExponentNotAMultipleOfThree", "1e4", "10e3"},
    {"Negative", "-1500m", "-1500m"},
    {"BelowOneBillionth", "0.1n", "1n"},
    {"VeryLargeNegativeExponent", "1e-2000000000", "1e-9"},
    {"ZeroWithVeryLargeExponent", "0e2000000000", "0"},
    {"ManyTrailingZeros", "1.00000000000000000000000000000000000000000000000000", "1"},
    {"DecimalAboveTheLargestInteger", "12345678901234567890", "12345678901234567890"},
    {"SuffixAboveTheLargestInteger", "100E", "100E"},
    {"FractionAboveTheLargestInteger", "12345678901234567890.5", "12345678901234567890500m"},
    {"ExponentAboveTheLargestInteger", "1e30", "1e30"},
    {"ExponentOf100", "1e100", "10e99"},
    {"ManyDigitsWithAnExponent", "1.7976931348623157e308", "179769313486231570e291"},
    {"NegativeAboveTheLargestInteger", "-100E", "-100E"},
    {"BinaryAboveTheLargestInteger", "8Ei", "9223372036854775807"},
    {"ManyBinaryDigits", std::string(30, '9') + "Ei", "9223372036854775807"},
    {"LargestBinary", "7Ei", "7Ei"},
    {"BinaryFractionThatIsNoInteger", "1.1Gi", "1181116006400m"},
    {"BinaryFractionOfAnInteger", "1.25Ki", "1280"},
    {"BinaryBelowOne", "0.0001Ki", "102400u"},
    {"DigitsBelowOneBillionth", "1.000000000" + std::string(60, '1'), "1000000001n"},
};
INSTANTIATE_TEST_SUITE_P(, QuantityTest, ::testing::ValuesIn(quantities),
                         [](const auto& quantity) { return quantity.param.test_name; });

TEST(QuantityOrderTest, QuantitiesAboveTheLargestIntegerCompareByValue) {
  EXPECT_LT(Quantity("100E"), Quantity("101E"));
  EXPECT_LT(Quantity("100E"), Quantity("1e1000"));
  EXPECT_LT(Quantity("-1e1000"), Quantity("-1e999"));
  EXPECT_LT(Quantity("-1e1000"), Quantity("1n"));
  EXPECT_EQ(Quantity("1000E"), Quantity("1e21"));
  EXPECT_EQ(Quantity('1' + std::string(60, '0') + "e-60"), Quantity("1"));
}

TEST(QuantityOrderTest, QuantitiesWithDifferentSuffixesCompareByValue) {
  EXPECT_LT(Quantity("999m"), Quantity("1"));
  EXPECT_LT(Quantity("1G"), Quantity("1Gi"));
  EXPECT_EQ(Quantity("1Gi"), Quantity("1024Mi"));
  EXPECT_TRUE(Quantity("-1").IsNegative());
}

TEST(QuantityValueTest, ValueAndMilliValueAreRoundedAwayFromZero) {
  EXPECT_EQ(Quantity("1500m").Value(), 2);
  EXPECT_EQ(Quantity("-1500m").Value(), -2);
  EXPECT_EQ(Quantity("1Gi").Value(), 1073741824);
  EXPECT_EQ(Quantity("0.0001").MilliValue(), 1);
  EXPECT_EQ(Quantity("9E").MilliValue(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Quantity("1e100").Value(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Quantity("-1e100").Value(), std::numeric_limits<std::int64_t>::min());
}

TEST(QuantityValueTest, RoundUpRoundsAwayFromZeroAndKeepsTheFormat) {
  const auto rounded = [](const char* text, int power) {
    return Quantity(text).RoundUp(power).ToString();
  };
  EXPECT_EQ(rounded("1200u", -3), "2m");
  EXPECT_EQ(rounded("-1200u", -3), "-2m");
  EXPECT_EQ(rounded("1.0001Gi", -3), "1073849198183m");
  EXPECT_EQ(rounded("1Gi", -3), "1Gi");
  EXPECT_EQ(rounded("1e30", -3), "1e30");
  EXPECT_EQ(rounded("1001", 3), "2k");
  EXPECT_EQ(rounded("1e0", 60), "1e60");
  EXPECT_EQ(rounded("0", 60), "0");
}

TEST(QuantityValueTest, ASumKeepsTheFormatOfTheLeftSideUnlessThatIsZero) {
  EXPECT_EQ((Quantity("512Mi") + Quantity("512Mi")).ToString(), "1Gi");
  EXPECT_EQ((Quantity(1) + Quantity("500m")).ToString(), "1500m");
  EXPECT_EQ((Quantity() + Quantity("2Gi")).ToString(), "2Gi");
  EXPECT_EQ((Quantity("2") - Quantity("500m")).ToString(), "1500m");
}

TEST(QuantityValueTest, ASumIsExactOrFails) {
  EXPECT_EQ((Quantity("9E") + Quantity("1E")).ToString(), "10E");
  EXPECT_EQ((Quantity("1e20") + Quantity("1n")).ToString(), "100000000000000000000000000001e-9");
  EXPECT_EQ((Quantity("1e40") + Quantity("10e39")).ToString(), "20e39");
  EXPECT_EQ((Quantity("1e40") - Quantity("1e40")).ToString(), "0");
  EXPECT_EQ((Quantity("1e40") + Quantity(0)).ToString(), "10e39");
  EXPECT_THROW(Quantity("1e40") + Quantity("1"), std::overflow_error);
}

TEST(QuantityParseTest, TextThatIsNoQuantityIsRejectedWithTheMessageOfTheApiServer) {
  const auto message_for = [](const char* text) -> std::string {
    try {
      return Quantity(text).ToString();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  const std::string format =
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  const std::string suffix = "unable to parse quantity's suffix";
  for (const char* text : {"", "one", "1 Gi", "1.1.1"}) EXPECT_EQ(message_for(text), format);
  for (const char* text : {"1i", "1K", "1e", "1Mi2"}) EXPECT_EQ(message_for(text), suffix);
}

TEST(QuantityParseTest, TextWithMoreThan37DigitsIsRejected) {
  EXPECT_EQ(Quantity(std::string(37, '9')).ToString(), std::string(37, '9'));
  EXPECT_THROW(Quantity(std::string(38, '9')), std::invalid_argument);
  EXPECT_THROW(Quantity("1e2000000000"), std::invalid_argument);
}

struct Amounts {
  Quantity cpu = {};
  std::optional<Quantity> memory = {};
};
KOPP_FIELDS(Amounts, cpu, memory)

TEST(QuantityJsonTest, AQuantityIsDecodedFromAStringOrANumberAndEncodedAsAString) {
  const auto amounts = Decode<Amounts>(R"({"cpu": 2, "memory": "1024Mi"})");
  EXPECT_EQ(amounts.cpu, Quantity("2"));
  EXPECT_EQ(Encode(amounts), R"({"cpu":"2","memory":"1Gi"})");
}

TEST(QuantityJsonTest, AnInvalidQuantityIsADecodeErrorWithThePathOfTheField) {
  EXPECT_THROW((void)Decode<Amounts>(R"({"cpu": true})"), DecodeError);
  try {
    (void)Decode<Amounts>(R"({"cpu": "1K"})");
    FAIL() << "no DecodeError";
  } catch (const DecodeError& error) {
    EXPECT_STREQ(error.what(), "cpu: unable to parse quantity's suffix");
  }
}

}  // namespace
}  // namespace kopp::k8s
