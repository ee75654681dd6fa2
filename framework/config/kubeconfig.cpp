#include "kubeconfig.hpp"

#include "base/quoted.hpp"
#include "yaml_document.hpp"

#include <optional>
#include <set>
#include <utility>

#include <yaml-cpp/yaml.h>

namespace kopp::detail {
namespace {

constexpr const char* kAdvice = "correct it, or recreate it with `kubectl config view --raw`";

[[noreturn]] void ThrowDuplicateField(const YAML::Node& key, const std::string& name,
                                      const std::string& where) {
  throw ConfigError(YamlLocation(where, key.Mark()) + ": " + name +
                    " is defined twice; remove one");
}

// Returns the value of `key` in `map`, or nullopt if it is missing or null.
std::optional<YAML::Node> Find(const YAML::Node& map, std::string_view key,
                               const std::string& where) {
  std::optional<YAML::Node> found;
  for (const auto& field : map) {
    if (!field.first.IsScalar() || field.first.Scalar() != key) continue;
    if (found) ThrowDuplicateField(field.first, Quoted(key), where);
    found = field.second;
  }
  return found && !found->IsNull() ? found : std::nullopt;
}

std::string FindString(const YAML::Node& map, std::string_view key, const std::string& where) {
  const auto value = Find(map, key, where);
  if (!value) return {};
  if (value->IsScalar()) return value->Scalar();
  throw ConfigError(YamlLocation(where, value->Mark()) + ": " + std::string(key) +
                    " must be a string");
}

// As in kubectl, an empty string or list counts as missing.
bool IsEmpty(const YAML::Node& value) {
  return value.IsNull() || (value.IsScalar() && value.Scalar().empty()) ||
         (value.IsSequence() && value.size() == 0);
}

KubeconfigField ReadField(const YAML::Node& value, const std::string& where);

// Returns the fields of a map that have a value. Recursion is safe: yaml-cpp allows 500 levels.
// `is_entry`: the map is an entry of the kubeconfig. Errors do not show the keys of other maps,
// because a credential in braces is a map.
KubeconfigField::Fields ReadFields(const YAML::Node& map, const std::string& where, bool is_entry) {
  KubeconfigField::Fields fields;
  std::set<std::string> keys;
  for (const auto& field : map) {
    if (!field.first.IsScalar()) continue;
    const auto [key, is_new] = keys.insert(field.first.Scalar());
    if (!is_new) ThrowDuplicateField(field.first, is_entry ? Quoted(*key) : "a key", where);
    if (!IsEmpty(field.second)) fields[*key] = ReadField(field.second, where);
  }
  return fields;
}

KubeconfigField ReadField(const YAML::Node& value, const std::string& where) {
  using Type = KubeconfigField::Type;
  KubeconfigField field{.line = value.Mark().line + 1};
  if (value.IsMap()) {
    field.type = Type::kMap;
    field.fields = ReadFields(value, where, /*is_entry=*/false);
  } else if (value.IsSequence()) {
    field.type = Type::kList;
    for (const YAML::Node& item : value) field.items.push_back(ReadField(item, where));
  } else if (value.IsScalar()) {
    field.text = value.Scalar();
  }
  return field;
}

// Reads an item of the list `plural`. Throws ConfigError if it is not valid.
KubeconfigField::Fields ReadEntry(const YAML::Node& item, const std::string& plural,
                                  const std::string& singular, const std::string& where,
                                  const std::string& location) {
  const auto fields = item.IsMap() ? Find(item, singular, where) : std::nullopt;
  if (!item.IsMap() || (fields && !fields->IsMap())) {
    throw ConfigError(location + ": each entry of " + plural + " must have a name and a " +
                      singular + " (a map)");
  }
  return ReadFields(fields.value_or(YAML::Node()), where, /*is_entry=*/true);
}

// Adds the entries of the list `plural` in `root` to `entries`. Entries of earlier files stay. An
// entry without a name is ignored, as by kubectl: no context can name it.
void AddEntries(const YAML::Node& root, const std::string& plural, const std::string& singular,
                const std::filesystem::path& path, const std::string& where,
                Kubeconfig::Entries& entries) {
  const auto list = Find(root, plural, where);
  if (!list) return;
  if (!list->IsSequence()) {
    throw ConfigError(YamlLocation(where, list->Mark()) + ": " + plural + " must be a list");
  }
  Kubeconfig::Entries new_entries;
  for (const YAML::Node& item : *list) {
    const std::string location = YamlLocation(where, item.Mark());
    const std::string name = item.IsMap() ? FindString(item, "name", where) : std::string();
    if (name.empty()) continue;
    KubeconfigEntry entry{.where = where + ": " + singular + ' ' + Quoted(name), .path = path};
    try {
      entry.fields = ReadEntry(item, plural, singular, entry.where, location);
    } catch (const ConfigError& error) {  // other entries can be used
      entry.error = error.what();
    }
    if (!new_entries.try_emplace(name, std::move(entry)).second) {
      throw ConfigError(location + ": " + singular + ' ' + Quoted(name) +
                        " is defined twice; remove or rename one");
    }
  }
  entries.merge(new_entries);
}

void ValidateKubeconfig(const YAML::Node& root, const std::string& where) {
  bool is_kubeconfig = root.IsMap();
  if (is_kubeconfig) {
    const std::string kind = FindString(root, "kind", where);
    is_kubeconfig = kind == "Config";
    for (const char* key : {"clusters", "users", "contexts", "current-context"}) {
      is_kubeconfig = is_kubeconfig || (kind.empty() && Find(root, key, where));
    }
  }
  if (!is_kubeconfig) {
    throw ConfigError(where +
                      ": this file is not a kubeconfig, which has \"kind: Config\" and lists of " +
                      "clusters, users and contexts; use the file that kubectl uses");
  }
}

}  // namespace

Kubeconfig MergeKubeconfigs(const std::vector<KubeconfigFile>& files) {
  Kubeconfig merged;
  for (const auto& [path, text] : files) {
    const std::string where = "kubeconfig " + path.string();
    merged.where += (merged.where.empty() ? "" : ", ") + where;
    const YAML::Node root = ParseYamlDocument(text, where, kAdvice);
    if (root.IsNull()) continue;  // an empty file is allowed, as in kubectl
    ValidateKubeconfig(root, where);
    if (merged.current_context.empty()) {
      merged.current_context = FindString(root, "current-context", where);
    }
    AddEntries(root, "clusters", "cluster", path, where, merged.clusters);
    AddEntries(root, "users", "user", path, where, merged.users);
    AddEntries(root, "contexts", "context", path, where, merged.contexts);
  }
  return merged;
}

}  // namespace kopp::detail
