#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace kopp {

/// Thrown if JSON text cannot be decoded. what() starts with the path of the field, if known:
/// `spec.replicas: expected an integer, found a string`.
class DecodeError : public std::runtime_error {
 public:
  /// The kind of error.
  enum class Kind {
    kMalformed,     ///< the text is not valid JSON
    kTypeMismatch,  ///< valid JSON, but a field has an unexpected type or is out of range
  };

  /// `path` is that of the field, such as "spec.replicas", or "". `problem` is the rest of what().
  DecodeError(Kind kind, std::string path, std::string problem);
  [[nodiscard]] Kind kind() const { return kind_; }

  /// Returns the same error with `prefix` in front of the path: "replicas" with the prefix "spec"
  /// becomes "spec.replicas".
  [[nodiscard]] DecodeError WithPathPrefix(std::string_view prefix) const;

 private:
  Kind kind_;
  std::string path_;
  std::string problem_;
};

}  // namespace kopp
