#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace kopp::detail {

/// A std::unique_ptr<T> for the private members of public classes. GCC needs 1.5 MB and several
/// milliseconds for each instance of the one in the standard library, in each source of a program.
/// `T` may be incomplete where the pointer is declared.
template <typename T>
class OwnedPtr {
 public:
  OwnedPtr() = default;
  OwnedPtr(std::nullptr_t) {}  // NOLINT: intentionally implicit, as in std::unique_ptr
  template <typename U>
    requires(!std::is_array_v<U>)
  OwnedPtr(
      std::unique_ptr<U> other) noexcept  // NOLINT: intentionally implicit, as in std::unique_ptr
      : pointer_(other.release()) {}
  OwnedPtr(OwnedPtr&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  OwnedPtr& operator=(OwnedPtr&& other) noexcept {
    Delete(std::exchange(pointer_, std::exchange(other.pointer_, nullptr)));
    return *this;
  }
  OwnedPtr(const OwnedPtr&) = delete;
  OwnedPtr& operator=(const OwnedPtr&) = delete;
  ~OwnedPtr() { Delete(pointer_); }

  [[nodiscard]] T* get() const { return pointer_; }
  [[nodiscard]] T& operator*() const { return *pointer_; }
  [[nodiscard]] T* operator->() const { return pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }
  friend bool operator==(const OwnedPtr& pointer, std::nullptr_t) { return !pointer; }
  void reset() { *this = OwnedPtr(); }

 private:
  static void Delete(T* pointer) {  // NOLINTNEXTLINE(bugprone-sizeof-expression)
    static_assert(sizeof(T) > 0, "the type must be complete where its owner is destroyed");
    delete pointer;
  }

  T* pointer_ = nullptr;
};

}  // namespace kopp::detail
