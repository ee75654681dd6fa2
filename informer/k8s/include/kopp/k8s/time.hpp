#pragma once

#include <chrono>
#include <compare>
#include <string>
#include <string_view>

namespace kopp::k8s {

/// A point in time with seconds: "2024-01-31T12:00:00Z". Go: metav1.Time.
class Time {
 public:
  /// 1970-01-01T00:00:00Z.
  Time() = default;
  /// Drops fractions of a second.
  template <typename Unit>
  Time(std::chrono::sys_time<Unit> time)  // NOLINT: implicit
      : seconds_(std::chrono::floor<std::chrono::seconds>(time)) {}

  /// Parses RFC 3339 with any time zone; drops fractions of a second. Throws std::invalid_argument.
  [[nodiscard]] static Time Parse(std::string_view text);
  /// Returns RFC 3339 in UTC.
  [[nodiscard]] std::string ToString() const;
  [[nodiscard]] std::chrono::sys_seconds time() const { return seconds_; }

  friend auto operator<=>(const Time&, const Time&) = default;

 private:
  std::chrono::sys_seconds seconds_{};
};

/// A point in time with microseconds: "2024-01-31T12:00:00.000000Z". Go: metav1.MicroTime.
class MicroTime {
 public:
  /// 1970-01-01T00:00:00.000000Z.
  MicroTime() = default;
  /// Drops fractions of a microsecond.
  template <typename Unit>
  MicroTime(std::chrono::sys_time<Unit> time)  // NOLINT: implicit
      : micros_(std::chrono::floor<std::chrono::microseconds>(time)) {}

  /// Parses RFC 3339 with any time zone; drops fractions of a microsecond. Throws
  /// std::invalid_argument.
  [[nodiscard]] static MicroTime Parse(std::string_view text);
  /// Returns RFC 3339 in UTC with six decimal places.
  [[nodiscard]] std::string ToString() const;
  [[nodiscard]] std::chrono::sys_time<std::chrono::microseconds> time() const { return micros_; }

  friend auto operator<=>(const MicroTime&, const MicroTime&) = default;

 private:
  std::chrono::sys_time<std::chrono::microseconds> micros_{};
};

// See kopp::detail::HasJsonForm.
void KoppDecode(std::string_view json, Time& value);
[[nodiscard]] std::string KoppEncode(const Time& value);
/// The schema of a field of this type in a CustomResourceDefinition.
constexpr std::string_view KoppSchema(const Time*) {
  return R"({"type":"string","format":"date-time"})";
}
[[nodiscard]] inline bool KoppIsEmpty(const Time& /*value*/) { return false; }
void KoppDecode(std::string_view json, MicroTime& value);
[[nodiscard]] std::string KoppEncode(const MicroTime& value);
/// The schema of a field of this type in a CustomResourceDefinition.
constexpr std::string_view KoppSchema(const MicroTime*) {
  return R"({"type":"string","format":"date-time"})";
}
[[nodiscard]] inline bool KoppIsEmpty(const MicroTime& /*value*/) { return false; }

}  // namespace kopp::k8s
