#pragma once

#include <optional>
#include <string>

namespace kopp::schema {

/// The parts of a URL that Go's package net/url finds, without escapes.
struct GoUrl {
  std::string scheme{};               ///< in lower case
  std::optional<std::string> user{};  ///< "NAME" or "NAME:PASSWORD", with Go's escapes
  std::string host{};                 ///< with the port
  std::string query{};                ///< as it was
  std::string fragment{};
};

/// Parses a URL as Go's url.Parse does: it may be relative. Throws std::invalid_argument with Go's
/// message.
[[nodiscard]] GoUrl ParseGoUrl(const std::string& text);

}  // namespace kopp::schema
