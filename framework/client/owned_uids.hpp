#pragma once

#include "client/lru_map.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <kopp/informer/object.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::detail {

/// The uids of objects that an owner controls, as far as clients have seen them and no cache knows
/// them. Bounded: forgets the object that was used least recently. Thread-safe.
///
/// Objects are identified by a hash, to need little memory. If two have the same hash, the wrong
/// uid is found for one of them; a write with it is rejected by the API server.
class OwnedUids {
 public:
  [[nodiscard]] std::optional<std::string> Find(const Kind& kind, const ObjectKey& key,
                                                std::string_view owner_uid) {
    const std::size_t hash = HashOf(kind, key, owner_uid);
    auto uids = uids_.Lock();
    const std::string* const uid = uids->Find(hash);
    return uid != nullptr ? std::optional(*uid) : std::nullopt;
  }
  void Set(const Kind& kind, const ObjectKey& key, std::string_view owner_uid, std::string uid) {
    const std::size_t hash = HashOf(kind, key, owner_uid);
    uids_.Lock()->GetOr(hash, [] { return std::string(); }) = std::move(uid);
  }

 private:
  static constexpr std::size_t kCapacity = 16384;  // about 2 MiB

  static std::size_t HashOf(const Kind& kind, const ObjectKey& key, std::string_view owner_uid) {
    std::string text;
    for (const std::string_view part :
         {kind.group(), kind.plural, std::string_view(key.ns), std::string_view(key.name)}) {
      text.append(part).append("/");
    }
    return std::hash<std::string>()(text.append(owner_uid));
  }

  Guarded<LruMap<std::size_t, std::string>> uids_{kCapacity};
};

}  // namespace kopp::detail
