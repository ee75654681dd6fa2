#include "names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <regex>

#include <kopp/informer/names.hpp>

namespace kopp::command {
namespace {

constexpr std::array kReserved = {
    // The keywords of C++20.
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
    "case", "catch", "char", "char8_t", "char16_t", "char32_t", "class", "co_await", "co_return",
    "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
    "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline",
    "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
    "requires", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast",
    "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef",
    "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t",
    "while", "xor", "xor_eq",
    // Macros of the C library and of GNU C++.
    "assert", "errno", "i386", "linux", "major", "minor", "stderr", "stdin", "stdout", "unix",
    "BUFSIZ", "EOF", "INFINITY", "NAN", "NULL", "RAND_MAX",
    // Names that generated code uses.
    "kKind", "kopp", "nlohmann", "std"};

bool IsUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool IsLower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsAlnum(char c) { return static_cast<unsigned char>(c) < 0x80 && std::isalnum(c) != 0; }
char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
char Upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }

bool Matches(std::string_view text, const char* pattern) {
  return std::regex_match(text.begin(), text.end(), std::regex(pattern));
}

// Returns whether a new word starts at `i`: "http_route" of "HTTPRoute", "tcp_v2" of "TCPV2".
bool StartsWord(std::string_view name, std::size_t i) {
  if (i == 0 || !IsUpper(name[i])) return false;
  if (!IsUpper(name[i - 1])) return true;
  return i + 1 < name.size() && IsLower(name[i + 1]);
}

}  // namespace

std::string PluralOf(std::string_view kind) {
  std::string name;
  std::transform(kind.begin(), kind.end(), std::back_inserter(name), Lower);
  const auto ends_with_one_of = [&](std::initializer_list<std::string_view> ends) {
    return std::any_of(ends.begin(), ends.end(),
                       [&](std::string_view end) { return name.ends_with(end); });
  };
  if (ends_with_one_of({"s", "x", "z", "ch", "sh"})) return name + "es";
  if (name.ends_with("y") && !ends_with_one_of({"ay", "ey", "oy", "uy"})) {
    return name.substr(0, name.size() - 1) + "ies";
  }
  return name + "s";
}

std::string SnakeCase(std::string_view kind) {
  std::string name;
  for (std::size_t i = 0; i < kind.size(); ++i) {
    if (StartsWord(kind, i)) name += '_';
    name += Lower(kind[i]);
  }
  return name;
}

std::string TypeName(std::string_view field) {
  std::string name;
  bool at_start = true;
  for (const char c : field) {
    if (IsAlnum(c)) name += at_start ? Upper(c) : c;
    at_start = !IsAlnum(c);
  }
  if (name.empty() || IsDigit(name.front())) name.insert(0, "X");
  return std::find(kReserved.begin(), kReserved.end(), name) == kReserved.end() ? name : name + '_';
}

std::string Identifier(std::string_view field) {
  std::string name;
  for (const char c : field) {
    const char next = IsAlnum(c) ? c : '_';
    if (next == '_' && (name.empty() || name.back() == '_')) continue;  // C++ reserves these
    name += next;
  }
  if (name.empty() || IsDigit(name.front())) name.insert(0, "x");
  const bool reserved = std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end();
  return reserved ? name + '_' : name;
}

bool IsDnsLabel(std::string_view text) { return !ValidateDnsLabel(text); }

bool IsGroup(std::string_view text) {
  return text.size() <= 253 &&
         Matches(text, "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+");
}

bool IsVersion(std::string_view text) {
  return Matches(text, "v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?");
}

bool IsKind(std::string_view text) {
  return text.size() <= 63 && Matches(text, "[A-Z][A-Za-z0-9]*");
}

}  // namespace kopp::command
