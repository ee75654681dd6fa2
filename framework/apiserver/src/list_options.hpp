#pragma once

#include "exchange.hpp"
#include "resource.hpp"
#include "selector.hpp"
#include "store.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace kopp::apiserver {

/// What a list or a watch is asked to be.
struct ListOptions {
  enum class Match { kUnset, kExact, kNotOlderThan };
  bool watch = false;
  Selector labels{};
  Selector fields{};
  std::int64_t limit = 0;       ///< none where it is not positive
  std::string token{};          ///< to go on with
  std::string version{};        ///< as it was sent
  std::optional<Version> at{};  ///< the same, read; none where it was left out
  Match match = Match::kUnset;
  bool bookmarks = false;
  std::optional<bool> initial_events{};   ///< of a watch: what is there first, then a bookmark
  std::optional<std::int64_t> timeout{};  ///< of a watch, in seconds

  [[nodiscard]] bool Selects(const ObjectKey& key, const Attributes& attributes) const;
};

/// Throws a Refusal, in the words of the real server, for what cannot be read or does not go
/// together.
[[nodiscard]] ListOptions ReadListOptions(const Ask& ask, const Resource& resource);

/// The version in `text`. Throws std::invalid_argument.
[[nodiscard]] Version ReadVersion(const std::string& text);

/// Where a list goes on: behind which object, and of which time.
struct PageToken {
  Version version = 0;  ///< 0: whatever is the newest
  std::string after{};  ///< "NAMESPACE/NAME"
  [[nodiscard]] std::string ToText() const;
};
/// Throws std::invalid_argument.
[[nodiscard]] PageToken ReadPageToken(const std::string& text);

}  // namespace kopp::apiserver
