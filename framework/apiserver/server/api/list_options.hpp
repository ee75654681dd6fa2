#pragma once

#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/selectable_fields.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <kopp/informer/object_key.hpp>
#include <kopp/informer/selector.hpp>

namespace kopp::apiserver {

/// The options of a list or watch request: ListOptions of meta/v1.
struct ListOptions {
  enum class Match { kUnset, kExact, kNotOlderThan };
  bool watch = false;
  LabelSelector label_selector{};
  FieldSelector field_selector{};
  std::int64_t limit = 0;                             ///< no limit if not positive
  std::string continue_token{};                       ///< of the previous page
  std::string resource_version_text{};                ///< as the client sent it
  std::optional<ResourceVersion> resource_version{};  ///< the parsed value, if set
  Match match = Match::kUnset;
  bool allow_bookmarks = false;
  std::optional<bool> send_initial_events{};  ///< whether a watch starts with the existing objects
  std::optional<std::int64_t> timeout{};      ///< time limit of a watch, in seconds

  /// Returns whether an object matches both selectors.
  [[nodiscard]] bool SelectorMatches(const ObjectKey& key,
                                     const ObjectAttributes& attributes) const;
};

/// Parses the query parameters of a request. Throws StatusError, with the same message as
/// kube-apiserver, if a parameter is invalid or conflicts with another one.
[[nodiscard]] ListOptions ReadListOptions(const ServerRequest& request, const Resource& resource);

/// Parses a resourceVersion. Throws std::invalid_argument.
[[nodiscard]] ResourceVersion ParseResourceVersion(const std::string& text);

/// The position at which a paginated list continues.
struct ContinueToken {
  ResourceVersion version = 0;  ///< of the list, or 0 for the newest
  std::string after{};          ///< the last object of the previous page: "NAMESPACE/NAME"
  /// Returns the token in the form that clients receive.
  [[nodiscard]] std::string Encode() const;
};
/// Throws std::invalid_argument, with the same message as kube-apiserver, if `text` is not valid.
[[nodiscard]] ContinueToken DecodeContinueToken(const std::string& text);

}  // namespace kopp::apiserver
