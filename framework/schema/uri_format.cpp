#include "base/ascii.hpp"
#include "text_formats.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace kopp::schema {
namespace {

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool IsHexDigit(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool IsControl(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

bool IsOneOf(char c, std::string_view others) {
  return detail::IsLetterOrDigit(c) || others.find(c) != std::string_view::npos;
}

/// Returns whether each '%' is followed by two hexadecimal digits.
bool IsPercentEncoded(std::string_view text) {
  for (auto at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    if (at + 2 >= text.size() || !IsHexDigit(text[at + 1]) || !IsHexDigit(text[at + 2])) {
      return false;
    }
  }
  return true;
}

/// Returns whether `text` is empty or a colon and digits.
bool IsPort(std::string_view text) {
  return text.empty() ||
         (text[0] == ':' && std::all_of(text.begin() + 1, text.end(), detail::IsDigit));
}

/// Returns whether `host` begins with an IPv6 address in brackets, and ends with an optional port.
bool IsBracketedHost(std::string_view host) {
  const auto end = host.rfind(']');
  if (end == std::string_view::npos || !IsPort(host.substr(end + 1))) return false;
  const std::string_view address = host.substr(1, end - 1);
  return IsIpv6Format(std::string(address.substr(0, address.find("%25"))));  // without its zone
}

bool IsHost(std::string_view host) {
  if (host.starts_with('[')) {
    if (!IsBracketedHost(host)) return false;
  } else if (host.find('[') != std::string_view::npos ||
             !IsPort(host.substr(std::min(host.find(':'), host.size())))) {
    return false;
  }
  for (std::size_t i = 0; i < host.size(); ++i) {
    if (host[i] == '%') {  // only bytes beyond ASCII may be encoded, and the '%' of a zone
      const bool is_ascii = i + 1 < host.size() && host[i + 1] < '8';
      if (is_ascii && host.substr(i, 3) != "%25") return false;
    } else if (static_cast<unsigned char>(host[i]) < 0x80 &&
               !IsOneOf(host[i], "-_.~!$&'()*+,;=:[]<>\"")) {
      return false;
    }
  }
  return IsPercentEncoded(host);
}

bool IsAuthority(std::string_view authority) {
  const auto at = authority.rfind('@');
  if (at == std::string_view::npos) return IsHost(authority);
  const std::string_view user = authority.substr(0, at);
  return IsHost(authority.substr(at + 1)) && IsPercentEncoded(user) &&
         std::ranges::all_of(user, [](char c) { return IsOneOf(c, "-._:~!$&'()*+,;=%@"); });
}

/// Returns the length of the scheme with its colon, or 0 if there is none.
std::size_t SchemeLength(std::string_view text) {
  const auto end = std::ranges::find_if(text, [](char c) { return !IsOneOf(c, "+-."); });
  const bool has_scheme = end != text.end() && *end == ':' && IsLetter(text[0]);
  return has_scheme ? static_cast<std::size_t>(end - text.begin()) + 1 : 0;
}

}  // namespace

bool IsUriFormat(const std::string& text) {
  if (text.empty() || std::ranges::any_of(text, IsControl)) return false;
  if (text == "*") return true;
  std::string_view rest = text;
  const std::size_t scheme = SchemeLength(rest);
  rest.remove_prefix(scheme);
  rest = rest.substr(0, rest.find('?'));
  if (!rest.starts_with('/')) return scheme > 0;  // opaque, such as mailto:a@b
  if (scheme > 0 && rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::string_view authority = rest.substr(0, rest.find('/'));
    if (!IsAuthority(authority)) return false;
    rest.remove_prefix(authority.size());
  }
  return IsPercentEncoded(rest);
}

}  // namespace kopp::schema
