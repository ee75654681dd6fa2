#pragma once

#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kopp {

/// A std::map or std::vector whose decoded values share memory: the labels of all Pods of a
/// Deployment are stored once. It has the usual functions of the container and converts to it.
///
/// Iterators and const functions only read. The other functions first make a private copy if the
/// value is shared, so a change never affects another object. Changes invalidate iterators and
/// references. As thread-safe as the container.
///
/// Views may use it for their own members. There are instances for the containers below.
template <typename Container>
class Interned {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the names of the standard containers
  using container_type = Container;
  using value_type = typename Container::value_type;
  using size_type = typename Container::size_type;
  using const_iterator = typename Container::const_iterator;
  using iterator = const_iterator;
  using const_reference = const value_type&;
  using reference = const_reference;
  // NOLINTEND(readability-identifier-naming)

  Interned() = default;
  Interned(Container value) {  // NOLINT: intentionally implicit
    if (!value.empty()) Mutable() = std::move(value);
  }
  Interned(std::initializer_list<value_type> values) : Interned(Container(values)) {}
  Interned(const Interned& other) : node_(other.node_) {
    if (node_ && !node_->shared) node_ = std::make_shared<Node>(*node_);
  }
  Interned(Interned&&) noexcept = default;
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): copies before it assigns
  Interned& operator=(const Interned& other) { return *this = Interned(other); }
  Interned& operator=(Interned&&) noexcept = default;
  ~Interned() = default;

  /// Returns `value`, in memory that is shared with all equal values that the calling thread has
  /// interned and that still exist. Decoding uses it.
  [[nodiscard]] static Interned Intern(Container value);

  [[nodiscard]] const Container& get() const { return node_ ? node_->value : Empty(); }
  operator const Container&() const { return get(); }  // NOLINT: intentionally implicit
  /// Returns the container for a change. The reference is valid until this object is assigned to,
  /// moved from or destroyed.
  Container& Mutable() {
    if (!node_) {
      node_ = std::make_shared<Node>();
    } else if (node_->shared) {
      node_ = std::make_shared<Node>(Node{node_->value, false});
    }
    return node_->value;
  }

  [[nodiscard]] const_iterator begin() const { return get().begin(); }
  [[nodiscard]] const_iterator end() const { return get().end(); }
  [[nodiscard]] size_type size() const { return get().size(); }
  [[nodiscard]] bool empty() const { return get().empty(); }
  void clear() { node_.reset(); }

  // The functions of Container with these names. Those that a Container does not have do not
  // compile.
  template <typename Key>
  [[nodiscard]] decltype(auto) at(const Key& key) const {
    return get().at(key);
  }
  template <typename Key>
  [[nodiscard]] decltype(auto) at(const Key& key) {
    return Mutable().at(key);
  }
  template <typename Key>
  decltype(auto) operator[](Key&& key) {
    return Mutable()[std::forward<Key>(key)];  // NOLINT(clang-diagnostic-sign-conversion)
  }
  template <typename Key>
  decltype(auto) operator[](const Key& key) const {
    return get()[key];  // NOLINT(clang-diagnostic-sign-conversion)
  }
  template <typename Key>
  [[nodiscard]] const_iterator find(const Key& key) const {
    return get().find(key);
  }
  template <typename Key>
  [[nodiscard]] bool contains(const Key& key) const {
    return get().contains(key);
  }
  template <typename Key>
  [[nodiscard]] size_type count(const Key& key) const {
    return get().count(key);
  }
  [[nodiscard]] const_reference front() const { return get().front(); }
  [[nodiscard]] const_reference back() const { return get().back(); }
  void push_back(value_type value) { Mutable().push_back(std::move(value)); }
  template <typename... Args>
  decltype(auto) emplace_back(Args&&... args) {
    return Mutable().emplace_back(std::forward<Args>(args)...);
  }
  template <typename... Args>
  bool emplace(Args&&... args) {
    return Mutable().emplace(std::forward<Args>(args)...).second;
  }
  template <typename Key, typename Value>
  void insert_or_assign(Key&& key, Value&& value) {
    Mutable().insert_or_assign(std::forward<Key>(key), std::forward<Value>(value));
  }
  template <typename Key>
  size_type erase(const Key& key) {
    return Mutable().erase(key);
  }

  friend bool operator==(const Interned& a, const Interned& b) {
    return a.node_ == b.node_ || a.get() == b.get();
  }
  friend bool operator==(const Interned& a, const Container& b) { return a.get() == b; }

 private:
  class Pool;
  struct Node {
    Container value;
    bool shared = false;  // interned: never changes again
  };

  static const Container& Empty() {
    static const Container empty;
    return empty;
  }

  std::shared_ptr<Node> node_;  // null: empty
};

/// Labels and annotations.
using StringMap = Interned<std::map<std::string, std::string>>;
/// Finalizers.
using StringList = Interned<std::vector<std::string>>;

}  // namespace kopp
