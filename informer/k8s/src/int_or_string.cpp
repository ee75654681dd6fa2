#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <kopp/informer/fields.hpp>
#include <kopp/k8s/int_or_string.hpp>

namespace kopp::k8s {
namespace {

/// Parses a decimal 32-bit integer. Returns nullopt if `text` is not one.
std::optional<std::int32_t> ParseInt32(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

IntOrString IntOrString::Parse(std::string_view text) {
  if (const auto number = ParseInt32(text)) return *number;
  return std::string(text);
}

std::string IntOrString::ToString() const { return is_string_ ? text_ : std::to_string(number_); }

std::int32_t IntOrString::Scaled(std::int32_t total, bool round_up) const {
  if (!is_string_) return number_;
  const std::string_view text(text_);
  const auto percent =
      text.ends_with('%') ? ParseInt32(text.substr(0, text.size() - 1)) : std::nullopt;
  if (!percent) {
    throw std::invalid_argument("IntOrString::Scaled: \"" + text_ +
                                "\" is not a percentage: use a text such as \"25%\"");
  }
  const std::int64_t product = std::int64_t{*percent} * total;
  const std::int64_t remainder = product % 100;
  std::int64_t scaled = product / 100;
  if (round_up && remainder > 0) ++scaled;
  if (!round_up && remainder < 0) --scaled;
  return static_cast<std::int32_t>(scaled);
}

void KoppDecode(std::string_view json, IntOrString& value) {
  if (json.starts_with('"')) {
    value = detail::DecodeString(json);
  } else if (const auto number = ParseInt32(json)) {
    value = *number;
  } else {
    throw DecodeError(DecodeError::Kind::kTypeMismatch, "",
                      "expected a 32-bit integer or a string, found " + std::string(json));
  }
}

std::string KoppEncode(const IntOrString& value) {
  return value.is_string() ? detail::EncodeString(value.text()) : value.ToString();
}

}  // namespace kopp::k8s
