#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace kopp::informer {

/// A persistent hash table (a hash array mapped trie). A copy takes constant time and shares all
/// nodes with the original. A change copies the few nodes on the path to the changed entry, so the
/// other copies keep their content. Several threads may read a const HashTrie at the same time.
///
/// `Policy` has the types Entry and Key, and the functions
///
///     static Key KeyOf(const Entry& entry);  // may be a view into the entry
///     static std::uint64_t Hash(const Key& key, std::uint64_t seed);
template <typename Policy>
class HashTrie {
 public:
  using Entry = typename Policy::Entry;
  using Key = typename Policy::Key;

  /// Identifies a group of changes. Nodes that were created by a change are changed in place by
  /// later changes with the same number. Use a new number after the trie was copied.
  using Transaction = std::uint64_t;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  /// Returns the entry with this key, or null. The pointer is valid until this trie is changed.
  [[nodiscard]] const Entry* Find(const Key& key) const {
    const Node* node = root_.get();
    for (Path path(key); node != nullptr; path.Descend()) {
      if ((node->entry_bits & path.bit()) != 0) {
        const Entry& entry = node->entries[Rank(node->entry_bits, path.bit())];
        return Policy::KeyOf(entry) == key ? &entry : nullptr;
      }
      if ((node->child_bits & path.bit()) == 0) return nullptr;
      node = node->children[Rank(node->child_bits, path.bit())].get();
    }
    return nullptr;
  }

  /// Returns the entry with this key for a change; creates it if there is none. The caller must
  /// assign an entry with this key to a new entry before it uses the trie again.
  Entry& FindOrCreate(const Key& key, Transaction transaction) {
    std::shared_ptr<Node>* node = &root_;
    for (Path path(key);; path.Descend()) {
      Node& own = Own(*node, transaction);
      if ((own.entry_bits & path.bit()) != 0) {
        Entry& entry = own.entries[Rank(own.entry_bits, path.bit())];
        if (Policy::KeyOf(entry) == key) return entry;
        MoveEntryToNewChild(own, path, transaction);
      } else if ((own.child_bits & path.bit()) == 0) {
        ++size_;
        return Insert(own.entries, own.entry_bits, path.bit(), Entry{});
      }
      node = &own.children[Rank(own.child_bits, path.bit())];
    }
  }

  /// Removes the entry with this key. Requires that there is one.
  void Erase(const Key& key, Transaction transaction) {
    EraseBelow(root_, Path(key), transaction);
    if (--size_ == 0) root_.reset();
  }

  /// Calls `visit` for each entry, in no particular order, until it returns false. Returns false if
  /// `visit` did.
  template <typename Visit>
  bool ForEach(Visit visit) const {
    return root_ == nullptr || ForEachBelow(*root_, visit);
  }

 private:
  static constexpr unsigned kBitsPerLevel = 5;  // a node has 32 slots
  static constexpr unsigned kLevelsPerHash = 12;

  /// A slot of a node is empty, or holds an entry or a child. The bit of the slot in `entry_bits`
  /// or `child_bits` tells which; the vectors have no gaps.
  struct Node {
    Transaction created_by = 0;
    std::uint32_t entry_bits = 0;
    std::uint32_t child_bits = 0;
    std::vector<Entry> entries;
    std::vector<std::shared_ptr<Node>> children;
  };

  /// The slots of a key from the root downwards. When the bits of a hash are used up, the next hash
  /// has another seed, so that any two keys differ in some slot.
  class Path {
   public:
    explicit Path(const Key& key, unsigned level = 0) : key_(key), level_(level) {
      hash_ = Policy::Hash(key_, level_ / kLevelsPerHash);
      hash_ >>= kBitsPerLevel * (level_ % kLevelsPerHash);
    }
    [[nodiscard]] std::uint32_t bit() const { return 1U << (hash_ % (1U << kBitsPerLevel)); }
    [[nodiscard]] unsigned level() const { return level_; }
    void Descend() {
      ++level_;
      hash_ = level_ % kLevelsPerHash == 0 ? Policy::Hash(key_, level_ / kLevelsPerHash)
                                           : hash_ >> kBitsPerLevel;
    }

   private:
    Key key_;
    unsigned level_;
    std::uint64_t hash_;
  };

  /// Returns the index of the slot `bit` in the vector of the slots `bits`.
  static std::size_t Rank(std::uint32_t bits, std::uint32_t bit) {
    return static_cast<std::size_t>(std::popcount(bits & (bit - 1)));
  }

  /// Returns the node for a change: creates or copies it if `transaction` has not created it.
  static Node& Own(std::shared_ptr<Node>& node, Transaction transaction) {
    if (!node) {
      node = std::make_shared<Node>();
    } else if (node->created_by != transaction) {
      node = std::make_shared<Node>(*node);
    }
    node->created_by = transaction;
    return *node;
  }

  /// Inserts without spare capacity, because most nodes never grow again.
  template <typename T>
  static T& Insert(std::vector<T>& items, std::uint32_t& bits, std::uint32_t bit, T item) {
    const std::size_t rank = Rank(bits, bit);
    items.reserve(items.size() + 1);
    bits |= bit;
    return *items.insert(items.begin() + static_cast<std::ptrdiff_t>(rank), std::move(item));
  }

  template <typename T>
  static T Remove(std::vector<T>& items, std::uint32_t& bits, std::uint32_t bit) {
    const std::size_t rank = Rank(bits, bit);
    T removed = std::move(items[rank]);
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(rank));
    bits &= ~bit;
    return removed;
  }

  static void MoveEntryToNewChild(Node& node, const Path& path, Transaction transaction) {
    Entry entry = Remove(node.entries, node.entry_bits, path.bit());
    std::shared_ptr<Node> child;
    Node& own = Own(child, transaction);
    const Path below(Policy::KeyOf(entry), path.level() + 1);
    Insert(own.entries, own.entry_bits, below.bit(), std::move(entry));
    Insert(node.children, node.child_bits, path.bit(), std::move(child));
  }

  static void EraseBelow(std::shared_ptr<Node>& node, Path path, Transaction transaction) {
    Node& own = Own(node, transaction);
    const std::uint32_t bit = path.bit();
    if ((own.entry_bits & bit) != 0) {
      Remove(own.entries, own.entry_bits, bit);
      return;
    }
    auto& child = own.children[Rank(own.child_bits, bit)];
    path.Descend();
    EraseBelow(child, std::move(path), transaction);
    if (child->entries.size() != 1 || !child->children.empty()) return;
    Entry last = std::move(child->entries.front());
    Remove(own.children, own.child_bits, bit);
    Insert(own.entries, own.entry_bits, bit, std::move(last));
  }

  template <typename Visit>
  static bool ForEachBelow(const Node& node, Visit& visit) {
    for (const Entry& entry : node.entries) {
      if (!visit(entry)) return false;
    }
    for (const auto& child : node.children) {
      if (!ForEachBelow(*child, visit)) return false;
    }
    return true;
  }

  std::shared_ptr<Node> root_;
  std::size_t size_ = 0;
};

}  // namespace kopp::informer
