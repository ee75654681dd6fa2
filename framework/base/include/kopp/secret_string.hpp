#pragma once

#include <concepts>
#include <string_view>
#include <vector>

#include <string.h>

namespace kopp {

/// A credential: a token, a password or a private key. It cannot be printed or logged by accident,
/// because it has no stream operator and converts to text only through Reveal. Its memory is
/// zeroed on destruction, assignment and clear. It does not erase copies that other code has made
/// of the text.
///
///     config.token = "s3cret";           // from any string
///     Use(config.token.Reveal());        // returns the text
///
/// A copy is zeroed separately. A moved-from object is empty. Distinct objects may be used by
/// different threads.
class SecretString {
 public:
  SecretString() = default;
  template <std::convertible_to<std::string_view> Text>
  SecretString(const Text& text) {  // NOLINT: implicit, so that assignments from strings are easy
    const std::string_view view = text;
    bytes_.assign(view.begin(), view.end());
  }
  SecretString(const SecretString&) = default;
  SecretString(SecretString&&) noexcept = default;
  SecretString& operator=(SecretString other) noexcept {
    bytes_.swap(other.bytes_);
    return *this;
  }
  ~SecretString() {
    if (!bytes_.empty()) ::explicit_bzero(bytes_.data(), bytes_.size());
  }

  /// Returns the credential itself, valid until this object changes. Do not log it.
  [[nodiscard]] std::string_view Reveal() const { return {bytes_.data(), bytes_.size()}; }

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  void clear() { *this = SecretString(); }

  friend bool operator==(const SecretString&, const SecretString&) = default;

 private:
  std::vector<char> bytes_;  // not std::string, which would leave short texts behind in a move
};

}  // namespace kopp
