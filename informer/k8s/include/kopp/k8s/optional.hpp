#pragma once

#include <optional>
#include <utility>

#include <kopp/informer/fields.hpp>

namespace kopp::k8s {

/// A struct that may be absent, like a pointer to a struct in Go. It has the functions of
/// std::optional, but keeps its value on the heap: kinds with hundreds of optional structs stay
/// small, and `T` may be incomplete, as in a type that contains itself. A copy copies the value.
/// As thread-safe as std::optional.
///
/// Write `.emptyDir = {{}}` for an empty struct and `.emptyDir = {{.medium = "Memory"}}` for
/// another one: the outer braces are those of the Optional.
template <typename T>
class Optional {
 public:
  using value_type = T;

  Optional() = default;
  Optional(std::nullopt_t) {}  // NOLINT: intentionally implicit, as in std::optional
  Optional(T value);           // NOLINT: intentionally implicit, as in std::optional
  Optional(const Optional& other);
  Optional(Optional&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Optional& operator=(const Optional& other);
  Optional& operator=(Optional&& other) noexcept {
    // Takes the value first: `other` may be a part of the old value.
    T* const old = std::exchange(value_, std::exchange(other.value_, nullptr));
    if (old != nullptr) Delete(old);
    return *this;
  }
  ~Optional() {
    if (value_ != nullptr) Delete(value_);
  }

  [[nodiscard]] bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return value_ != nullptr; }
  /// Requires: has_value().
  [[nodiscard]] const T& operator*() const { return *value_; }
  [[nodiscard]] T& operator*() { return *value_; }
  [[nodiscard]] const T* operator->() const { return value_; }
  [[nodiscard]] T* operator->() { return value_; }
  /// Throws std::bad_optional_access if there is no value.
  [[nodiscard]] const T& value() const {
    return value_ != nullptr ? *value_ : throw std::bad_optional_access();
  }
  /// Replaces the value by a default-constructed one.
  T& emplace();
  void reset() { *this = Optional(); }

  friend bool operator==(const Optional& a, const Optional& b) {
    return a.has_value() == b.has_value() && (!a.has_value() || *a == *b);
  }

 private:
  static void Delete(T* value);

  T* value_ = nullptr;  // owned; a raw pointer, because std::unique_ptr is expensive to compile
};

// The functions that depend on T stand outside the class, so that they are not inline. A program
// that declares `extern template class Optional<T>` does not compile them again.

template <typename T>
Optional<T>::Optional(T value) : value_(new T(std::move(value))) {}

template <typename T>
Optional<T>::Optional(const Optional& other)
    : value_(other.value_ == nullptr ? nullptr : new T(*other.value_)) {}

template <typename T>
Optional<T>& Optional<T>::operator=(const Optional& other) {
  if (this != &other) *this = Optional(other);
  return *this;
}

template <typename T>
T& Optional<T>::emplace() {
  *this = Optional(T{});
  return *value_;
}

template <typename T>
void Optional<T>::Delete(T* value) {
  delete value;
}

}  // namespace kopp::k8s

namespace kopp::detail {

template <typename T>
constexpr bool kIsOptional<k8s::Optional<T>> = true;

}  // namespace kopp::detail
