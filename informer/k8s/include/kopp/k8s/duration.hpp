#pragma once

#include <chrono>
#include <compare>
#include <string>
#include <string_view>

#include <kopp/workqueue/clock.hpp>

namespace kopp::k8s {

/// A duration in the format of Go: "1h30m0s", "1.5s", "300ms". Go: metav1.Duration.
class Duration {
 public:
  /// Zero.
  Duration() = default;
  template <typename Rep, typename Period>
  Duration(std::chrono::duration<Rep, Period> duration) : duration_(duration) {}  // NOLINT

  /// Parses the syntax of Go's time.ParseDuration: "300ms", "1h2m3.5s", "-1s", "0". The units are
  /// ns, us, ms, s, m and h. Fractions of a nanosecond are dropped. Throws std::invalid_argument,
  /// also for more than 292 years.
  [[nodiscard]] static Duration Parse(std::string_view text);
  /// Returns the text of Go's Duration.String: "1h30m0s", "1.5s", "2µs", "0s".
  [[nodiscard]] std::string ToString() const;
  [[nodiscard]] kopp::Duration duration() const { return duration_; }

  friend auto operator<=>(const Duration&, const Duration&) = default;

 private:
  kopp::Duration duration_{};
};

// See kopp::detail::HasJsonForm.
void KoppDecode(std::string_view json, Duration& value);
[[nodiscard]] std::string KoppEncode(const Duration& value);
/// The schema of a field of this type in a CustomResourceDefinition.
constexpr std::string_view KoppSchema(const Duration*) { return R"({"type":"string"})"; }
[[nodiscard]] inline bool KoppIsEmpty(const Duration& /*value*/) { return false; }

}  // namespace kopp::k8s
