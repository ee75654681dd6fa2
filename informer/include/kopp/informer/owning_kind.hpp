#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include <kopp/informer/object.hpp>

namespace kopp {

/// A Kind that owns its strings, for a kind that is only known at run time. RestMapper returns it.
///
///     const kopp::OwningKind deployments = mapper.ForResource("deployments.apps").kind;
///     const auto web = cache.Get(deployments, {"shop", "web"});
///
/// A value type. Several threads may use a const object at the same time.
struct OwningKind {
  std::string api_version = {};  ///< "apps/v1", or "v1" for the core group
  std::string kind = {};         ///< "Deployment"
  std::string plural = {};       ///< "deployments"
  Scope scope = Scope::kNamespaced;

  OwningKind() = default;
  /// Copies the strings of `other`.
  OwningKind(const Kind& other);  // NOLINT(google-explicit-constructor): a Kind is one

  /// Returns a view, which is valid until this object is changed or destroyed. So that it cannot
  /// refer to a temporary object, the conversion of a temporary does not compile: name it first.
  operator Kind() const& {  // NOLINT(google-explicit-constructor): calls take a Kind
    return {api_version, kind, plural, scope};
  }
  operator Kind() const&& = delete;

  /// Returns the API group: "apps", or "" for the core group.
  [[nodiscard]] std::string_view group() const { return Kind{api_version}.group(); }
  /// Returns the version: "v1".
  [[nodiscard]] std::string_view version() const { return Kind{api_version}.version(); }

  /// Returns resource, version and group as kubectl accepts them: "deployments.v1.apps", or
  /// "pods.v1." for the core group. RestMapper::ForResource is the inverse: the text has neither
  /// the kind nor the scope, which only the API server knows.
  [[nodiscard]] std::string ToString() const;

  friend auto operator<=>(const OwningKind&, const OwningKind&) = default;
};

using KindRef [[deprecated("use OwningKind")]] = OwningKind;

/// Writes ToString().
std::ostream& operator<<(std::ostream& out, const OwningKind& kind);

}  // namespace kopp

template <>
struct std::hash<kopp::OwningKind> {
  /// Kinds that differ only in `kind` or `scope` have the same hash; an API server has no such
  /// kinds.
  std::size_t operator()(const kopp::OwningKind& kind) const noexcept {
    const std::size_t version = std::hash<std::string>{}(kind.api_version);
    return std::hash<std::string>{}(kind.plural) ^
           (version + 0x9e3779b97f4a7c15U + (version << 6U) + (version >> 2U));
  }
};
