#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopp::apiserver {

/// What stands behind the '?' of a target, decoded.
class Query {
 public:
  Query() = default;
  explicit Query(std::string_view text);

  /// The first value of that name; "" where there is none.
  [[nodiscard]] std::string Get(std::string_view name) const;
  [[nodiscard]] bool Has(std::string_view name) const { return values_.contains(name); }
  /// As Go's clients write it: "true", "1" and no value at all are true.
  [[nodiscard]] bool IsTrue(std::string_view name) const;
  /// The first value of that name as a number. Throws a refusal where it is none.
  [[nodiscard]] std::int64_t Integer(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> All(std::string_view name) const;

 private:
  std::multimap<std::string, std::string, std::less<>> values_;
};

/// A path below /api or /apis, in its parts:
///
///     /apis/GROUP/VERSION[/namespaces/NS]/PLURAL[/NAME[/SUBRESOURCE]]
struct Target {
  std::vector<std::string> parts{};  ///< of the path, decoded
  Query query{};
  std::string path{};
  std::string text{};           ///< as it was sent
  bool has_empty_part = false;  ///< "//"

  bool is_resource = false;  ///< it names one: the rest is set
  std::string group{};
  std::string version{};
  std::string ns{};
  std::string plural{};
  std::string name{};
  std::string subresource{};
  bool watch_prefix = false;  ///< …/VERSION/watch/…, as of old
};

[[nodiscard]] Target ParseTarget(std::string_view text);

/// The reverse of percent-encoding; what is no encoding stays as it is, and what is no UTF-8
/// becomes U+FFFD.
[[nodiscard]] std::string PercentDecoded(std::string_view text, bool plus_is_space);

}  // namespace kopp::apiserver
