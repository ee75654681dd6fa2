#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include <kopp/informer/object.hpp>

namespace kopp {

/// A kind that is only known at run time: a Kind that owns its strings. RestMapper returns it.
///
///     const kopp::KindRef web = mapper.ForResource("deployments.apps").kind;
///     client.Get(web, {"shop", "web"});
///
/// A value type. Several threads may use a const object at the same time.
struct KindRef {
  std::string api_version = {};  ///< "apps/v1", or "v1" for the core group
  std::string kind = {};         ///< "Deployment"
  std::string plural = {};       ///< "deployments"
  Scope scope = Scope::kNamespaced;

  KindRef() = default;
  /// Copies the strings of `other`.
  KindRef(const Kind& other);  // NOLINT(google-explicit-constructor): a Kind is one

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

  friend auto operator<=>(const KindRef&, const KindRef&) = default;
};

/// Writes ToString().
std::ostream& operator<<(std::ostream& out, const KindRef& kind);

}  // namespace kopp

template <>
struct std::hash<kopp::KindRef> {
  /// Kinds that differ only in `kind` or `scope` have the same hash; an API server has no such
  /// kinds.
  std::size_t operator()(const kopp::KindRef& kind) const noexcept {
    const std::size_t version = std::hash<std::string>{}(kind.api_version);
    return std::hash<std::string>{}(kind.plural) ^
           (version + 0x9e3779b97f4a7c15U + (version << 6U) + (version >> 2U));
  }
};
