#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kopp::apiserver {

/// The decoded query parameters of a request target.
class Query {
 public:
  Query() = default;
  explicit Query(std::string_view text);

  /// Returns the first value of a parameter, or "" if there is none.
  [[nodiscard]] std::string Get(std::string_view name) const;
  [[nodiscard]] bool Has(std::string_view name) const { return values_.contains(name); }
  /// Returns whether a parameter is present with a value other than "false" and "0", as in Go
  /// clients.
  [[nodiscard]] bool IsTrue(std::string_view name) const;
  /// Returns the first value of a parameter as a number. Throws StatusError (400) if it is not
  /// valid.
  [[nodiscard]] std::int64_t Integer(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> All(std::string_view name) const;

 private:
  std::multimap<std::string, std::string, std::less<>> values_;
};

/// A parsed request target. RequestInfo of k8s.io/apiserver is its model. Resource paths are:
///
///     /apis/GROUP/VERSION[/namespaces/NS]/PLURAL[/NAME[/SUBRESOURCE]]
struct RequestInfo {
  std::vector<std::string> path_segments{};  ///< decoded, without empty segments
  Query query{};
  std::string path{};
  std::string raw{};               ///< path and query as sent
  bool has_empty_segment = false;  ///< contains "//"

  bool is_resource = false;  ///< whether the path is a resource path and sets the fields below
  std::string group{};
  std::string version{};
  std::string ns{};
  std::string plural{};
  std::string name{};
  std::string subresource{};
  bool watch_prefix = false;  ///< the deprecated form …/VERSION/watch/…
};

/// Parses a request target, that is, a path with an optional query. Never fails.
[[nodiscard]] RequestInfo ParseRequestInfo(std::string_view text);

/// Decodes percent-encoding. Leaves invalid escapes as they are, and replaces invalid UTF-8 by
/// U+FFFD.
[[nodiscard]] std::string PercentDecode(std::string_view text, bool plus_is_space);

}  // namespace kopp::apiserver
