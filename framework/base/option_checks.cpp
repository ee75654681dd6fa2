#include "base/option_checks.hpp"

#include "base/duration.hpp"
#include "base/quoted.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace kopp::detail {
namespace {

[[noreturn]] void Reject(std::string_view option, std::string_view value, std::string_view rule) {
  throw std::invalid_argument(
      std::string(option).append(" is ").append(value).append(": ").append(rule));
}

}  // namespace

void RequireNotNegative(std::string_view option, Duration value) {
  if (value < Duration::zero()) Reject(option, FormatDuration(value), "it must not be negative");
}

void RequirePositive(std::string_view option, Duration value) {
  if (value <= Duration::zero())
    Reject(option, FormatDuration(value), "it must be longer than zero");
}

void RequireFieldManager(std::string_view option, std::string_view value) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (!value.empty() && value.size() <= kMaxFieldManager && std::ranges::none_of(value, is_control))
    return;
  Reject(option, Quoted(value),
         "a field manager has 1 to " + std::to_string(kMaxFieldManager) + " printable characters");
}

void RequirePositive(std::string_view option, std::size_t limit) {
  if (limit == 0) {
    throw std::invalid_argument(std::string(option).append(" is 0: it must be at least 1"));
  }
}

}  // namespace kopp::detail
