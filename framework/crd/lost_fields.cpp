#include "crd/lost_fields.hpp"

#include <cstddef>

#include <nlohmann/json.hpp>

namespace kopp {
namespace {

using nlohmann::json;

const json& Member(const json& schema, const char* name) {
  static const json none;
  const auto found = schema.find(name);
  return found == schema.end() ? none : *found;
}

bool IsTrue(const json& schema, const char* name) { return Member(schema, name) == true; }

std::string ChildPath(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + '.' + name;
}

/// Collects the fields of one schema that pruning with another schema removes.
class Comparison {
 public:
  std::vector<std::string> lost;

  /// Both schemas describe the value at `path`. Fields that `source` keeps without naming them
  /// count only if it names none: with x-kubernetes-preserve-unknown-fields, a version keeps the
  /// fields of another version.
  void Compare(const json& source, const json& target, const std::string& path) {
    if (const json& items = Member(source, "items"); items.is_object()) {
      if (const json& kept = Member(target, "items"); kept.is_object()) {
        Compare(items, kept, path + "[*]");
      }
    }
    CompareProperties(source, target, path);
    const json& values = Member(source, "additionalProperties");
    if (values.is_object()) {
      CompareField(values, nullptr, target, ChildPath(path, "*"));
    } else if (values == true || (IsTrue(source, "x-kubernetes-preserve-unknown-fields") &&
                                  Member(source, "properties").is_null())) {
      if (!KeepsUnknownFields(target)) lost.push_back(ChildPath(path, "*"));
    }
  }

 private:
  static bool KeepsUnknownFields(const json& schema) {
    const json& values = Member(schema, "additionalProperties");
    return IsTrue(schema, "x-kubernetes-preserve-unknown-fields") || values == true ||
           values.is_object() || Member(schema, "type") != "object";
  }

  void CompareProperties(const json& source, const json& target, const std::string& path) {
    const json& properties = Member(source, "properties");
    if (!properties.is_object()) return;
    const json& kept = Member(target, "properties");
    for (const auto& [name, field] : properties.items()) {
      const bool has_type = path.empty() || IsTrue(target, "x-kubernetes-embedded-resource");
      if (has_type && (name == "apiVersion" || name == "kind" || name == "metadata")) continue;
      const bool found = kept.is_object() && kept.contains(name);
      CompareField(field, found ? &kept.at(name) : nullptr, target, ChildPath(path, name));
    }
  }

  /// `target` is the schema of the field, or null if only the object `parent` specifies it.
  void CompareField(const json& source, const json* target, const json& parent,
                    const std::string& path) {
    const json& values = Member(parent, "additionalProperties");
    if (target == nullptr && values.is_object()) target = &values;
    if (target != nullptr) {
      Compare(source, *target, path);
    } else if (!KeepsUnknownFields(parent)) {
      lost.push_back(path);
    }
  }
};

/// Returns the fields of `source` that `target` lacks: "spec.color, spec.size"; empty: none.
std::string LostFields(const json& source, const json& target) {
  Comparison comparison;
  comparison.Compare(Member(Member(source, "schema"), "openAPIV3Schema"),
                     Member(Member(target, "schema"), "openAPIV3Schema"), "");
  std::string text;
  for (const std::string& path : comparison.lost) text += (text.empty() ? "" : ", ") + path;
  return text;
}

}  // namespace

std::vector<std::string> DescribeLostFields(const CustomResourceDefinition& definition) {
  const json& spec = definition.object().at("spec");
  const std::string kind =
      spec.at("names").at("kind").get<std::string>() + " (" + definition.name() + "): ";
  std::vector<std::string> all;
  for (const json& target : spec.at("versions")) {
    const bool stored = IsTrue(target, "storage");
    if (!stored && !IsTrue(target, "served")) continue;
    const std::string target_name = target.at("name").get<std::string>();
    for (const json& source : spec.at("versions")) {
      if (!IsTrue(source, "served") && !IsTrue(source, "storage")) continue;
      const std::string fields = LostFields(source, target);
      if (fields.empty()) continue;
      const std::string source_name = source.at("name").get<std::string>();
      all.push_back(stored ? kind + "the storage version " + target_name +
                                 " does not store fields of " + source_name + ": " + fields
                           : kind + "a write through " + target_name + " deletes fields of " +
                                 source_name + ": " + fields);
    }
  }
  return all;
}

}  // namespace kopp
