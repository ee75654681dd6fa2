#pragma once

#include <charconv>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace kopp::detail {

/// Returns the choice with the name `value`. Throws std::invalid_argument with all names.
template <typename T>
[[nodiscard]] T ParseChoice(const std::string& value,
                            std::initializer_list<std::pair<std::string_view, T>> choices) {
  std::string names;
  for (const auto& [name, choice] : choices) {
    if (value == name) return choice;
    const bool is_last = &name == &(choices.end() - 1)->first;
    if (!names.empty()) names += is_last ? " or " : ", ";
    names += name;
  }
  throw std::invalid_argument("write " + names);
}

/// Returns a whole number of at least `minimum`. Throws std::invalid_argument with `advice`.
[[nodiscard]] inline int ParseCount(const std::string& value, int minimum,
                                    const std::string& advice) {
  int number = 0;
  const char* const end = value.data() + value.size();
  const auto [parsed_end, error] = std::from_chars(value.data(), end, number);
  if (error == std::errc() && parsed_end == end && number >= minimum) return number;
  throw std::invalid_argument(advice);
}

}  // namespace kopp::detail
