#include <algorithm>
#include <cstddef>

#include <kopp/informer/detail/names.hpp>

namespace kopp {
namespace {

constexpr const char* kDnsSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char* kDnsLabel =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kDns1035Label =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr const char* kNamePart =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr const char* kLabelValue =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr const char* kConfigKey =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name', "
    " or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsLetter(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }
bool IsLabelAlnum(char c) { return IsLower(c) || IsDigit(c); }
bool IsAlnum(char c) { return IsLetter(c) || IsDigit(c); }
bool IsNameChar(char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; }

bool IsDnsLabel(std::string_view text) {
  return !text.empty() && IsLabelAlnum(text.front()) && IsLabelAlnum(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLabelAlnum(c) || c == '-'; });
}

bool IsName(std::string_view text) {
  return !text.empty() && IsAlnum(text.front()) && IsAlnum(text.back()) &&
         std::all_of(text.begin(), text.end(), IsNameChar);
}

std::string AtMost(std::size_t max) {
  return "must be no more than " + std::to_string(max) + " characters";
}

}  // namespace

NameError ValidateDnsSubdomain(std::string_view text) {
  if (text.size() > 253) return AtMost(253);
  for (;;) {
    const std::string_view label = text.substr(0, text.find('.'));
    if (!IsDnsLabel(label)) return kDnsSubdomain;
    if (label.size() == text.size()) return {};
    text.remove_prefix(label.size() + 1);
  }
}

NameError ValidateDnsLabel(std::string_view text) {
  if (text.size() > 63) return AtMost(63);
  if (IsDnsLabel(text)) return {};
  return ValidateDnsSubdomain(text) ? kDnsLabel : "must not contain dots";
}

NameError ValidateDns1035Label(std::string_view text) {
  if (text.size() > 63) return AtMost(63);
  return IsDnsLabel(text) && IsLower(text.front()) ? NameError() : kDns1035Label;
}

std::vector<std::string> ValidateQualifiedName(std::string_view text) {
  const auto slash = text.find('/');
  if (slash != std::string_view::npos && text.find('/', slash + 1) != std::string_view::npos) {
    return {std::string("a qualified name ") + kNamePart +
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
  }
  std::vector<std::string> errors;
  if (slash == 0) {
    errors.emplace_back("prefix part must be non-empty");
  } else if (slash != std::string_view::npos) {
    if (const NameError error = ValidateDnsSubdomain(text.substr(0, slash))) {
      errors.push_back("prefix part " + *error);
    }
  }
  const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
  if (name.empty()) errors.emplace_back("name part must be non-empty");
  if (name.size() > 63) errors.push_back("name part " + AtMost(63));
  if (!IsName(name)) errors.push_back(std::string("name part ") + kNamePart);
  return errors;
}

NameError ValidateLabelValue(std::string_view text) {
  if (text.size() > 63) return AtMost(63);
  return text.empty() || IsName(text) ? NameError() : kLabelValue;
}

NameError ValidatePathSegment(std::string_view text) {
  if (text == "." || text == "..") return "may not be '" + std::string(text) + "'";
  for (const char c : {'/', '%'}) {
    if (text.find(c) != std::string_view::npos) return std::string("may not contain '") + c + "'";
  }
  return {};
}

NameError ValidateConfigKey(std::string_view text) {
  if (text.size() > 253) return AtMost(253);
  if (text.empty() || !std::all_of(text.begin(), text.end(), IsNameChar)) return kConfigKey;
  if (text == "." || text == "..") return "must not be '" + std::string(text) + "'";
  if (text.starts_with("..")) return "must not start with '..'";
  return {};
}

}  // namespace kopp
