#include "names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <regex>
#include <utility>

#include <kopp/informer/detail/names.hpp>

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
    // A keyword of GNU C++, and names that generated code uses.
    "typeof", "kKind", "kopp", "nlohmann", "std"};

// Macros with lower-case letters.
constexpr std::array kMacros = {
    // C, C++ and the compilers.
    "assert", "errno", "i386", "linux", "math_errhandling", "stderr", "stdin", "stdout", "unix",
    // POSIX and Linux.
    "La_x32_regs", "La_x32_retval", "b64_ntop", "b64_pton", "basename", "d_fileno",
    "dn_count_labels", "fp_nquery", "fp_query", "fp_resstat", "h_addr", "h_errno", "hostalias",
    "ifa_broadaddr", "ifa_dstaddr", "ifc_buf", "ifc_req", "ifr_addr", "ifr_bandwidth",
    "ifr_broadaddr", "ifr_data", "ifr_dstaddr", "ifr_flags", "ifr_hwaddr", "ifr_ifindex", "ifr_map",
    "ifr_metric", "ifr_mtu", "ifr_name", "ifr_netmask", "ifr_newname", "ifr_qlen", "ifr_slave",
    "loc_aton", "loc_ntoa", "major", "minor", "no_argument", "nsaddr", "optional_argument",
    "p_cdname", "p_cdnname", "p_class", "p_fqname", "p_fqnname", "p_option", "p_query", "p_rcode",
    "p_time", "p_type", "putlong", "putshort", "required_argument", "res_close", "res_hostalias",
    "res_init", "res_isourserver", "res_nameinquery", "res_nclose", "res_ninit", "res_queriesmatch",
    "res_randomid", "s6_addr", "s6_addr16", "s6_addr32", "sa_handler", "sa_sigaction",
    "sched_priority", "si_addr", "si_addr_lsb", "si_arch", "si_band", "si_call_addr", "si_fd",
    "si_int", "si_lower", "si_overrun", "si_pid", "si_pkey", "si_ptr", "si_status", "si_stime",
    "si_syscall", "si_timerid", "si_uid", "si_upper", "si_utime", "si_value",
    "sigev_notify_attributes", "sigev_notify_function", "st_atime", "st_ctime", "st_mtime",
    "sym_ntop", "sym_ntos", "sym_ston"};

// The starts of macros such as PRId64, for printf and scanf.
constexpr std::array kConversions = {"PRI", "SCN"};

// Names that a struct beside KOPP_FIELDS would hide.
constexpr std::array kHidden = {
    // Functions and parameters of KOPP_FIELDS.
    "KoppCheckCrd", "KoppDecode", "KoppEncode", "KoppEnumNames", "KoppFields", "KoppIsEmpty",
    "KoppSchema", "KoppType", "KoppVisitCrd", "KoppVisitFields", "KoppVisitor",
    // Markers.
    "Default", "Doc", "EmbeddedResource", "Enum", "ExclusiveMaximum", "ExclusiveMinimum", "Format",
    "Immutable", "IntOrString", "Items", "ListMapKeys", "ListType", "MapType", "MaxItems",
    "MaxLength", "MaxProperties", "Maximum", "MinItems", "MinLength", "MinProperties", "Minimum",
    "MultipleOf", "Nullable", "Optional", "Pattern", "PreserveUnknownFields", "PrintColumn",
    "Required", "Schemaless", "StatusSubresource", "StructType", "UniqueItems", "Validation"};

bool IsUpper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool IsLower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsAlnum(char c) { return static_cast<unsigned char>(c) < 0x80 && std::isalnum(c) != 0; }
char Lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
char Upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }

bool Matches(std::string_view text, const char* pattern) {
  return std::regex_match(text.begin(), text.end(), std::regex(pattern));
}

bool HasLower(std::string_view text) { return std::any_of(text.begin(), text.end(), IsLower); }

template <typename Names>
bool IsOneOf(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Adds an underscore unless there would be two, or one at the start: C++ reserves these names.
void AppendSeparator(std::string& name) {
  if (!name.empty() && name.back() != '_') name += '_';
}

// Returns whether a macro may have this name with an underscore at its end: include guards and
// macros of GoogleTest have.
bool MayBeMacroWithUnderscore(std::string_view name) {
  return name.starts_with("GTEST_") || name.starts_with("GMOCK_") || name.ends_with("_H") ||
         name.ends_with("_HH") || name.ends_with("_HPP") || name.ends_with("_HXX");
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
    if (!IsAlnum(kind[i]) || StartsWord(kind, i)) AppendSeparator(name);
    if (IsAlnum(kind[i])) name += Lower(kind[i]);
  }
  return name;
}

std::string PascalCase(std::string_view name) {
  std::string type;
  bool at_start = true;
  for (const char c : name) {
    if (IsAlnum(c)) type += at_start ? Upper(c) : c;
    at_start = !IsAlnum(c);
  }
  if (type.empty() || IsDigit(type.front())) type.insert(0, "X");
  return type;
}

std::string SafeName(std::string name) {
  if (!IsOneOf(kReserved, name) && !MayBeMacro(name)) return name;
  if (name.ends_with('_')) return name + "name";
  return name + (MayBeMacroWithUnderscore(name) ? "_name" : "_");
}

bool MayBeMacro(std::string_view name) {
  const std::string_view first_word = name.substr(0, name.find('_'));
  const bool is_conversion = name.size() > 4 && IsOneOf(kConversions, name.substr(0, 3)) &&
                             IsLower(name[3]) && !HasLower(name.substr(4));
  return !HasLower(name) || (first_word != name && !HasLower(first_word)) || is_conversion ||
         IsOneOf(kMacros, name);
}

std::string TypeName(std::string_view name) { return SafeName(PascalCase(name)); }

std::string StructName(std::string_view name) {
  const std::string type = TypeName(name);
  return IsOneOf(kHidden, type) ? type + '_' : type;
}

std::string Identifier(std::string_view field) {
  std::string name;
  for (const char c : field) {
    if (IsAlnum(c)) {
      name += c;
    } else {
      AppendSeparator(name);
    }
  }
  if (name.empty() || IsDigit(name.front())) name.insert(0, "x");
  return SafeName(std::move(name));
}

std::string NamespaceName(std::string_view group) {
  const std::string name = Identifier(group);
  return name.ends_with("_t") ? name + '_' : name;
}

std::string AddUnique(std::set<std::string>& names, std::string name) {
  if (names.insert(name).second) return name;
  if (!name.ends_with('_')) name += '_';
  std::string unique = name;
  for (int number = 2; !names.insert(unique).second; ++number) {
    unique = name + std::to_string(number);
  }
  return unique;
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

bool IsLegalKind(std::string_view text) {
  return text.size() <= 63 && Matches(text, "[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?");
}

}  // namespace kopp::command
