#include <algorithm>
#include <cstdint>
#include <random>

#include <kopp/informer/detail/interned.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/workqueue/item_hash.hpp>

namespace kopp {
namespace {

using workqueue::HashBytes;

std::uint64_t HashValue(const std::string& text, std::uint64_t seed) {
  return HashBytes(text, seed);
}

std::uint64_t HashValue(const std::pair<const std::string, std::string>& entry,
                        std::uint64_t seed) {
  return HashBytes(entry.second, HashBytes(entry.first, seed));
}

std::uint64_t HashValue(const OwnerReference& owner, std::uint64_t seed) {
  return HashBytes(owner.uid, HashBytes(owner.name, seed));
}

}  // namespace

/// The interned values of a thread. Does not keep them in memory.
template <typename Container>
class Interned<Container>::Pool {
 public:
  std::shared_ptr<Node> Intern(Container value) {
    std::uint64_t hash = seed_ ^ value.size();
    for (const auto& element : value) hash = HashValue(element, hash);
    const auto [first, last] = nodes_.equal_range(hash);
    for (auto entry = first; entry != last; ++entry) {
      std::shared_ptr<Node> node = entry->second.lock();
      if (node && node->value == value) return node;
    }
    if (nodes_.size() >= next_cleanup_) RemoveUnusedNodes();
    auto node = std::make_shared<Node>(Node{std::move(value), true});
    nodes_.emplace(hash, node);
    return node;
  }

 private:
  void RemoveUnusedNodes() {
    std::erase_if(nodes_, [](const auto& entry) { return entry.second.expired(); });
    next_cleanup_ = std::max(kMinCleanup, 2 * nodes_.size());
  }

  static constexpr std::size_t kMinCleanup = 64;
  const std::uint64_t seed_ = std::random_device{}();  // prevents hash-flooding attacks
  std::size_t next_cleanup_ = kMinCleanup;
  std::unordered_multimap<std::uint64_t, std::weak_ptr<Node>> nodes_;
};

template <typename Container>
Interned<Container> Interned<Container>::Intern(Container value) {
  Interned interned;
  if (value.empty()) return interned;
  thread_local Pool pool;
  interned.node_ = pool.Intern(std::move(value));
  return interned;
}

template Interned<std::map<std::string, std::string>>
Interned<std::map<std::string, std::string>>::Intern(std::map<std::string, std::string> value);
template Interned<std::vector<std::string>> Interned<std::vector<std::string>>::Intern(
    std::vector<std::string> value);
template Interned<std::vector<OwnerReference>> Interned<std::vector<OwnerReference>>::Intern(
    std::vector<OwnerReference> value);

}  // namespace kopp
