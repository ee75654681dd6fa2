#include "quantity.hpp"

#include <string>

#include <gtest/gtest.h>

namespace kopp::apiserver {
namespace {

/// An amount as it is sent and as it is shown; a real kube-apiserver 1.34 said so.
struct Amount {
  std::string test{};
  std::string sent{};
  std::string shown{};

  friend void PrintTo(const Amount& amount, std::ostream* out) { *out << amount.sent; }
};

class QuantityTest : public ::testing::TestWithParam<Amount> {};

TEST_P(QuantityTest, HasOneForm) {
  EXPECT_EQ(Quantity(GetParam().sent).ToText(), GetParam().shown);
}

const Amount amounts[] = {
    {"Number", "1", "1"},
    {"Zero", "0Gi", "0"},
    {"Fraction", "0.5", "500m"},
    {"Thousandths", "1500m", "1500m"},
    {"ThousandthsThatAreWhole", "2000m", "2"},
    {"Thousands", "1000k", "1M"},
    {"BinaryThatIsNext", "1024Mi", "1Gi"},
    {"BinaryThatIsNot", "1000Ki", "1000Ki"},
    {"BinaryFraction", "1.5Gi", "1536Mi"},
    {"BinaryBelowAThousand", "0.5Ki", "512"},
    {"Exponent", "12e6", "12e6"},
    {"ExponentThatIsNoMultipleOfThree", "1e4", "10e3"},
    {"Negative", "-1500m", "-1500m"},
    {"TooFine", "0.1n", "1n"},
    {"TooFineForAnyExponent", "1e-2000000000", "1e-9"},
    {"NothingByAnyExponent", "0e2000000000", "0"},
    {"DigitsOfNoWeight", "1.00000000000000000000000000000000000000000000000000", "1"},
    {"DigitsBehindABillionth", "1.000000000" + std::string(60, '1'), "1000000001n"},
};
INSTANTIATE_TEST_SUITE_P(, QuantityTest, ::testing::ValuesIn(amounts),
                         [](const auto& amount) { return amount.param.test; });

TEST(QuantityOrderTest, WhatIsMoreThanTheMostIsTheMost) {
  const Quantity most("9223372036854775807");

  EXPECT_EQ(Quantity(std::string(60, '9')), most);
  EXPECT_EQ(Quantity("1e2000000000"), most);
  EXPECT_EQ(Quantity(std::string(30, '9') + "Ei"), most);
  EXPECT_EQ(Quantity('1' + std::string(60, '0') + "e-60"), Quantity("1"));
}

TEST(QuantityOrderTest, IsThatOfTheAmounts) {
  EXPECT_LT(Quantity("999m"), Quantity("1"));
  EXPECT_LT(Quantity("1G"), Quantity("1Gi"));
  EXPECT_EQ(Quantity("1Gi"), Quantity("1024Mi"));
  EXPECT_TRUE(Quantity("-1").IsNegative());
}

}  // namespace
}  // namespace kopp::apiserver
