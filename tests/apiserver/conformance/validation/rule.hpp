#pragma once

#include "conformance.hpp"

#include <ostream>
#include <string>

namespace kopp::conformance {

/// A validation rule of a kind: a value, and how the errors about it start.
struct Rule {
  std::string test_name{};
  std::string value{};   ///< JSON
  std::string errors{};  ///< empty if the value is valid

  friend void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.test_name; }
};

/// Expects that the creation of an object has the errors of the rule.
inline void ExpectErrors(const JsonResponse& created, const Rule& rule) {
  if (rule.errors.empty()) {
    EXPECT_EQ(created.status, 201) << created.message();
    return;
  }
  EXPECT_EQ(created.status, 422);
  EXPECT_THAT(created.message(), ::testing::HasSubstr(" is invalid: " + rule.errors));
}

inline std::string NameOf(const ::testing::TestParamInfo<Rule>& rule) {
  return rule.param.test_name;
}

}  // namespace kopp::conformance
