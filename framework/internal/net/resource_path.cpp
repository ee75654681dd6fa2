#include "net/resource_path.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace kopp::detail {
namespace {

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::string PercentEncoded(std::string_view text) {
  if (std::ranges::all_of(text, IsUnreserved)) return std::string(text);  // the common case
  constexpr std::array kHex{'0', '1', '2', '3', '4', '5', '6', '7',
                            '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'};
  std::string encoded;
  for (const char c : text) {
    if (IsUnreserved(c)) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return encoded;
}

// Applies the rule of Kubernetes for path segments: a segment must not lead to another path. Throws
// std::invalid_argument.
std::string PathSegment(std::string_view text, const char* description) {
  const bool is_unsafe =
      text == "." || text == ".." || text.find_first_of("/%") != std::string_view::npos;
  if (text.empty() || is_unsafe) {
    throw std::invalid_argument("\"" + std::string(text) + "\" is not a valid " + description);
  }
  return PercentEncoded(text);
}

}  // namespace

std::string VersionPath(std::string_view api_version) {
  const auto slash = api_version.find('/');
  if (slash == std::string_view::npos) return "/api/" + PathSegment(api_version, "API version");
  return "/apis/" + PathSegment(api_version.substr(0, slash), "API group") + "/" +
         PathSegment(api_version.substr(slash + 1), "API version");
}

std::string CollectionPath(const Kind& kind, std::string_view ns) {
  std::string path = VersionPath(kind.api_version);
  if (!ns.empty() && kind.scope == Scope::kNamespaced) {
    path += "/namespaces/" + PathSegment(ns, "namespace");
  }
  return path + "/" + PathSegment(kind.plural, "resource");
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
  std::string path = CollectionPath(kind, key.ns) + "/" + PathSegment(key.name, "name");
  return subresource.empty() ? path
                             : path.append("/").append(PathSegment(subresource, "subresource"));
}

std::string WithQuery(
    std::string path,
    std::initializer_list<std::pair<std::string_view, std::string_view>> parameters) {
  char separator = '?';
  for (const auto& [name, value] : parameters) {
    if (value.empty()) continue;
    path.append(1, separator).append(name).append("=").append(PercentEncoded(value));
    separator = '&';
  }
  return path;
}

}  // namespace kopp::detail
