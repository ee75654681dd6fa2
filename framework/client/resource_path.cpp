#include "client/resource_path.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

namespace kopp::detail {
namespace {

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

// Appends `text` percent-encoded.
void AppendEncoded(std::string& out, std::string_view text) {
  constexpr std::array kHex{'0', '1', '2', '3', '4', '5', '6', '7',
                            '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'};
  for (const char c : text) {
    if (IsUnreserved(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
}

// Appends a slash and `text`. Applies the rule of Kubernetes for path segments: a segment must not
// lead to another path. Throws std::invalid_argument.
void AppendSegment(std::string& path, std::string_view text, const char* description) {
  const bool is_plain = std::ranges::all_of(text, IsUnreserved);  // the common case
  const bool is_unsafe = text == "." || text == ".." ||
                         (!is_plain && text.find_first_of("/%") != std::string_view::npos);
  if (text.empty() || is_unsafe) {
    throw std::invalid_argument("\"" + std::string(text) + "\" is not a valid " + description);
  }
  path += '/';
  if (is_plain) {
    path.append(text);
  } else {
    AppendEncoded(path, text);
  }
}

}  // namespace

std::string VersionPath(std::string_view api_version) {
  constexpr std::size_t kUsualSize = 160;  // of a whole path with its query
  std::string path;
  path.reserve(kUsualSize);
  const auto slash = api_version.find('/');
  if (slash == std::string_view::npos) {
    path = "/api";
    AppendSegment(path, api_version, "API version");
  } else {
    path = "/apis";
    AppendSegment(path, api_version.substr(0, slash), "API group");
    AppendSegment(path, api_version.substr(slash + 1), "API version");
  }
  return path;
}

std::string CollectionPath(const Kind& kind, std::string_view ns) {
  std::string path = VersionPath(kind.api_version);
  if (!ns.empty() && kind.scope == Scope::kNamespaced) {
    path += "/namespaces";
    AppendSegment(path, ns, "namespace");
  }
  AppendSegment(path, kind.plural, "resource");
  return path;
}

std::string ObjectPath(const Kind& kind, const ObjectKey& key, std::string_view subresource) {
  const bool namespaced = kind.scope == Scope::kNamespaced;
  if (namespaced && key.ns.empty()) {
    throw std::invalid_argument("no namespace was given for " + std::string(kind.kind) + " \"" +
                                key.name + "\"");
  }
  if (!namespaced && !key.ns.empty()) {
    throw std::invalid_argument(std::string(kind.kind) + " is cluster-scoped, but \"" + key.name +
                                "\" was requested in namespace \"" + key.ns + "\"");
  }
  std::string path = CollectionPath(kind, key.ns);
  AppendSegment(path, key.name, "name");
  if (!subresource.empty()) AppendSegment(path, subresource, "subresource");
  return path;
}

std::string WithQuery(
    std::string path,
    std::initializer_list<std::pair<std::string_view, std::string_view>> parameters) {
  char separator = '?';
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    path.append(1, separator).append(name).append("=");
    AppendEncoded(path, value);
    separator = '&';
  }
  return path;
}

}  // namespace kopp::detail
