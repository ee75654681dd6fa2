#include "base/duration.hpp"

#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include <kopp/k8s/duration.hpp>

namespace kopp::detail {

std::optional<Duration> ParseDuration(std::string_view text) {
  try {
    return k8s::Duration::Parse(text).duration();
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

std::string FormatDuration(Duration duration) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 6> kUnits{{{3'600'000'000'000, "h"},
                                                                        {60'000'000'000, "m"},
                                                                        {1'000'000'000, "s"},
                                                                        {1'000'000, "ms"},
                                                                        {1'000, "us"},
                                                                        {1, "ns"}}};
  if (duration == Duration::zero()) return "0s";
  std::string text = duration < Duration::zero() ? "-" : "";
  std::int64_t rest = duration.count();
  for (const auto& [unit, name] : kUnits) {
    const std::int64_t count = rest / unit;
    rest %= unit;
    if (count != 0) text += std::to_string(count < 0 ? -count : count) + name;
  }
  return text;
}

}  // namespace kopp::detail
