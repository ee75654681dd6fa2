#pragma once

#include "../test_seed.hpp"

#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace kopp::model_checking {

/// Checks `property` with many generated arguments. Reports the smallest arguments for which it
/// fails.
template <typename Property>
void ExpectHolds(Property&& property) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.seed = TestSeed();
  params.maxSuccess *= 5;  // each run is short
  const auto& test = *::testing::UnitTest::GetInstance()->current_test_info();
  const rc::detail::TestMetadata metadata{.id = std::string(test.name()),
                                          .description = std::string(test.name())};
  const auto result = rc::detail::checkTestable(std::forward<Property>(property), metadata, params);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream message;
  rc::detail::printResultMessage(result, message);
  ADD_FAILURE() << message.str();
}

}  // namespace kopp::model_checking
