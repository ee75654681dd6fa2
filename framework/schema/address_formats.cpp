#include "base/ascii.hpp"
#include "schema/formats.hpp"
#include "text_formats.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <system_error>

#include <arpa/inet.h>

namespace kopp::schema {
namespace {

bool IsAddress(int family, const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return text.find('\0') == std::string::npos &&
         inet_pton(family, text.c_str(), address.data()) == 1;
}

bool IsAddressWithZeros(int family, const std::string& text) {
  return IsAddress(family, WithoutLeadingZeros(text));
}

}  // namespace

std::string WithoutLeadingZeros(std::string_view address) {
  std::string result;
  for (std::size_t i = 0; i < address.size(); ++i) {
    const bool starts_number = i == 0 || !detail::IsHexDigit(address[i - 1]);
    const std::size_t end = starts_number ? address.find_first_not_of('0', i) : i;
    // The last zero stays if nothing else follows.
    const bool has_digits = end < address.size() && detail::IsHexDigit(address[end]);
    if (starts_number && address[i] == '0')
      i = has_digits ? end : std::min(end, address.size()) - 1;
    result += address[i];
  }
  return result;
}

bool IsIpAddressFormat(const std::string& text) {
  return IsAddress(AF_INET, text) || IsAddress(AF_INET6, text);
}
bool IsIpv4Format(const std::string& text) {
  return text.find('.') != std::string::npos &&
         (IsAddressWithZeros(AF_INET, text) || IsAddressWithZeros(AF_INET6, text));
}
bool IsIpv6Format(const std::string& text) { return IsAddress(AF_INET6, text); }

bool IsCidrFormat(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return false;
  const std::string address = text.substr(0, slash);
  const char* const end = text.data() + text.size();
  unsigned bits = 0;
  const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, bits);
  if (error != std::errc() || stop != end) return false;
  return (IsAddressWithZeros(AF_INET, address) && bits <= 32) ||
         (IsAddressWithZeros(AF_INET6, address) && bits <= 128);
}

bool IsMacFormat(const std::string& text) {
  // Groups of 2 digits with ':' or '-', of 4 with '.', or all digits in one group.
  std::size_t group = text.size();
  char separator = '\0';
  if (const auto first = text.find_first_of(":-."); first != std::string::npos) {
    separator = text[first];
    group = separator == '.' ? 4 : 2;
  }
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_separator = i % (group + 1) == group;
    if (is_separator ? text[i] != separator : !detail::IsHexDigit(text[i])) return false;
    digits += is_separator ? 0 : 1;
  }
  const bool is_complete = group == 0 || text.size() % (group + 1) == group;
  return is_complete && (digits == 12 || digits == 16 || digits == 40);
}

}  // namespace kopp::schema
