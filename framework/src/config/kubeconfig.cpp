#include "config/kubeconfig.hpp"

#include "config/config_input.hpp"
#include "system/quoted.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace kopp::detail {
namespace {

// Checks the parse events of a document before a tree is built. Rejects aliases, because an alias
// can make the tree a thousand times larger than the text, or infinite. Limits the number of nodes,
// and so the memory. The depth needs no check here: yaml-cpp allows 500 levels.
class DocumentLimits final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { Count(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw YAML::ParserException(mark, "a kubeconfig must not use aliases (*name)");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {
    Count(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {
    Count(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    Count(mark);
  }
  void OnMapEnd() override {}

 private:
  static constexpr std::size_t kMaxNodes = 100'000;

  void Count(const YAML::Mark& mark) {
    if (++nodes_ > kMaxNodes) throw YAML::ParserException(mark, "more than 100,000 values");
  }

  std::size_t nodes_ = 0;
};

std::string Location(const std::string& where, const YAML::Mark& mark) {
  return mark.is_null() ? where : where + ", line " + std::to_string(mark.line + 1);
}

YAML::Node ParseYaml(const std::string& text, const std::string& where) {
  try {
    std::istringstream stream(text);
    DocumentLimits limits;
    YAML::Parser(stream).HandleNextDocument(limits);
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw ConfigError(Location(where, error.mark) + ": invalid YAML: " + Escaped(error.msg) +
                      "; correct it, or recreate it with `kubectl config view --raw`");
  }
}

[[noreturn]] void ThrowDuplicateField(const YAML::Node& key, const std::string& where) {
  throw ConfigError(Location(where, key.Mark()) + ": " + Quoted(key.Scalar()) +
                    " is defined twice; remove one");
}

// Returns the value of `key` in `map`, or nullopt if it is missing or null.
std::optional<YAML::Node> Find(const YAML::Node& map, std::string_view key,
                               const std::string& where) {
  std::optional<YAML::Node> found;
  for (const auto& field : map) {
    if (!field.first.IsScalar() || field.first.Scalar() != key) continue;
    if (found) ThrowDuplicateField(field.first, where);
    found = field.second;
  }
  return found && !found->IsNull() ? found : std::nullopt;
}

std::string FindString(const YAML::Node& map, std::string_view key, const std::string& where) {
  const auto value = Find(map, key, where);
  if (!value) return {};
  if (value->IsScalar()) return value->Scalar();
  throw ConfigError(Location(where, value->Mark()) + ": " + std::string(key) + " must be a string");
}

// As in kubectl, an empty string or list counts as missing.
bool IsEmpty(const YAML::Node& value) {
  return value.IsNull() || (value.IsScalar() && value.Scalar().empty()) ||
         (value.IsSequence() && value.size() == 0);
}

KubeconfigField ReadField(const YAML::Node& value, const std::string& where);

// Returns the fields of a map that have a value. Recursion is safe: yaml-cpp allows 500 levels.
KubeconfigField::Fields ReadFields(const YAML::Node& map, const std::string& where) {
  KubeconfigField::Fields fields;
  std::set<std::string> keys;
  for (const auto& field : map) {
    if (!field.first.IsScalar()) continue;
    const auto [key, is_new] = keys.insert(field.first.Scalar());
    if (!is_new) ThrowDuplicateField(field.first, where);
    if (!IsEmpty(field.second)) fields[*key] = ReadField(field.second, where);
  }
  return fields;
}

KubeconfigField ReadField(const YAML::Node& value, const std::string& where) {
  using Type = KubeconfigField::Type;
  KubeconfigField field{.line = value.Mark().line + 1};
  if (value.IsMap()) {
    field.type = Type::kMap;
    field.fields = ReadFields(value, where);
  } else if (value.IsSequence()) {
    field.type = Type::kList;
    for (const YAML::Node& item : value) field.items.push_back(ReadField(item, where));
  } else if (value.IsScalar()) {
    field.text = value.Scalar();
  }
  return field;
}

// Adds the entries of the list `plural` in `root` to `entries`. Entries of earlier files stay.
void AddEntries(const YAML::Node& root, const std::string& plural, const std::string& singular,
                const std::filesystem::path& path, const std::string& where,
                Kubeconfig::Entries& entries) {
  const auto list = Find(root, plural, where);
  if (!list) return;
  if (!list->IsSequence()) {
    throw ConfigError(Location(where, list->Mark()) + ": " + plural + " must be a list");
  }
  Kubeconfig::Entries new_entries;
  for (const YAML::Node& item : *list) {
    const std::string location = Location(where, item.Mark());
    const std::string name = item.IsMap() ? FindString(item, "name", location) : std::string();
    const auto fields = item.IsMap() ? Find(item, singular, location) : std::nullopt;
    if (name.empty() || (fields && !fields->IsMap())) {
      throw ConfigError(location + ": each entry of " + plural + " must have a name and a " +
                        singular + " (a map)");
    }
    KubeconfigEntry entry{.where = where + ": " + singular + ' ' + Quoted(name), .path = path};
    entry.fields = ReadFields(fields.value_or(YAML::Node()), entry.where);
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
    const YAML::Node root = ParseYaml(text, where);
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
