#include "field_set.hpp"

#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// "k:" and an object.
bool IsKeys(std::string_view step) {
  return step.starts_with("k:") && json::parse(step.substr(2), nullptr, false).is_object();
}

void Drop(FieldSet& from, const std::string& step, FieldSet&& set) {
  if (!set.empty()) from.below.emplace(step, std::move(set));
}

void Walk(const FieldSet& set, const std::string& path,
          const std::function<void(const std::string&)>& each) {
  if (set.member) each(path);
  for (const auto& [step, below] : set.below) Walk(below, path + InMessages(step), each);
}

}  // namespace

std::string InMessages(std::string_view step) {
  const std::string_view value = step.substr(2);
  if (step.front() == 'f') return '.' + std::string(value);
  if (step.front() != 'k') return "[=" + std::string(value) + ']';
  std::string keys;
  const json parsed = json::parse(value);
  for (const auto& [name, key] : parsed.items()) {
    keys += (keys.empty() ? "" : ",") + name + '=' + key.dump();
  }
  return '[' + keys + ']';
}

FieldSet FieldSet::FromJson(const json& fields) {
  FieldSet set;
  if (!fields.is_object()) return set;
  for (const auto& [step, below] : fields.items()) {
    if (step == ".") {
      set.member = true;
    } else if (step.starts_with("f:") || step.starts_with("v:") || IsKeys(step)) {
      FieldSet& part = set.below[step] = FromJson(below);
      if (part.empty()) part.member = true;
    }
  }
  return set;
}

json FieldSet::ToJson() const {
  json fields = json::object();
  if (member && !below.empty()) fields["."] = json::object();
  for (const auto& [step, part] : below) fields[step] = part.ToJson();
  return fields;
}

FieldSet Union(const FieldSet& a, const FieldSet& b) {
  FieldSet both = a;
  both.member = a.member || b.member;
  for (const auto& [step, part] : b.below) {
    const auto [known, is_new] = both.below.try_emplace(step, part);
    if (!is_new) known->second = Union(known->second, part);
  }
  return both;
}

FieldSet Intersection(const FieldSet& a, const FieldSet& b) {
  FieldSet both;
  both.member = a.member && b.member;
  for (const auto& [step, part] : a.below) {
    if (const FieldSet* other = b.Find(step)) Drop(both, step, Intersection(part, *other));
  }
  return both;
}

FieldSet Difference(const FieldSet& a, const FieldSet& b) {
  FieldSet rest;
  rest.member = a.member && !b.member;
  for (const auto& [step, part] : a.below) {
    const FieldSet* other = b.Find(step);
    Drop(rest, step, other == nullptr ? FieldSet(part) : Difference(part, *other));
  }
  return rest;
}

void ForEachPath(const FieldSet& set, const std::function<void(const std::string&)>& each) {
  Walk(set, "", each);
}

}  // namespace kopp::apiserver
