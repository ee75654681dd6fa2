#include "part_rules.hpp"

#include "metadata_rules.hpp"
#include "names.hpp"
#include "said.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

using Visit = std::function<void(const json&, const Schema&, const std::string& path)>;

/// Calls `visit` with every value that has a schema, the outer ones first.
void ForEach(const json& value, const Schema& schema, const std::string& path, const Visit& visit) {
  visit(value, schema, path);
  if (value.is_array() && schema.items != nullptr) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      ForEach(value[i], *schema.items, path + '[' + std::to_string(i) + ']', visit);
    }
  }
  if (!value.is_object()) return;
  for (const auto& [name, part] : value.items()) {
    if (schema.embedded && name == "metadata") continue;
    const Schema* of = schema.Of(name);
    if (of != nullptr) ForEach(part, *of, path.empty() ? name : path + '.' + name, visit);
  }
}

/// An object in an object is some kind of object.
void CheckEmbedded(const json& value, const Schema& schema, const std::string& path,
                   Causes& causes) {
  if (!schema.embedded || !value.is_object()) return;
  for (const char* name : {"apiVersion", "kind"}) {
    const auto found = value.find(name);
    if (found == value.end()) {
      causes.push_back(Required(path + '.' + name, ""));
    } else if (*found == "") {
      causes.push_back(InvalidValue(path + '.' + name, "", "must not be empty"));
    }
  }
  if (const std::string version = SaidText(value, "apiVersion");
      std::count(version.begin(), version.end(), '/') > 1) {
    causes.push_back(
        InvalidValue(path + ".apiVersion", version, "unexpected GroupVersion string: " + version));
  }
  if (const std::string kind = SaidText(value, "kind"); !kind.empty()) {
    if (const Why why = NotADns1035Label(Lower(kind))) {
      causes.push_back(InvalidValue(path + ".kind", kind,
                                    "may have mixed case, but should otherwise match: " + *why));
    }
  }
  for (Cause& cause : MetadataProblems(value, [](std::string_view) { return Why(); })) {
    if (cause.field == "metadata.name") continue;  // it may have none
    cause.field = path + '.' + cause.field;
    causes.push_back(std::move(cause));
  }
}

/// A set has each value once; a list by keys has each key once.
void CheckItems(const json& value, const Schema& schema, const std::string& path, Causes& causes) {
  if (!value.is_array() || !(schema.IsSet() || schema.IsKeyed())) return;
  std::set<json> seen;
  for (std::size_t i = 0; i < value.size(); ++i) {
    json step = value[i];
    if (schema.IsKeyed()) {
      step = json::object();
      for (const std::string& key : schema.keys) {
        if (value[i].is_object() && value[i].contains(key)) step[key] = value[i][key];
      }
    }
    if (!seen.insert(step).second) {
      causes.push_back(Duplicate(path + '[' + std::to_string(i) + ']', step));
    }
  }
}

}  // namespace

void CheckParts(const json& value, const Schema& schema, const std::string& at, Causes& causes) {
  ForEach(value, schema, at, [&](const json& part, const Schema& of, const std::string& path) {
    CheckEmbedded(part, of, path, causes);
  });
  ForEach(value, schema, at, [&](const json& part, const Schema& of, const std::string& path) {
    CheckItems(part, of, path, causes);
  });
}

}  // namespace kopp::apiserver
