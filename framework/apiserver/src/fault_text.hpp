#pragma once

#include <string>
#include <string_view>

#include <kopp/testing/fault.hpp>

namespace kopp::apiserver {

/// Whether such a fault can befall requests of that verb, or the watches that they begin.
[[nodiscard]] bool CanBefall(testing::Fault::What what, std::string_view verb);

/// What is wrong with a fault, as text for who wrote it; empty: nothing.
[[nodiscard]] std::string ProblemOf(const testing::Fault& fault);

}  // namespace kopp::apiserver
