#include "crd/custom_resources.hpp"

#include "crd/crd_status.hpp"
#include "json/go_values.hpp"
#include "schema/accessors.hpp"
#include "schema/structural_schema.hpp"
#include "schema/value_validation.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <regex>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns the columns of a version, which are Name and Age by default.
std::vector<Column> PrinterColumns(const json& version) {
  std::vector<Column> columns{
      {.name = "Name", .type = "string", .format = "name", .json_path = ".metadata.name"}};
  json definitions = Field(version, "additionalPrinterColumns");
  if (definitions.empty()) {
    definitions = json::array(
        {{{"name", "Age"}, {"type", "date"}, {"jsonPath", ".metadata.creationTimestamp"}}});
  }
  for (const json& definition : definitions) {
    const std::string path = StringField(definition, "jsonPath");
    std::string description = StringField(definition, "description");
    if (description.empty()) {
      description = "Custom resource definition column (in JSONPath format): " + path;
    }
    columns.push_back({.name = StringField(definition, "name"),
                       .type = StringField(definition, "type"),
                       .format = StringField(definition, "format"),
                       .priority = definition.value("priority", 0),
                       .description = std::move(description),
                       .json_path = path});
  }
  return columns;
}

/// Returns the selectable fields of all versions. All versions share them because an object is
/// stored once for all versions.
std::vector<std::string> SelectableFieldPaths(const json& definition) {
  std::set<std::string> paths;
  for (const json& version : definition["spec"]["versions"]) {
    for (const json& field : Field(version, "selectableFields")) {
      if (const std::string path = StringField(field, "jsonPath"); path.starts_with('.')) {
        paths.insert(path.substr(1));
      }
    }
  }
  return {paths.begin(), paths.end()};
}

/// Converts a simple JSONPath (".spec.replicas") to a JSON pointer. "" stays "".
std::string ToJsonPointer(std::string json_path) {
  std::replace(json_path.begin(), json_path.end(), '.', '/');
  return json_path;
}

/// Validates the replica count at a simple JSONPath, if there is one.
void ValidateReplicaCount(const json& object, const std::string& path, FieldErrors& errors) {
  constexpr std::int64_t kMaxReplicas = std::numeric_limits<std::int32_t>::max();
  const auto add_accessor_error = [&](const json& value, const char* expected) {
    errors.push_back(InvalidValue(path, 0,
                                  path + " accessor error: " + FormatGoValue(value) +
                                      " is of the type " + GoTypeOf(value) + ", expected " +
                                      expected));
  };
  const json* value = &object;
  for (std::string_view rest = std::string_view(path).substr(1); !rest.empty();) {
    const std::string name(rest.substr(0, rest.find('.')));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    if (!value->is_object()) return add_accessor_error(*value, "map[string]interface{}");
    const auto found = value->find(name);
    if (found == value->end() || found->is_null()) return;
    value = &*found;
  }
  if (!IsInteger(*value)) return add_accessor_error(*value, "int64");
  if (*value < 0) {
    errors.push_back(InvalidValue(path, *value, "should be a non-negative integer"));
  } else if (*value > kMaxReplicas) {
    errors.push_back(InvalidValue(path, *value, "should be less than or equal to 2147483647"));
  }
}

/// Validates the replica counts of the scale subresource.
void ValidateReplicas(const json& object, const json& scale, FieldErrors& errors) {
  for (const char* name : {"specReplicasPath", "statusReplicasPath"}) {
    const std::string path = StringField(scale, name);
    if (!path.empty()) ValidateReplicaCount(object, path, errors);
  }
}

/// `stored_schema` lives as long as the strategy.
KindStrategy CustomResourceStrategy(const std::shared_ptr<const Schema>& schema,
                                    const std::shared_ptr<const Schema>& stored_schema,
                                    bool has_status, const json& scale) {
  KindStrategy strategy;
  strategy.generation =
      has_status ? KindStrategy::Generation::kSpec : KindStrategy::Generation::kSpecAndStatus;
  strategy.finalizer_domain = KindStrategy::FinalizerDomain::kPreferred;
  strategy.allows_unconditional_update = false;
  const auto add = [](FieldErrors others, FieldErrors& errors) {
    std::move(others.begin(), others.end(), std::back_inserter(errors));
  };
  strategy.validate = [schema, stored_schema, add, scale](const json& object, FieldErrors& errors) {
    if (object.at("metadata").contains("resourceVersion")) return;  // an update
    add(ValidateValue(object, *schema), errors);
    ValidateReplicas(object, scale, errors);
  };
  strategy.validate_update = [schema, add, has_status, scale](const json& before, const json& after,
                                                              FieldErrors& errors) {
    const json& old_status = Field(before, "status");
    const json& new_status = Field(after, "status");
    const Schema* status_schema = schema->FieldSchema("status");
    if (!has_status || old_status == new_status) {
      add(ValidateValue(after, *schema, "", &before), errors);
    } else if (status_schema != nullptr) {
      add(ValidateValue(new_status, *status_schema, "status", &old_status), errors);
    }
    ValidateReplicas(after, scale, errors);
  };
  return strategy;
}

