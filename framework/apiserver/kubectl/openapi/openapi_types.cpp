#include "kubectl/openapi/openapi_types.hpp"

#include "kubectl/data.hpp"

#include <algorithm>

namespace kopp::apiserver {
namespace {

/// Returns the strings between `prefix` and the next quote, for each `prefix` in `text`.
std::vector<std::string_view> QuotedAfter(std::string_view prefix, std::string_view text) {
  std::vector<std::string_view> found;
  for (auto at = text.find(prefix); at != std::string_view::npos; at = text.find(prefix, at)) {
    at += prefix.size();
    const auto end = std::min(text.find('"', at), text.size());
    found.push_back(text.substr(at, end - at));
    at = std::min(end + 1, text.size());
  }
  return found;
}

/// Returns the position of the first line after `start` that is not indented.
std::size_t NextEntry(std::string_view text, std::size_t start) {
  auto at = text.find('\n', start);
  while (at != std::string_view::npos && at + 1 < text.size() && text[at + 1] == ' ') {
    at = text.find('\n', at + 1);
  }
  return at == std::string_view::npos ? text.size() : at + 1;
}

}  // namespace

OpenApiTypes::OpenApiTypes(std::string_view text) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t next = NextEntry(text, start);
    std::string_view entry = text.substr(start, next - start);
    start = next;
    const auto name_end = entry.find("\":");
    if (!entry.starts_with('"') || name_end == std::string_view::npos) continue;
    while (entry.ends_with('\n') || entry.ends_with(',')) entry.remove_suffix(1);
    entries_.emplace(entry.substr(1, name_end - 1), entry.substr(name_end + 2));
  }
}

const OpenApiTypes& OpenApiTypes::BuiltIn() {
  static const OpenApiTypes types(data::openapi);
  return types;
}

std::string_view OpenApiTypes::Find(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? std::string_view() : found->second;
}

OpenApiTypes::Names OpenApiTypes::TypesOfDocument(std::string_view path) const {
  return Closure(QuotedAfter("\"", Find(path)));
}

OpenApiTypes::Names OpenApiTypes::Closure(std::vector<std::string_view> roots) const {
  Names names;
  while (!roots.empty()) {
    const auto found = entries_.find(roots.back());
    roots.pop_back();
    if (found == entries_.end() || !names.insert(found->first).second) continue;
    const auto references = QuotedAfter(kOpenApiReferencePrefix, found->second);
    roots.insert(roots.end(), references.begin(), references.end());
  }
  return names;
}

}  // namespace kopp::apiserver
