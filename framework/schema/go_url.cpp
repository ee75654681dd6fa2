#include "schema/go_url.hpp"

#include "base/ascii.hpp"
#include "schema/go_quoted.hpp"
#include "text_formats.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace kopp::schema {
namespace {

constexpr std::string_view kHostCharacters = "-_.~!$&'()*+,;=:[]<>\"";

[[noreturn]] void Fail(const std::string& reason) { throw std::invalid_argument(reason); }

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool IsControl(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

bool IsOneOf(char c, std::string_view others) {
  return detail::IsLetterOrDigit(c) || others.find(c) != std::string_view::npos;
}

/// Removes the text up to `separator` from `rest` and returns it, without the separator. Returns
/// all of the text if there is no separator.
std::string_view Cut(std::string_view& rest, char separator) {
  const std::size_t size = std::min(rest.find(separator), rest.size());
  const std::string_view before = rest.substr(0, size);
  rest.remove_prefix(std::min(size + 1, rest.size()));
  return before;
}

/// Replaces escapes such as "%2f". In a host, only bytes beyond ASCII may be escaped, and the '%'
/// before a zone.
std::string Unescaped(std::string_view text, bool is_host = false) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const std::string_view escape = text.substr(i, 3);
      const bool is_escape =
          escape.size() == 3 && detail::IsHexDigit(escape[1]) && detail::IsHexDigit(escape[2]);
      if (!is_escape || (is_host && escape[1] < '8' && escape != "%25"))
        Fail("invalid URL escape " + GoQuoted(escape));
      result += static_cast<char>(std::stoi(std::string(escape.substr(1)), nullptr, 16));
      i += 2;
    } else if (is_host && static_cast<unsigned char>(text[i]) < 0x80 &&
               !IsOneOf(text[i], kHostCharacters)) {
      Fail("invalid character " + GoQuoted(text.substr(i, 1)) + " in host name");
    } else {
      result += text[i];
    }
  }
  return result;
}

/// Requires an empty text or a colon and digits.
void CheckPort(std::string_view text) {
  const bool is_port = text.empty() || (text[0] == ':' &&
                                        std::all_of(text.begin() + 1, text.end(), detail::IsDigit));
  if (!is_port) Fail("invalid port " + GoQuoted(text) + " after host");
}

/// Parses a host, which may be an IPv6 address in brackets, with an optional port.
std::string ParseHost(std::string_view host) {
  const auto bracket = host.rfind('[');
  if (bracket == std::string_view::npos) {
    CheckPort(host.substr(std::min(host.find(':'), host.size())));
    return Unescaped(host, true);
  }
  if (bracket > 0) Fail("invalid IP-literal");
  const auto end = host.rfind(']');
  if (end == std::string_view::npos) Fail("missing ']' in host");
  CheckPort(host.substr(end + 1));
  std::string text = Unescaped(host, true);
  const std::string address = text.substr(1, text.rfind(']') - 1);
  if (!IsIpv6Format(address.substr(0, address.find('%'))))
    Fail("invalid host: ParseAddr(" + GoQuoted(address) + "): unable to parse IP");
  return text;
}

/// Escapes the name or password of a user as Go does.
std::string EscapedUser(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += IsOneOf(c, "-_.~$&+,;=") ? std::string(1, c)
                                       : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return result;
}

std::string ParseUser(std::string_view user) {
  const auto is_valid = [](char c) { return IsOneOf(c, "-._:~!$&'()*+,;=%@"); };
  if (!std::ranges::all_of(user, is_valid)) Fail("net/url: invalid userinfo");
  const bool has_password = user.find(':') != std::string_view::npos;
  const std::string name = EscapedUser(Unescaped(Cut(user, ':')));
  return has_password ? name + ':' + EscapedUser(Unescaped(user)) : name;
}

void ParseAuthority(std::string_view authority, GoUrl& url) {
  const auto at = authority.rfind('@');
  url.host = ParseHost(at == std::string_view::npos ? authority : authority.substr(at + 1));
  if (at != std::string_view::npos) url.user = ParseUser(authority.substr(0, at));
}

/// Removes the scheme and its colon from `rest`, and returns the scheme; "" if there is none.
std::string ParseScheme(std::string_view& rest) {
  if (rest.starts_with(':')) Fail("missing protocol scheme");
  const auto end = std::ranges::find_if(rest, [](char c) { return !IsOneOf(c, "+-."); });
  if (end == rest.end() || *end != ':' || !IsLetter(rest[0])) return "";
  return detail::ToLowerAscii(Cut(rest, ':'));
}

/// Parses a URL without a fragment. If it `is_absolute`, it needs a scheme or an absolute path.
GoUrl Parse(std::string_view rest, bool is_absolute) {
  if (std::ranges::any_of(rest, IsControl)) Fail("net/url: invalid control character in URL");
  GoUrl url;
  if (rest.empty() && is_absolute) Fail("empty url");
  if (rest == "*") return url;
  url.scheme = ParseScheme(rest);
  std::string_view query = rest;
  rest = Cut(query, '?');
  url.query = query;
  if (!rest.starts_with('/')) {
    if (!url.scheme.empty()) return url;  // opaque, such as mailto:a@b
    if (is_absolute) Fail("invalid URI for request");
    if (rest.substr(0, rest.find('/')).find(':') != std::string_view::npos)
      Fail("first path segment in URL cannot contain colon");
  }
  const bool has_authority = !url.scheme.empty() || (!is_absolute && !rest.starts_with("///"));
  if (has_authority && rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::string_view authority = rest.substr(0, rest.find('/'));
    ParseAuthority(authority, url);
    rest.remove_prefix(authority.size());
  }
  (void)Unescaped(rest);  // the path
  return url;
}

}  // namespace

GoUrl ParseGoUrl(const std::string& text) {
  std::string_view fragment = text;
  std::string_view parsed = Cut(fragment, '#');
  try {
    GoUrl url = Parse(parsed, false);
    parsed = text;  // named in an error of the fragment
    url.fragment = Unescaped(fragment);
    return url;
  } catch (const std::invalid_argument& error) {
    Fail("parse " + GoQuoted(parsed) + ": " + error.what());
  }
}

bool IsUriFormat(const std::string& text) {
  try {
    (void)Parse(text, true);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

}  // namespace kopp::schema
