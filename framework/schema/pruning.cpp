#include "schema/pruning.hpp"

#include "schema_keywords.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

namespace kopp::schema {
namespace {

using nlohmann::json;

std::string ChildPath(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + '.' + name;
}

class Pruner {
 public:
  explicit Pruner(const EmbeddedResourceHandler& prune_embedded)
      : prune_embedded_(prune_embedded) {}

  std::vector<std::string> pruned_paths;

  /// `schema` is null if the value itself is not specified: then all fields are removed.
  void Prune(json& value, const Schema* schema, const std::string& path) {
    if (value.is_array()) {
      const Schema* items = schema == nullptr ? nullptr : schema->items;
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (items == nullptr && schema != nullptr && schema->preserve_unknown_fields) continue;
        Prune(value[i], items, path + '[' + std::to_string(i) + ']');
      }
    }
    if (value.is_object()) PruneFields(value, schema, path);
  }

 private:
  void PruneFields(json& object, const Schema* schema, const std::string& path) {
    const bool embedded_resource = schema != nullptr && schema->embedded_resource;
    for (auto field = object.begin(); field != object.end();) {
      const std::string child_path = ChildPath(path, field.key());
      const Schema* field_schema = schema == nullptr ? nullptr : schema->FieldSchema(field.key());
      if (field_schema != nullptr) {
        if (!(embedded_resource && field.key() == "metadata"))
          Prune(*field, field_schema, child_path);
      } else if (schema == nullptr || !schema->preserve_unknown_fields) {
        pruned_paths.push_back(child_path);
        field = object.erase(field);
        continue;
      }
      ++field;
    }
    if (!embedded_resource) return;
    auto unknown = prune_embedded_(object, path);
    std::move(unknown.begin(), unknown.end(), std::back_inserter(pruned_paths));
  }

  const EmbeddedResourceHandler& prune_embedded_;
};

bool IsForbiddenNull(const json& value, const Schema* schema) {
  return value.is_null() && schema != nullptr && !schema->nullable;
}

const json& DefaultOf(const Schema& schema) {
  static const json none;
  return schema.constraints == nullptr ? none : schema.constraints->default_value;
}

}  // namespace

std::vector<std::string> PruneMetadata(json& object, const std::string& path) {
  std::vector<std::string> unknown;
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return unknown;
  const Schema& schema = *Schemas::BuiltIn().Find("ObjectMeta");
  for (auto field = metadata->begin(); field != metadata->end();) {
    const bool is_known = schema.Find(field.key()) != nullptr;
    if (!is_known) unknown.push_back(ChildPath(path, "metadata." + field.key()));
    field = is_known ? std::next(field) : metadata->erase(field);
  }
  return unknown;
}

std::vector<std::string> Prune(json& value, const Schema& schema,
                               const EmbeddedResourceHandler& prune_embedded) {
  Pruner pruner(prune_embedded);
  pruner.Prune(value, &schema, "");
  std::sort(pruner.pruned_paths.begin(), pruner.pruned_paths.end());
  return std::move(pruner.pruned_paths);
}

void NormalizeNumbers(json& value) {
  constexpr double kMaxExact = 9007199254740992.0;  // 2^53
  if (value.is_structured()) {
    for (json& field : value) NormalizeNumbers(field);
  } else if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::trunc(number) == number && std::abs(number) <= kMaxExact) {
      value = static_cast<std::int64_t>(number);
    }
  }
}

void ApplySchemaDefaults(json& value, const Schema& schema) {
  if (value.is_array() && schema.items != nullptr) {
    for (json& item : value) {
      if (IsForbiddenNull(item, schema.items)) item = DefaultOf(*schema.items);
      ApplySchemaDefaults(item, *schema.items);
    }
  }
  if (!value.is_object()) return;
  for (const auto& [name, field] : schema.fields) {
    if (field.default_value.is_null()) continue;
    const auto found = value.find(name);
    if (found == value.end() || IsForbiddenNull(*found, field.schema))
      value[name] = field.default_value;
  }
  for (auto entry = value.begin(); entry != value.end();) {
    const Schema* field = schema.FieldSchema(entry.key());
    if (IsForbiddenNull(*entry, field)) *entry = DefaultOf(*field);
    if (IsForbiddenNull(*entry, field)) {
      entry = value.erase(entry);
      continue;
    }
    if (field != nullptr) ApplySchemaDefaults(*entry, *field);
    ++entry;
  }
}

}  // namespace kopp::schema
