#include "schema/field_set.hpp"

#include <utility>

namespace kopp::schema {
namespace {

using nlohmann::json;

/// Returns whether a path element is "k:" followed by a JSON object.
bool IsKeyElement(std::string_view path_element) {
  return path_element.starts_with("k:") &&
         json::parse(path_element.substr(2), nullptr, false).is_object();
}

/// Formats the value of a key as kube-apiserver does, also one of a wrong type: a=1,b="c".
std::string KeyText(const json& value) {
  if (!value.is_object()) return value.dump();
  std::string text;
  for (const auto& [name, member] : value.items()) {
    text += (text.empty() ? "" : ",") + name + '=' + KeyText(member);
  }
  return text;
}

void AddChildUnlessEmpty(FieldSet& parent, const std::string& path_element, FieldSet&& child) {
  if (!child.empty()) parent.children.emplace(path_element, std::move(child));
}

/// Visits the members of a level before those below it, as kube-apiserver does.
void Walk(const FieldSet& set, const std::string& path,
          const std::function<void(const std::string&)>& each) {
  for (const auto& [path_element, child] : set.children) {
    if (child.member) each(path + PathElementText(path_element));
  }
  for (const auto& [path_element, child] : set.children) {
    Walk(child, path + PathElementText(path_element), each);
  }
}

}  // namespace

std::string PathElementText(std::string_view path_element) {
  const std::string_view value = path_element.substr(2);
  if (path_element.front() == 'f') return '.' + std::string(value);
  if (path_element.front() != 'k') return "[=" + std::string(value) + ']';
  std::string keys;
  const json parsed = json::parse(value);
  for (const auto& [name, key] : parsed.items()) {
    keys += (keys.empty() ? "" : ",") + name + '=' + KeyText(key);
  }
  return '[' + keys + ']';
}

FieldSet FieldSet::FromJson(const json& fields) {
  FieldSet set;
  if (!fields.is_object()) return set;
  for (const auto& [path_element, children] : fields.items()) {
    if (path_element == ".") {
      set.member = true;
    } else if (path_element.starts_with("f:") || path_element.starts_with("v:") ||
               IsKeyElement(path_element)) {
      FieldSet& child = set.children[path_element] = FromJson(children);
      if (child.empty()) child.member = true;
    }
  }
  return set;
}

json FieldSet::ToJson() const {
  json fields = json::object();
  if (member && !children.empty()) fields["."] = json::object();
  for (const auto& [path_element, child] : children) fields[path_element] = child.ToJson();
  return fields;
}

FieldSet Union(const FieldSet& a, const FieldSet& b) {
  FieldSet both = a;
  both.member = a.member || b.member;
  for (const auto& [path_element, child] : b.children) {
    const auto [existing, is_new] = both.children.try_emplace(path_element, child);
    if (!is_new) existing->second = Union(existing->second, child);
  }
  return both;
}

FieldSet Intersection(const FieldSet& a, const FieldSet& b) {
  FieldSet both;
  both.member = a.member && b.member;
  for (const auto& [path_element, child] : a.children) {
    if (const FieldSet* other = b.Find(path_element)) {
      AddChildUnlessEmpty(both, path_element, Intersection(child, *other));
    }
  }
  return both;
}

FieldSet Difference(const FieldSet& a, const FieldSet& b) {
  FieldSet rest;
  rest.member = a.member && !b.member;
  for (const auto& [path_element, child] : a.children) {
    const FieldSet* other = b.Find(path_element);
    AddChildUnlessEmpty(rest, path_element,
                        other == nullptr ? FieldSet(child) : Difference(child, *other));
  }
  return rest;
}

void ForEachPath(const FieldSet& set, const std::function<void(const std::string&)>& each) {
  Walk(set, "", each);
}

}  // namespace kopp::schema
