#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

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
    return Find(key, [&](const Entry& entry) { return Policy::KeyOf(entry) == key; });
  }

  /// The same with a comparison of one's own: `matches` returns whether an entry has this key.
  template <typename Matches>
  [[nodiscard]] const Entry* Find(const Key& key, Matches matches) const {
    Node* node = root_.get();
    for (Path path(key); node != nullptr; path.Descend()) {
      node->Prefetch();
      if (node->HasEntry(path.bit())) {
        const Entry& entry = node->entry(path.bit());
        return matches(entry) ? &entry : nullptr;
      }
      if (!node->HasChild(path.bit())) return nullptr;
      node = node->child(path.bit()).get();
    }
    return nullptr;
  }

  /// Returns the entry with this key for a change; creates it if there is none. The caller must
  /// assign an entry with this key to a new entry before it uses the trie again.
  Entry& FindOrCreate(const Key& key, Transaction transaction) {
    NodePtr* node = &root_;
    for (Path path(key);; path.Descend()) {
      const Shape shape = ShapeOf(*node);
      const std::uint32_t bit = path.bit();
      if ((shape.entries & bit) != 0) {
        Own(*node, shape, transaction);
        Entry& entry = (*node)->entry(bit);
        if (Policy::KeyOf(entry) == key) return entry;
        MoveEntryToNewChild(*node, path, transaction);
      } else if ((shape.children & bit) == 0) {
        ++size_;
        Own(*node, {shape.entries | bit, shape.children}, transaction);
        return (*node)->entry(bit);
      } else {
        Own(*node, shape, transaction);
      }
      node = &(*node)->child(bit);
    }
  }

  /// Removes the entry with this key. Requires that there is one.
  void Erase(const Key& key, Transaction transaction) {
    EraseBelow(root_, Path(key), transaction);
    if (--size_ == 0) root_ = {};
  }

  /// Calls `visit` for each entry, in no particular order, until it returns false. Returns false if
  /// `visit` did.
  template <typename Visit>
  bool ForEach(Visit visit) const {
    return root_.get() == nullptr || ForEachBelow(*root_, visit);
  }

 private:
  static constexpr unsigned kBitsPerLevel = 5;  // a node has 32 slots
  static constexpr unsigned kLevelsPerHash = 12;

  class Node;

  /// Shares ownership of a node. Smaller than a std::shared_ptr, which matters for many nodes.
  class NodePtr {
   public:
    NodePtr() = default;
    explicit NodePtr(Node* node) : node_(node) {}
    NodePtr(const NodePtr& other) : node_(other.node_) {
      if (node_ != nullptr) node_->AddReference();
    }
    NodePtr(NodePtr&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    NodePtr& operator=(NodePtr other) noexcept {
      std::swap(node_, other.node_);
      return *this;
    }
    ~NodePtr() {
      if (node_ != nullptr) node_->RemoveReference();
    }
    [[nodiscard]] Node* get() const { return node_; }
    Node& operator*() const { return *node_; }
    Node* operator->() const { return node_; }

   private:
    Node* node_ = nullptr;
  };

  /// The slots of a node that hold an entry, and those that hold a child, as bits. The other slots
  /// are empty.
  struct Shape {
    std::uint32_t entries = 0;
    std::uint32_t children = 0;
    friend bool operator==(const Shape&, const Shape&) = default;
  };

  /// A node: this header, its children and its entries, in one block of memory.
  class Node {
   public:
    /// Creates a node with empty entries and children.
    static NodePtr Create(Shape shape, Transaction transaction) {
      void* const memory =
          ::operator new(sizeof(Node) + CountBits(shape.children) * sizeof(NodePtr) +
                         CountBits(shape.entries) * sizeof(Entry));
      Node* const node = new (memory) Node(shape, transaction);
      std::uninitialized_value_construct_n(node->entries(), node->entry_count());
      std::uninitialized_value_construct_n(node->children(), node->child_count());
      return NodePtr(node);
    }

    void AddReference() { references_.fetch_add(1, std::memory_order_relaxed); }
    void RemoveReference() {
      if (references_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
      std::destroy_n(entries(), entry_count());
      std::destroy_n(children(), child_count());
      this->~Node();
      ::operator delete(this);
    }

    /// Loads the slots together with the header: otherwise the processor loads a slot only after
    /// the header has told where it is.
    void Prefetch() const {
      const char* const memory = reinterpret_cast<const char*>(this);
      for (std::size_t line = 1; line <= kPrefetchedLines; ++line) {
        __builtin_prefetch(memory + line * kCacheLine);
      }
    }

    [[nodiscard]] Shape shape() const { return shape_; }
    [[nodiscard]] Transaction created_by() const { return created_by_; }
    [[nodiscard]] bool HasEntry(std::uint32_t bit) const { return (shape_.entries & bit) != 0; }
    [[nodiscard]] bool HasChild(std::uint32_t bit) const { return (shape_.children & bit) != 0; }
    [[nodiscard]] std::size_t entry_count() const { return CountBits(shape_.entries); }
    [[nodiscard]] std::size_t child_count() const { return CountBits(shape_.children); }
    NodePtr* children() { return reinterpret_cast<NodePtr*>(this + 1); }
    Entry* entries() { return reinterpret_cast<Entry*>(children() + child_count()); }
    /// Requires HasEntry(bit).
    Entry& entry(std::uint32_t bit) { return entries()[CountBits(shape_.entries & (bit - 1))]; }
    /// Requires HasChild(bit).
    NodePtr& child(std::uint32_t bit) { return children()[CountBits(shape_.children & (bit - 1))]; }

   private:
    static_assert(alignof(Entry) <= alignof(NodePtr), "entries follow children without a gap");

    Node(Shape shape, Transaction transaction) : created_by_(transaction), shape_(shape) {}
    static constexpr std::size_t kCacheLine = 64;
    static constexpr std::size_t kPrefetchedLines = 4;  // of about five of a full node

    static std::size_t CountBits(std::uint32_t bits) {
      return static_cast<std::size_t>(std::popcount(bits));
    }

    const Transaction created_by_;
    const Shape shape_;
    std::atomic<std::size_t> references_{1};
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

  static Shape ShapeOf(const NodePtr& node) {
    return node.get() == nullptr ? Shape{} : node->shape();
  }

  /// Makes `node` a node that `transaction` has created, with the given slots. Slots that it had
  /// before keep their content; new slots are empty.
  static void Own(NodePtr& node, Shape shape, Transaction transaction) {
    const bool owned = node.get() != nullptr && node->created_by() == transaction;
    if (owned && node->shape() == shape) return;
    NodePtr next = Node::Create(shape, transaction);
    if (node.get() != nullptr) {
      const Shape before = node->shape();
      Transfer(node->entries(), before.entries, next->entries(), shape.entries, owned);
      Transfer(node->children(), before.children, next->children(), shape.children, owned);
    }
    node = std::move(next);
  }

  /// Moves or copies the items of the slots that both nodes have.
  template <typename T>
  static void Transfer(T* from, std::uint32_t from_bits, T* to, std::uint32_t to_bits, bool move) {
    for (std::uint32_t bits = from_bits | to_bits; bits != 0; bits &= bits - 1) {
      const std::uint32_t bit = bits & ~(bits - 1);
      const bool in_both = (from_bits & to_bits & bit) != 0;
      if (in_both && move) *to = std::move(*from);
      if (in_both && !move) *to = *from;
      if ((from_bits & bit) != 0) ++from;
      if ((to_bits & bit) != 0) ++to;
    }
  }

  /// Requires that `transaction` has created `node`.
  static void MoveEntryToNewChild(NodePtr& node, const Path& path, Transaction transaction) {
    const std::uint32_t bit = path.bit();
    Entry entry = std::move(node->entry(bit));
    const std::uint32_t bit_below = Path(Policy::KeyOf(entry), path.level() + 1).bit();
    const Shape shape = node->shape();
    Own(node, {shape.entries & ~bit, shape.children | bit}, transaction);
    node->child(bit) = Node::Create({bit_below, 0}, transaction);
    node->child(bit)->entry(bit_below) = std::move(entry);
  }

  static void EraseBelow(NodePtr& node, Path path, Transaction transaction) {
    const std::uint32_t bit = path.bit();
    const Shape shape = node->shape();
    if (node->HasEntry(bit)) {
      Own(node, {shape.entries & ~bit, shape.children}, transaction);
      return;
    }
    Own(node, shape, transaction);
    NodePtr& child = node->child(bit);
    path.Descend();
    EraseBelow(child, std::move(path), transaction);
    if (child->entry_count() != 1 || child->child_count() != 0) return;
    Entry last = std::move(*child->entries());
    Own(node, {shape.entries | bit, shape.children & ~bit}, transaction);
    node->entry(bit) = std::move(last);
  }

  template <typename Visit>
  static bool ForEachBelow(Node& node, Visit& visit) {
    for (std::size_t i = 0; i < node.entry_count(); ++i) {
      if (!visit(std::as_const(node.entries()[i]))) return false;
    }
    for (std::size_t i = 0; i < node.child_count(); ++i) {
      if (!ForEachBelow(*node.children()[i], visit)) return false;
    }
    return true;
  }

  NodePtr root_;
  std::size_t size_ = 0;
};

}  // namespace kopp::informer
