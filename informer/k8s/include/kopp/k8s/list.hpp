#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include <kopp/informer/fields.hpp>

namespace kopp::k8s {

/// A std::vector of structs that is fast to compile: the functions that construct, copy and destroy
/// it are compiled once, in the library. Those of a std::vector, and with them the copies of the
/// structs, are compiled in each source file that constructs an object.
///
/// Has all functions of std::vector, and may be passed as a `std::vector<T>&`. A std::vector
/// converts to it; a move in either direction does not copy the values. As thread-safe as
/// std::vector.
template <typename T>
class List : public std::vector<T> {
 public:
  using std::vector<T>::vector;

  List() noexcept;
  List(std::initializer_list<T> values);
  List(std::vector<T> values);  // NOLINT(google-explicit-constructor): the same values
  List(const List& other);
  List(List&& other) noexcept;
  List& operator=(std::initializer_list<T> values);
  List& operator=(const List& other);
  List& operator=(List&& other) noexcept;
  ~List();
};

// The functions stand outside the class, so that they are not inline. A program that declares
// `extern template class List<T>` does not compile them again.

template <typename T>
List<T>::List() noexcept = default;

template <typename T>
List<T>::List(std::initializer_list<T> values) : std::vector<T>(values) {}

template <typename T>
List<T>::List(std::vector<T> values) : std::vector<T>(std::move(values)) {}

template <typename T>
List<T>::List(const List& other) = default;

template <typename T>
List<T>::List(List&& other) noexcept = default;

template <typename T>
List<T>& List<T>::operator=(std::initializer_list<T> values) {
  std::vector<T>::operator=(values);
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
