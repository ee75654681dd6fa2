#include "kubeconfig.hpp"

#include "config_input.hpp"
#include "quoted.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace kopp::detail {
namespace {

// Walks a document before a tree is made of it. An alias could make the tree a thousand times
// larger than its text, or endless; very many nodes could do with memory what a small file should
// not. Nesting needs no guard here: yaml-cpp stops at 500.
class Guard final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { Count(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw YAML::ParserException(mark, "a kubeconfig may not use aliases (*name)");
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

std::string At(const std::string& where, const YAML::Mark& mark) {
  return mark.is_null() ? where : where + ", line " + std::to_string(mark.line + 1);
}

YAML::Node Parse(const std::string& text, const std::string& where) {
  try {
    std::istringstream stream(text);
    Guard guard;
    YAML::Parser(stream).HandleNextDocument(guard);
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw ConfigError(At(where, error.mark) + ": not YAML that can be read: " + error.msg +
                      "; correct it, or write it anew with `kubectl config view --raw`");
  }
}

[[noreturn]] void IsThereTwice(const YAML::Node& key, const std::string& where) {
  throw ConfigError(At(where, key.Mark()) + ": " + Quoted(key.Scalar()) +
                    " is there twice; remove one");
}

// The value of `key` in `map`; nullopt where there is none, or an empty one.
std::optional<YAML::Node> Find(const YAML::Node& map, std::string_view key,
                               const std::string& where) {
  std::optional<YAML::Node> found;
  for (const auto& field : map) {
    if (!field.first.IsScalar() || field.first.Scalar() != key) continue;
    if (found) IsThereTwice(field.first, where);
    found = field.second;
  }
  return found && !found->IsNull() ? found : std::nullopt;
}

std::string FindText(const YAML::Node& map, std::string_view key, const std::string& where) {
  const auto value = Find(map, key, where);
  if (!value) return {};
  if (value->IsScalar()) return value->Scalar();
  throw ConfigError(At(where, value->Mark()) + ": " + std::string(key) + " has to be a text");
}

// kubectl: an empty text or list says as little as none.
bool IsEmpty(const YAML::Node& value) {
  return value.IsNull() || (value.IsScalar() && value.Scalar().empty()) ||
         (value.IsSequence() && value.size() == 0);
}

KubeconfigEntry ReadEntry(const YAML::Node& fields, std::string where,
                          const std::filesystem::path& path) {
  KubeconfigEntry entry{.where = std::move(where), .path = path, .fields = {}};
  std::set<std::string> keys;
  for (const auto& field : fields) {
    const YAML::Node& value = field.second;
    if (!field.first.IsScalar()) continue;
    const auto [key, is_new] = keys.insert(field.first.Scalar());
    if (!is_new) IsThereTwice(field.first, entry.where);
    if (IsEmpty(value)) continue;
    entry.fields[*key] = {.text = value.IsScalar() ? value.Scalar() : std::string(),
                          .is_text = value.IsScalar(),
                          .line = value.Mark().line + 1};
  }
  return entry;
}

// Adds the list `plural` of `root` to `entries`: what an earlier file named stays as it is.
void AddEntries(const YAML::Node& root, const std::string& plural, const std::string& singular,
                const std::filesystem::path& path, const std::string& where,
                Kubeconfig::Entries& entries) {
  const auto list = Find(root, plural, where);
  if (!list) return;
  if (!list->IsSequence()) {
    throw ConfigError(At(where, list->Mark()) + ": " + plural + " has to be a list");
  }
  Kubeconfig::Entries here;
  for (const YAML::Node& item : *list) {
    const std::string place = At(where, item.Mark());
    const std::string name = item.IsMap() ? FindText(item, "name", place) : std::string();
    const auto fields = item.IsMap() ? Find(item, singular, place) : std::nullopt;
    if (name.empty() || (fields && !fields->IsMap())) {
      throw ConfigError(place + ": each of " + plural + " has to have a name and a " + singular +
                        " with fields");
    }
    auto entry = ReadEntry(fields.value_or(YAML::Node()),
                           where + ": " + singular + ' ' + Quoted(name), path);
    if (!here.try_emplace(name, std::move(entry)).second) {
      throw ConfigError(place + ": " + singular + ' ' + Quoted(name) +
                        " is there twice; remove or rename one");
    }
  }
  entries.merge(here);
}

void CheckIsKubeconfig(const YAML::Node& root, const std::string& where) {
  bool known = root.IsMap();
  if (known) {
    const std::string kind = FindText(root, "kind", where);
    known = kind == "Config";
    for (const char* key : {"clusters", "users", "contexts", "current-context"}) {
      known = known || (kind.empty() && Find(root, key, where));
    }
  }
  if (!known) {
    throw ConfigError(where + ": not a kubeconfig (kind: Config, with clusters, users and " +
                      "contexts); give the file that kubectl uses");
  }
}

}  // namespace

Kubeconfig MergeKubeconfigs(const std::vector<KubeconfigFile>& files) {
  Kubeconfig merged;
  for (const auto& [path, text] : files) {
    const std::string where = "kubeconfig " + path.string();
    merged.where += (merged.where.empty() ? "" : ", ") + where;
    const YAML::Node root = Parse(text, where);
    if (root.IsNull()) continue;  // an empty file: kubectl takes it too
    CheckIsKubeconfig(root, where);
    if (merged.current_context.empty()) {
      merged.current_context = FindText(root, "current-context", where);
    }
    AddEntries(root, "clusters", "cluster", path, where, merged.clusters);
    AddEntries(root, "users", "user", path, where, merged.users);
    AddEntries(root, "contexts", "context", path, where, merged.contexts);
  }
  return merged;
}

}  // namespace kopp::detail
