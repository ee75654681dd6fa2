#include "base/option_checks.hpp"

#include "base/duration.hpp"

#include <stdexcept>
#include <string>

namespace kopp::detail {
namespace {

[[noreturn]] void Reject(std::string_view option, Duration value, std::string_view rule) {
  throw std::invalid_argument(
      std::string(option).append(" is ").append(FormatDuration(value)).append(": ").append(rule));
}

}  // namespace

void RequireNotNegative(std::string_view option, Duration value) {
  if (value < Duration::zero()) Reject(option, value, "it must not be negative");
}

void RequirePositive(std::string_view option, Duration value) {
  if (value <= Duration::zero()) Reject(option, value, "it must be longer than zero");
}

void RequirePositive(std::string_view option, std::size_t limit) {
  if (limit == 0) {
    throw std::invalid_argument(std::string(option).append(" is 0: it must be at least 1"));
  }
}

}  // namespace kopp::detail