/// Returns the warning for requests to a deprecated version, or "".
std::string DeprecationWarning(const json& definition, const json& version) {
  if (Field(version, "deprecated") != true) return "";
  if (version.contains("deprecationWarning")) return StringField(version, "deprecationWarning");
  const std::string group = StringField(definition["spec"], "group");
  const std::string kind = StringField(definition["spec"]["names"], "kind");
  std::string replacement;
  for (const json& other : definition["spec"]["versions"]) {
    const std::string name = StringField(other, "name");
    if (Field(other, "served") != true || Field(other, "deprecated") == true) continue;
    if (replacement.empty() || IsPreferredVersion(name, replacement)) replacement = name;
  }
  std::string warning = group + '/' + StringField(version, "name") + ' ' + kind + " is deprecated";
  if (!replacement.empty()) warning += "; use " + group + '/' + replacement + ' ' + kind;
  return warning;
}

/// Returns the schema of the version that is stored: `schema`, or that of another version.
std::shared_ptr<const Schema> StoredSchema(const json& definition, const json& version,
                                           const std::shared_ptr<const Schema>& schema) {
  for (const json& other : definition["spec"]["versions"]) {
    if (Field(other, "storage") != true || other["name"] == version["name"]) continue;
    return StructuralSchema(other["schema"]["openAPIV3Schema"]);
  }
  return schema;
}

Resource BuildResource(const json& definition, const json& version) {
  const json& spec = definition["spec"];
  const json& names = definition["status"]["acceptedNames"];
  const json& subresources = Field(version, "subresources");
  const json& scale = Field(subresources, "scale");
  const auto schema = StructuralSchema(version["schema"]["openAPIV3Schema"]);
  Resource resource;
  resource.group = StringField(spec, "group");
  resource.version = StringField(version, "name");
  resource.kind = StringField(names, "kind");
  resource.list_kind = StringField(names, "listKind");
  resource.plural = StringField(names, "plural");
  resource.singular = StringField(names, "singular");
  resource.namespaced = spec["scope"] == "Namespaced";
  resource.short_names = StringListField(names, "shortNames");
  resource.categories = StringListField(names, "categories");
  for (const char* name : {"status", "scale"}) {
    if (!Field(subresources, name).is_null()) resource.subresources.emplace_back(name);
  }
  resource.verbs = {"delete", "deletecollection", "get",    "list",
                    "patch",  "create",           "update", "watch"};
  resource.columns = PrinterColumns(version);
  resource.schema = schema.get();
  resource.scale = {.spec = ToJsonPointer(StringField(scale, "specReplicasPath")),
                    .status = ToJsonPointer(StringField(scale, "statusReplicasPath")),
                    .selector = ToJsonPointer(StringField(scale, "labelSelectorPath"))};
  resource.built_in = false;
  resource.selectable_fields = SelectableFieldPaths(definition);
  resource.storage_resource = resource.group_resource();
  const auto stored_schema = StoredSchema(definition, version, schema);
  resource.strategy = std::make_shared<const KindStrategy>(
      CustomResourceStrategy(schema, stored_schema, resource.HasSubresource("status"), scale));
  resource.deprecation_warning = DeprecationWarning(definition, version);
  resource.terminating = IsTerminating(definition);
  if (definition["metadata"].value("generation", 1) > 1 || spec["versions"].size() > 1) {
    resource.stored_schema = stored_schema.get();
  }
  return resource;
}

}  // namespace

std::vector<ResourcePtr> ServedResources(const json& definition) {
  std::vector<ResourcePtr> entries;
  for (const json& version : definition["spec"]["versions"]) {
    if (Field(version, "served") != true) continue;
    entries.push_back(std::make_shared<const Resource>(BuildResource(definition, version)));
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return IsPreferredVersion(a->version, b->version);
  });
  return entries;
}

bool IsPreferredVersion(const std::string& a, const std::string& b) {
  static const std::regex pattern("v(\\d{1,9})(?:(alpha|beta)(\\d{1,9}))?");
  const auto priority = [](const std::string& version) {
    std::smatch groups;
    if (!std::regex_match(version, groups, pattern)) return std::tuple(0, 0, 0);
    const int stability = groups[2] == "alpha" ? 1 : groups[2] == "beta" ? 2 : 3;
    return std::tuple(stability, std::stoi(groups[1]),
                      groups[3].matched ? std::stoi(groups[3]) : 0);
  };
  const auto priority_a = priority(a);
  const auto priority_b = priority(b);
  return priority_a == priority_b ? a < b : priority_a > priority_b;
}

}  // namespace kopp::apiserver
