#include "custom_values.hpp"

#include "fit_to_types.hpp"
#include "schema_rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

std::string Below(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + '.' + name;
}

/// The names of `object` that `schema` does not know, below `path`.
std::vector<std::string> UnknownIn(const json& object, const Schema& schema,
                                   const std::string& path) {
  std::vector<std::string> unknown;
  if (!object.is_object()) return unknown;
  for (const auto& [name, value] : object.items()) {
    if (schema.Find(name) == nullptr) unknown.push_back(Below(path, name));
  }
  return unknown;
}

/// 1.0 is the same as 1, and is written so.
void Straighten(json& value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: above it numbers have gaps
  if (value.is_structured()) {
    for (json& part : value) Straighten(part);
  } else if (value.is_number_float()) {
    const double number = value.get<double>();
    if (std::trunc(number) == number && std::abs(number) <= kExact) {
      value = static_cast<std::int64_t>(number);
    }
  }
}

class Pruner {
 public:
  std::vector<std::string> dropped;

  /// Without a schema, nothing is known.
  void Prune(json& value, const Schema* schema, const std::string& path) {
    if (value.is_array()) {
      const Schema* items = schema == nullptr ? nullptr : schema->items;
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (items == nullptr && schema != nullptr && schema->open) continue;
        Prune(value[i], items, path + '[' + std::to_string(i) + ']');
      }
    }
    if (value.is_object()) PruneFields(value, schema, path);
  }

  /// The same metadata as every object's. Throws std::invalid_argument.
  void PruneMetadata(json& object, const std::string& path) {
    const auto metadata = object.find("metadata");
    if (metadata == object.end() || metadata->is_null()) return;
    const std::string below = Below(path, "metadata");
    const Schema& schema = *Schemas::BuiltIn().Find("ObjectMeta");
    const json sent = *metadata;
    auto unknown = UnknownIn(*metadata, schema, below);
    std::move(unknown.begin(), unknown.end(), std::back_inserter(dropped));
    try {
      if (!metadata->is_object()) {
        throw std::invalid_argument(std::string("json: cannot unmarshal ") +
                                    (sent.is_string()    ? "string"
                                     : sent.is_array()   ? "array"
                                     : sent.is_boolean() ? "bool"
                                                         : "number") +
                                    " into Go value of type v1.ObjectMeta");
      }
      FitToTypes(*metadata, schema);
    } catch (const std::invalid_argument& error) {
      if (path.empty()) throw;
      throw std::invalid_argument(below + ": Invalid value: " + sent.dump() + ": " + error.what());
    }
  }

 private:
  void PruneFields(json& object, const Schema* schema, const std::string& path) {
    const bool embedded = schema != nullptr && schema->embedded;
    for (auto field = object.begin(); field != object.end();) {
      const std::string below = Below(path, field.key());
      const Schema* part = schema == nullptr ? nullptr : schema->Of(field.key());
      if (part != nullptr) {
        if (!(embedded && field.key() == "metadata")) Prune(*field, part, below);
      } else if (schema == nullptr || !schema->open) {
        dropped.push_back(below);
        field = object.erase(field);
        continue;
      }
      ++field;
    }
    if (!embedded) return;
    for (const char* name : {"apiVersion", "kind"}) {
      const auto found = object.find(name);
      if (found == object.end() || found->is_string()) continue;
      throw std::invalid_argument(Below(path, name) + ": Invalid value: " + found->dump() +
                                  ": must be a string");
    }
    PruneMetadata(object, path);
  }
};

bool IsNoValue(const json& value, const Schema* schema) {
  return value.is_null() && schema != nullptr && !schema->nullable;
}

const json& FallbackOf(const Schema& schema) {
  static const json none;
  return schema.rules == nullptr ? none : schema.rules->fallback;
}

}  // namespace

std::vector<std::string> Prune(json& value, const Schema& schema) {
  Pruner pruner;
  pruner.Prune(value, &schema, "");
  std::sort(pruner.dropped.begin(), pruner.dropped.end());
  return std::move(pruner.dropped);
}

void SetDefaults(json& value, const Schema& schema) {
  if (value.is_array() && schema.items != nullptr) {
    for (json& item : value) {
      if (IsNoValue(item, schema.items)) item = FallbackOf(*schema.items);
      SetDefaults(item, *schema.items);
    }
  }
  if (!value.is_object()) return;
  for (const auto& [name, field] : schema.fields) {
    if (field.fallback.is_null()) continue;
    const auto found = value.find(name);
    if (found == value.end() || IsNoValue(*found, field.schema)) value[name] = field.fallback;
  }
  for (auto entry = value.begin(); entry != value.end();) {
    const Schema* part = schema.Of(entry.key());
    if (IsNoValue(*entry, part)) *entry = FallbackOf(*part);
    if (IsNoValue(*entry, part)) {
      entry = value.erase(entry);
      continue;
    }
    if (part != nullptr) SetDefaults(*entry, *part);
    ++entry;
  }
}

std::vector<std::string> FitToSchema(json& object, const Schema& schema) {
  Straighten(object);
  Pruner pruner;
  pruner.PruneMetadata(object, "");
  json metadata = object.value("metadata", json());
  object.erase("metadata");
  pruner.Prune(object, &schema, "");
  SetDefaults(object, schema);
  if (!metadata.is_null()) object["metadata"] = std::move(metadata);
  std::sort(pruner.dropped.begin(), pruner.dropped.end());
  return std::move(pruner.dropped);
}

}  // namespace kopp::apiserver
