#include "json/quantity.hpp"

#include <string>

#include <gtest/gtest.h>

namespace kopp::apiserver {
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
    {"DigitsBelowOneBillionth", "1.000000000" + std::string(60, '1'), "1000000001n"},
};
INSTANTIATE_TEST_SUITE_P(, QuantityTest, ::testing::ValuesIn(quantities),
                         [](const auto& quantity) { return quantity.param.test_name; });

TEST(QuantityOrderTest, QuantitiesAboveTheMaximumAreLimitedToTheMaximum) {
  const Quantity max("9223372036854775807");

  EXPECT_EQ(Quantity(std::string(60, '9')), max);
  EXPECT_EQ(Quantity("1e2000000000"), max);
  EXPECT_EQ(Quantity(std::string(30, '9') + "Ei"), max);
  EXPECT_EQ(Quantity('1' + std::string(60, '0') + "e-60"), Quantity("1"));
}

TEST(QuantityOrderTest, QuantitiesWithDifferentSuffixesCompareByValue) {
  EXPECT_LT(Quantity("999m"), Quantity("1"));
  EXPECT_LT(Quantity("1G"), Quantity("1Gi"));
  EXPECT_EQ(Quantity("1Gi"), Quantity("1024Mi"));
  EXPECT_TRUE(Quantity("-1").IsNegative());
}

}  // namespace
}  // namespace kopp::apiserver
