#include "base/quoted.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>

#include <kopp/cache_options.hpp>
#include <kopp/informer/selector.hpp>

namespace kopp {
namespace {

bool IsDnsLabel(std::string_view text) {
  const auto is_alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= 63 && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::ranges::all_of(text, [&](char c) { return is_alnum(c) || c == '-'; });
}

/// Returns the first of the selectors that is set, or one that matches everything.
template <typename T>
T FirstOf(std::initializer_list<std::optional<T>> selectors) {
  for (const auto& selector : selectors) {
    if (selector) return *selector;
  }
  return {};
}

/// Returns the selectors of the namespace `ns`; none if `namespaces` does not have it.
CacheSelector SelectorOf(const CacheNamespaces& namespaces, const std::string& ns) {
  const auto found = namespaces.find(ns);
  return found == namespaces.end() ? CacheSelector{} : found->second;
}

/// Restricts `fields` to the objects that are in none of the named namespaces.
void ExcludeNamespaces(const CacheNamespaces& namespaces, FieldSelector& fields) {
  for (const auto& [ns, unused] : namespaces) {
    if (!ns.empty()) fields.NotEquals("metadata.namespace", ns);
  }
}

}  // namespace

CacheNamespaces ParseNamespaces(std::string_view text) {
  CacheNamespaces namespaces;
  if (text.empty()) return namespaces;
  for (;;) {
    const auto comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    if (!IsDnsLabel(name)) {
      throw std::invalid_argument(detail::Quoted(name) + " is not the name of a namespace");
    }
    namespaces.try_emplace(std::string(name));
    if (comma == std::string_view::npos) return namespaces;
    text.remove_prefix(comma + 1);
  }
}

CacheOptions& CacheOptions::Set(detail::CacheKey view, detail::AnyObjectCacheOptions options) {
  by_object.insert_or_assign(std::move(view), std::move(options));
  return *this;
}

void RestrictNamespaces(CacheOptions& options, std::string_view text) {
  if (text.empty()) return;
  CacheNamespaces only = ParseNamespaces(text);
  for (auto& [ns, selector] : only) {
    const bool is_named = options.namespaces.contains(ns);
    selector = SelectorOf(options.namespaces, is_named ? ns : "");
  }
  options.namespaces = std::move(only);
}

namespace detail {

std::vector<Selector> SelectorsOf(const CacheOptions& options, const CacheKey& key, Scope scope) {
  const auto found = options.by_object.find(key);
  const AnyObjectCacheOptions own =
      found == options.by_object.end() ? AnyObjectCacheOptions{} : found->second;
  CacheNamespaces namespaces = own.namespaces.empty() ? options.namespaces : own.namespaces;
  if (namespaces.empty() || scope == Scope::kCluster) namespaces = {{"", {}}};

  std::vector<Selector> selectors;
  for (const auto& [ns, unused] : namespaces) {
    const CacheSelector own_of_ns = SelectorOf(own.namespaces, ns);
    const CacheSelector default_of_ns = SelectorOf(options.namespaces, ns);
    Selector selector{ns,
                      FirstOf({own_of_ns.labels, own.selector.labels, default_of_ns.labels,
                               options.selector.labels}),
                      FirstOf({own_of_ns.fields, own.selector.fields, default_of_ns.fields,
                               options.selector.fields})};
    if (ns.empty()) ExcludeNamespaces(namespaces, selector.fields);
    selectors.push_back(std::move(selector));
  }
  return selectors;
}

}  // namespace detail
}  // namespace kopp
