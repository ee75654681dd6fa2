#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>

namespace kopp::k8s {

/// Binary data, which is Base64 in JSON: the values of a Secret, a CA bundle. Go: []byte.
struct Bytes {
  Bytes() = default;
  Bytes(std::string bytes) : data(std::move(bytes)) {}  // NOLINT: implicit
  Bytes(const char* bytes) : data(bytes) {}             // NOLINT: implicit

  std::string data;  ///< the bytes themselves, not Base64

  friend auto operator<=>(const Bytes&, const Bytes&) = default;
};

// See kopp::detail::HasJsonForm.
void KoppDecode(std::string_view json, Bytes& value);
[[nodiscard]] std::string KoppEncode(const Bytes& value);
/// The schema of a field of this type in a CustomResourceDefinition.
constexpr std::string_view KoppSchema(const Bytes*) {
  return R"({"type":"string","format":"byte"})";
}
[[nodiscard]] inline bool KoppIsEmpty(const Bytes& value) { return value.data.empty(); }

}  // namespace kopp::k8s
