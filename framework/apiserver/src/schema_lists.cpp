#include "schema_words.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

std::string IfMap() { return std::string(" if parent array's ") + kListType + " is map"; }

std::string PropertyAt(const std::string& at, const json& key) {
  return at + ".items.properties[" + key.get<std::string>() + ']';
}

void CheckKeysAreThere(const json& properties, const json& keys, const std::string& at,
                       Causes& causes) {
  bool all_known = true;
  for (const json& key : keys) {
    const json& property = Said(properties, key.get<std::string>());
    all_known &= !property.is_null();
    const json& type = Said(property, "type");
    if (type != "object" && type != "array") continue;
    causes.push_back(
        InvalidValue(PropertyAt(at, key) + ".type", type, "must be a scalar type" + IfMap()));
  }
  if (std::set<json>(keys.begin(), keys.end()).size() != keys.size()) {
    causes.push_back(
        InvalidValue(at + '.' + kListKeys, keys, "must not contain duplicate entries"));
  }
  if (!all_known) {
    causes.push_back(
        InvalidValue(at + '.' + kListKeys, keys, "entries must all be names of item properties"));
  }
}

void CheckKeysAreGiven(const json& items, const json& keys, const std::string& at, Causes& causes) {
  const json& required = Said(items, "required");
  for (const json& key : keys) {
    const json& property = Said(Said(items, "properties"), key.get<std::string>());
    if (property.is_null() || HasWord(property, "default") ||
        std::find(required.begin(), required.end(), key) != required.end()) {
      continue;
    }
    causes.push_back(Required(PropertyAt(at, key) + ".default",
                              std::string("this property is in ") + kListKeys +
                                  ", so it must have a default or be a required property"));
  }
}

void CheckKeys(const json& items, const json& keys, const std::string& at, Causes& causes) {
  if (keys.empty()) {
    causes.push_back(Required(at + '.' + kListKeys,
                              std::string("must not be empty if ") + kListType + " is map"));
  } else if (Said(items, "type") != "object") {
    causes.push_back(
        InvalidValue(at + ".items.type", Said(items, "type"), "must be object" + IfMap()));
  } else {
    CheckKeysAreThere(Said(items, "properties"), keys, at, causes);
    CheckKeysAreGiven(items, keys, at, causes);
  }
}

void CheckItemsOfSet(const json& items, const std::string& at, Causes& causes) {
  const auto require_atomic = [&](const char* word) {
    causes.push_back(
        InvalidValue(at + ".items." + word, Said(items, word),
                     std::string("must be atomic as item of a list with ") + kListType + "=set"));
  };
  if (Said(items, "type") == "object" && Said(items, kMapType) != "atomic") {
    require_atomic(kMapType);
  }
  if (Said(items, "type") == "array" && HasWord(items, kListType) &&
      Said(items, kListType) != "atomic") {
    require_atomic(kListType);
  }
}

}  // namespace

void CheckListWords(const json& schema, const std::string& at, Causes& causes) {
  const json& kind = Said(schema, kListType);
  const json& keys = Said(schema, kListKeys);
  if (!keys.empty() && kind != "map") {
    causes.push_back(Required(at + '.' + kListType,
                              std::string("must be map if ") + kListKeys + " is non-empty"));
  }
  if (kind.is_null()) return;
  RequireType("array", schema, at, std::string("must be array if ") + kListType + " is specified",
              causes);
  RequireOneOf(kListType, {"atomic", "set", "map"}, schema, at, causes);
  if (kind == "set") CheckItemsOfSet(Said(schema, "items"), at, causes);
  if (kind == "map") CheckKeys(Said(schema, "items"), keys, at, causes);
}

}  // namespace kopp::apiserver
