#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include <kopp/workqueue/item_hash.hpp>

namespace kopp {

/// The namespace and name of an object, which identify it among the objects of its kind.
/// Controllers queue these keys. Go: cache.ObjectName in client-go, types.NamespacedName in
/// apimachinery and reconcile.Request in controller-runtime.
struct ObjectKey {
  std::string ns;  ///< the namespace; empty for cluster-scoped objects
  std::string name;

  /// Returns "ns/name", or "name" without a namespace.
  [[nodiscard]] std::string ToString() const { return ns.empty() ? name : ns + "/" + name; }

  /// Parses the output of ToString. Throws std::invalid_argument if the text has more than one
  /// slash or the name is empty.
  static ObjectKey Parse(std::string_view text);

  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

/// Writes ToString().
std::ostream& operator<<(std::ostream& out, const ObjectKey& key);

}  // namespace kopp

template <>
struct std::hash<kopp::ObjectKey> {
  std::size_t operator()(const kopp::ObjectKey& key) const noexcept {
    const std::size_t ns = std::hash<std::string>{}(key.ns);
    return std::hash<std::string>{}(key.name) ^
           (ns + 0x9e3779b97f4a7c15U + (ns << 6U) + (ns >> 2U));
  }
};

template <>
struct kopp::workqueue::ItemHash<kopp::ObjectKey> {
  std::uint64_t operator()(const ObjectKey& key, std::uint64_t seed) const {
    return HashBytes(key.name, HashBytes(key.ns, seed));
  }
};
