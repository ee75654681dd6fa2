#pragma once

#include <iostream>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace kopp::proof {

/// Tries `property` with many generated arguments, and fails the test with the smallest ones for
/// which it does not hold. Prints the seed either way: RC_PARAMS="seed=…" runs the same again.
template <typename Property>
void ExpectHolds(Property&& property) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess *= 5;  // they are quick
  const auto& test = *::testing::UnitTest::GetInstance()->current_test_info();
  const rc::detail::TestMetadata metadata{.id = std::string(test.name()),
                                          .description = std::string(test.name())};
  std::cout << "seed " << params.seed << "\n";
  const auto result = rc::detail::checkTestable(std::forward<Property>(property), metadata, params);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream what;
  rc::detail::printResultMessage(result, what);
  ADD_FAILURE() << what.str();
}

}  // namespace kopp::proof
