#pragma once

#include <string>

#include <kopp/testing/fault.hpp>

namespace kopp::apiserver {

/// What is wrong with a fault, as text for who wrote it; empty: nothing.
[[nodiscard]] std::string ProblemOf(const testing::Fault& fault);

}  // namespace kopp::apiserver
