#include "base/timestamp.hpp"

#include <stdexcept>

#include <kopp/k8s/time.hpp>

namespace kopp::detail {

std::optional<std::chrono::sys_seconds> ParseTimestamp(std::string_view text) {
  try {
    return k8s::Time::Parse(text).time();
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

std::string FormatTimestamp(WallTime time) { return k8s::Time(time).ToString(); }
std::string FormatMicroTime(WallTime time) { return k8s::MicroTime(time).ToString(); }

}  // namespace kopp::detail
