#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include <kopp/informer/fields.hpp>

namespace kopp::k8s {

/// Owns the values of a List. A program that declares `extern template class ListValues<T>` does
/// not compile its functions again: they stand outside the class, so that they are not inline.
template <typename T>
class ListValues {
 public:
  ListValues() noexcept;
  explicit ListValues(std::vector<T> values);
  ListValues(const ListValues& other);
  ListValues(ListValues&& other) noexcept;
  ListValues& operator=(const ListValues& other);
  ListValues& operator=(ListValues&& other) noexcept;
  ~ListValues();

  [[nodiscard]] std::vector<T>& get() { return values_; }
  [[nodiscard]] const std::vector<T>& get() const { return values_; }

 private:
  std::vector<T> values_;
};

template <typename T>
ListValues<T>::ListValues() noexcept = default;

template <typename T>
ListValues<T>::ListValues(std::vector<T> values) : values_(std::move(values)) {}

template <typename T>
ListValues<T>::ListValues(const ListValues& other) = default;

template <typename T>
ListValues<T>::ListValues(ListValues&& other) noexcept = default;

template <typename T>
ListValues<T>& ListValues<T>::operator=(const ListValues& other) = default;

template <typename T>
ListValues<T>& ListValues<T>::operator=(ListValues&& other) noexcept = default;

template <typename T>
ListValues<T>::~ListValues() = default;

/// A list of structs that is fast to compile: the functions that construct, copy and destroy it are
/// compiled once, in the library. Those of a std::vector, and with them the copies of the structs,
/// are compiled in each source file that constructs an object.
///
/// Has functions of std::vector with the same meaning. Converts from a std::vector and to a
/// reference to one; a move in either direction does not copy the structs. As thread-safe as
/// std::vector.
template <typename T>
class List {
 public:
  using Values = std::vector<T>;
  using value_type = T;  // NOLINTBEGIN(readability-identifier-naming): as in std::vector
  using size_type = typename Values::size_type;
  using difference_type = typename Values::difference_type;
  using reference = T&;
  using const_reference = const T&;
  using iterator = typename Values::iterator;
  using const_iterator = typename Values::const_iterator;
  // NOLINTEND(readability-identifier-naming)

  List() = default;
  List(std::initializer_list<T> values) : values_(Values(values)) {}
  List(Values values)  // NOLINT(google-explicit-constructor): the same values
      : values_(std::move(values)) {}
  template <std::input_iterator Iterator>
  List(Iterator first, Iterator last) : values_(Values(first, last)) {}

  // NOLINTBEGIN(google-explicit-constructor): the same values
  operator Values&() & { return values_.get(); }
  operator const Values&() const& { return values_.get(); }
  operator Values&&() && { return std::move(values_.get()); }
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] bool empty() const { return values_.get().empty(); }
  [[nodiscard]] std::size_t size() const { return values_.get().size(); }
  [[nodiscard]] T& operator[](std::size_t index) { return values_.get()[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return values_.get()[index]; }
  [[nodiscard]] T& at(std::size_t index) { return values_.get().at(index); }
  [[nodiscard]] const T& at(std::size_t index) const { return values_.get().at(index); }
  [[nodiscard]] T* data() { return values_.get().data(); }
  [[nodiscard]] const T* data() const { return values_.get().data(); }
  [[nodiscard]] T& front() { return values_.get().front(); }
  [[nodiscard]] const T& front() const { return values_.get().front(); }
  [[nodiscard]] T& back() { return values_.get().back(); }
  [[nodiscard]] const T& back() const { return values_.get().back(); }
  [[nodiscard]] iterator begin() { return values_.get().begin(); }
  [[nodiscard]] iterator end() { return values_.get().end(); }
  [[nodiscard]] const_iterator begin() const { return values_.get().begin(); }
  [[nodiscard]] const_iterator end() const { return values_.get().end(); }

  void push_back(T value) { values_.get().push_back(std::move(value)); }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    return values_.get().emplace_back(std::forward<Args>(args)...);
  }
  iterator insert(const_iterator position, T value) {
    return values_.get().insert(position, std::move(value));
  }
  iterator erase(const_iterator position) { return values_.get().erase(position); }
  iterator erase(const_iterator first, const_iterator last) {
    return values_.get().erase(first, last);
  }
  void pop_back() { values_.get().pop_back(); }
  void clear() { values_.get().clear(); }
  void reserve(std::size_t capacity) { values_.get().reserve(capacity); }
  void resize(std::size_t size) { values_.get().resize(size); }

  friend bool operator==(const List& a, const List& b) {
    return a.values_.get() == b.values_.get();
  }

 private:
  ListValues<T> values_;
};

}  // namespace kopp::k8s

namespace kopp::detail {

template <typename T>
constexpr bool kIsVector<k8s::List<T>> = true;

}  // namespace kopp::detail
