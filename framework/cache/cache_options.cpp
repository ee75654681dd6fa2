#include "base/quoted.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <utility>

#include <kopp/cache_options.hpp>
#include <kopp/informer/selector.hpp>

namespace kopp {
namespace {

bool IsDnsLabel(std::string_view text) {
  const auto is_alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= 63 && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::ranges::all_of(text, [&](char c) { return is_alnum(c) || c == '-'; });
}

/// Returns the first of the values that is set, or "".
std::string FirstOf(std::initializer_list<std::optional<std::string>> values) {
  for (const auto& value : values) {
    if (value) return *value;
  }
  return {};
}

/// Returns the selectors of the namespace `ns`; none if `namespaces` does not have it.
CacheSelector SelectorOf(const CacheNamespaces& namespaces, const std::string& ns) {
  const auto found = namespaces.find(ns);
  return found == namespaces.end() ? CacheSelector{} : found->second;
}

/// Returns a field selector for the objects that are in none of the named namespaces.
std::string OutsideOf(const CacheNamespaces& namespaces, const std::string& field_selector) {
  auto selector = FieldSelector::Parse(field_selector);
  for (const auto& [ns, unused] : namespaces) {
    if (!ns.empty()) selector.NotEquals("metadata.namespace", ns);
  }
  return selector.ToString();
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

std::vector<ListFilter> CacheFilters(const CacheOptions& options, const CacheKey& key,
                                     Scope scope) {
  const auto found = options.by_object.find(key);
  const AnyObjectCacheOptions own =
      found == options.by_object.end() ? AnyObjectCacheOptions{} : found->second;
  CacheNamespaces namespaces = own.namespaces.empty() ? options.namespaces : own.namespaces;
  if (namespaces.empty() || scope == Scope::kCluster) namespaces = {{"", {}}};

  std::vector<ListFilter> filters;
  for (const auto& [ns, unused] : namespaces) {
    const CacheSelector own_of_ns = SelectorOf(own.namespaces, ns);
    const CacheSelector default_of_ns = SelectorOf(options.namespaces, ns);
    ListFilter filter{ns,
                      FirstOf({own_of_ns.label_selector, own.selector.label_selector,
                               default_of_ns.label_selector, options.selector.label_selector}),
                      FirstOf({own_of_ns.field_selector, own.selector.field_selector,
                               default_of_ns.field_selector, options.selector.field_selector})};
    static_cast<void>(LabelSelector::Parse(filter.label_selector));  // throws if it is not valid
    static_cast<void>(FieldSelector::Parse(filter.field_selector));
    if (ns.empty()) filter.field_selector = OutsideOf(namespaces, filter.field_selector);
    filters.push_back(std::move(filter));
  }
  return filters;
}

}  // namespace detail
}  // namespace kopp
