#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include <string.h>

namespace kopp::detail {

/// A serialized request. Its memory is zeroed before it is freed, because it may have credentials.
class RequestBytes {
 public:
  RequestBytes() { bytes_.reserve(kInitialCapacity); }
  RequestBytes(RequestBytes&&) noexcept = default;  // the capacity exceeds that of a short string
  RequestBytes(const RequestBytes&) = delete;
  RequestBytes& operator=(const RequestBytes&) = delete;
  RequestBytes& operator=(RequestBytes&&) = delete;
  ~RequestBytes() { Zero(bytes_); }

  void Append(std::initializer_list<std::string_view> parts) {
    std::size_t size = bytes_.size();
    for (const std::string_view part : parts) size += part.size();
    if (size > bytes_.capacity()) Grow(size);
    for (const std::string_view part : parts) bytes_.append(part);
  }

  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kInitialCapacity = 2048;

  static void Zero(std::string& bytes) { ::explicit_bzero(bytes.data(), bytes.size()); }

  void Grow(std::size_t size) {
    std::string bigger;
    bigger.reserve(2 * size);
    bigger.append(bytes_);
    bytes_.swap(bigger);
    Zero(bigger);
  }

  std::string bytes_;
};

}  // namespace kopp::detail
