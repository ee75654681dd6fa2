#include "names.hpp"

#include <algorithm>
#include <cstddef>

namespace kopp::apiserver {
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

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsLetter(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLabelEnd(char c) { return IsLower(c) || IsDigit(c); }
bool IsNameEnd(char c) { return IsLetter(c) || IsDigit(c); }
bool IsNamePart(char c) { return IsNameEnd(c) || c == '-' || c == '_' || c == '.'; }

bool IsDnsLabel(std::string_view text) {
  return !text.empty() && IsLabelEnd(text.front()) && IsLabelEnd(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLabelEnd(c) || c == '-'; });
}

bool IsName(std::string_view text) {
  return !text.empty() && IsNameEnd(text.front()) && IsNameEnd(text.back()) &&
         std::all_of(text.begin(), text.end(), IsNamePart);
}

std::string AtMost(std::size_t max) {
  return "must be no more than " + std::to_string(max) + " characters";
}

}  // namespace

Why NotADnsSubdomain(std::string_view text) {
  if (text.size() > 253) return AtMost(253);
  for (;;) {
    const std::string_view label = text.substr(0, text.find('.'));
    if (!IsDnsLabel(label)) return kDnsSubdomain;
    if (label.size() == text.size()) return {};
    text.remove_prefix(label.size() + 1);
  }
}

Why NotADnsLabel(std::string_view text) {
  if (text.size() > 63) return AtMost(63);
  return IsDnsLabel(text) ? Why() : kDnsLabel;
}

Why NotADns1035Label(std::string_view text) {
  if (text.size() > 63) return AtMost(63);
  return IsDnsLabel(text) && IsLower(text.front()) ? Why() : kDns1035Label;
}

std::vector<std::string> QualifiedNameProblems(std::string_view text) {
  const auto slash = text.find('/');
  if (slash != std::string_view::npos && text.find('/', slash + 1) != std::string_view::npos) {
    return {std::string("a qualified name ") + kNamePart +
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
  }
  std::vector<std::string> problems;
  if (slash == 0) {
    problems.emplace_back("prefix part must be non-empty");
  } else if (slash != std::string_view::npos) {
    if (const Why why = NotADnsSubdomain(text.substr(0, slash))) {
      problems.push_back("prefix part " + *why);
    }
  }
  const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
  if (name.empty()) problems.emplace_back("name part must be non-empty");
  if (name.size() > 63) problems.push_back("name part " + AtMost(63));
  if (!IsName(name)) problems.push_back(std::string("name part ") + kNamePart);
  return problems;
}

Why NotALabelValue(std::string_view text) {
  if (text.size() > 63) return AtMost(63);
  return text.empty() || IsName(text) ? Why() : kLabelValue;
}

Why NotAPathSegment(std::string_view text) {
  if (text == "." || text == "..") return "may not be '" + std::string(text) + "'";
  for (const char c : {'/', '%'}) {
    if (text.find(c) != std::string_view::npos) return std::string("may not contain '") + c + "'";
  }
  return {};
}

Why NotAConfigKey(std::string_view text) {
  if (text.size() > 253) return AtMost(253);
  if (text.empty() || !std::all_of(text.begin(), text.end(), IsNamePart)) return kConfigKey;
  if (text == "." || text == "..") return "must not be '" + std::string(text) + "'";
  if (text.starts_with("..")) return "must not start with '..'";
  return {};
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace kopp::apiserver
