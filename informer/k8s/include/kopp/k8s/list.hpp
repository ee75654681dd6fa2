#pragma once

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

#include <kopp/informer/fields.hpp>

namespace kopp::k8s {

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

  List() noexcept;  // NOLINTEND(readability-identifier-naming)
  List(std::initializer_list<T> values);
  List(std::vector<T> values);  // NOLINT(google-explicit-constructor): the same values
  template <std::input_iterator Iterator>
  List(Iterator first, Iterator last) : values_(first, last) {}
  List(const List& other);
  List(List&& other) noexcept;
  List& operator=(std::initializer_list<T> values);
  List& operator=(const List& other);
  List& operator=(List&& other) noexcept;
  ~List();

  // NOLINTBEGIN(google-explicit-constructor): the same values
  operator std::vector<T>&() & { return values_; }
  operator const std::vector<T>&() const& { return values_; }
  operator std::vector<T>&&() && { return std::move(values_); }
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] T& operator[](std::size_t index) { return values_[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return values_[index]; }
  [[nodiscard]] T& at(std::size_t index) { return values_.at(index); }
  [[nodiscard]] const T& at(std::size_t index) const { return values_.at(index); }
  [[nodiscard]] T* data() { return values_.data(); }
  [[nodiscard]] const T* data() const { return values_.data(); }
  [[nodiscard]] T& front() { return values_.front(); }
  [[nodiscard]] const T& front() const { return values_.front(); }
  [[nodiscard]] T& back() { return values_.back(); }
  [[nodiscard]] const T& back() const { return values_.back(); }
  [[nodiscard]] iterator begin() { return values_.begin(); }
  [[nodiscard]] iterator end() { return values_.end(); }
  [[nodiscard]] const_iterator begin() const { return values_.begin(); }
  [[nodiscard]] const_iterator end() const { return values_.end(); }

  void push_back(T value) { values_.push_back(std::move(value)); }
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    return values_.emplace_back(std::forward<Args>(args)...);
  }
  iterator insert(const_iterator position, T value) {
    return values_.insert(position, std::move(value));
  }
  iterator erase(const_iterator position) { return values_.erase(position); }
  iterator erase(const_iterator first, const_iterator last) { return values_.erase(first, last); }
  void pop_back() { values_.pop_back(); }
  void clear() { values_.clear(); }
  void reserve(std::size_t capacity) { values_.reserve(capacity); }
  void resize(std::size_t size) { values_.resize(size); }

  friend bool operator==(const List& a, const List& b) { return a.values_ == b.values_; }

 private:
  std::vector<T> values_;
};

// The functions stand outside the class, so that they are not inline. A program that declares
// `extern template class List<T>` does not compile them again.

template <typename T>
List<T>::List() noexcept = default;

template <typename T>
List<T>::List(std::initializer_list<T> values) : values_(values) {}

template <typename T>
List<T>::List(std::vector<T> values) : values_(std::move(values)) {}

template <typename T>
List<T>::List(const List& other) = default;

template <typename T>
List<T>::List(List&& other) noexcept = default;

template <typename T>
List<T>& List<T>::operator=(std::initializer_list<T> values) {
  values_ = values;
  return *this;
}

template <typename T>
List<T>& List<T>::operator=(const List& other) = default;

template <typename T>
List<T>& List<T>::operator=(List&& other) noexcept = default;

template <typename T>
List<T>::~List() = default;

}  // namespace kopp::k8s

namespace kopp::detail {

template <typename T>
constexpr bool kIsVector<k8s::List<T>> = true;

}  // namespace kopp::detail
