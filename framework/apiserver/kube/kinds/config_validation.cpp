#include "kinds/config_validation.hpp"

#include "json/base64.hpp"
#include "json/go_values.hpp"
#include "json/parse.hpp"
#include "schema/field_validation.hpp"
#include "strategy/kind_strategy.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxSize = 1 << 20;
const json null_value;

/// Returns the size of base64 text after decoding.
std::size_t DecodedSize(const std::string& text) {
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  return text.size() / 4 * 3 - padding;
}

/// Validates the keys of a map of data, which must not be in `others`. Returns the size of all
/// values; those of an `encoded` map are base64.
std::size_t ValidateDataKeys(const FieldRef& data, bool encoded, const FieldRef& others,
                             FieldErrors& errors) {
  std::size_t size = 0;
  for (const std::string& key : data.keys()) {
    const FieldRef entry = data.Key(key);
    if (const NameError detail = ValidateConfigKey(key)) {
      errors.push_back(InvalidValue(entry.path(), key, *detail));
      constexpr const char* kParent = "must not start with '..'";
      if (key.starts_with("..") && *detail != kParent && key != "..")
        errors.push_back(InvalidValue(entry.path(), key, kParent));
    }
    if (others.Key(key).exists()) {
      errors.push_back(InvalidValue(entry.path(), key, "duplicate of key present in binaryData"));
    }
    size += encoded ? DecodedSize(entry.text()) : entry.text().size();
  }
  return size;
}

void ValidateConfigMap(const json& object, FieldErrors& errors) {
  const FieldRef map(object);
  const std::size_t size = ValidateDataKeys(map["data"], false, map["binaryData"], errors) +
                           ValidateDataKeys(map["binaryData"], true, FieldRef(null_value), errors);
  if (size > kMaxSize) errors.push_back(TooLong("[]", kMaxSize));
}

/// Requires that Base64 text contains a JSON object.
void ValidateJsonObject(const FieldRef& encoded, FieldErrors& errors) {
  std::string detail;
  try {
    const json value = ParseJsonOrYaml(Base64Decode(encoded.text()), "application/json");
    if (value.is_object() || value.is_null()) return;
    detail = std::string("json: cannot unmarshal ") + GoJsonType(value) +
             " into Go value of type map[string]interface {}";
  } catch (const std::invalid_argument& error) {
    detail = error.what();
  }
  errors.push_back(InvalidValue(encoded.path(), "<secret contents redacted>", detail));
}

void ValidateSecret(const json& object, FieldErrors& errors) {
  static const std::map<std::string, std::vector<std::string>, std::less<>> required_keys_by_type =
      {
          {"kubernetes.io/dockercfg", {".dockercfg"}},
          {"kubernetes.io/dockerconfigjson", {".dockerconfigjson"}},
          {"kubernetes.io/ssh-auth", {"ssh-privatekey"}},
          {"kubernetes.io/tls", {"tls.crt", "tls.key"}},
      };
  const FieldRef secret(object);
  const FieldRef data = secret["data"];
  if (ValidateDataKeys(data, true, FieldRef(null_value), errors) > kMaxSize) {
    errors.push_back(TooLong("data", kMaxSize));
  }
  const std::string type = secret["type"].text();
  if (const auto keys = required_keys_by_type.find(type); keys != required_keys_by_type.end()) {
    for (const std::string& key : keys->second) {
      if (!data.Key(key).exists()) {
        errors.push_back(Required(data.Key(key).path(), ""));
      } else if (key.starts_with(".docker")) {
        ValidateJsonObject(data.Key(key), errors);
      }
    }
  }
  if (type == "kubernetes.io/basic-auth" && !data.Key("username").exists() &&
      !data.Key("password").exists()) {
    errors.push_back(Required("data[username]", ""));
    errors.push_back(Required("data[password]", ""));
  }
  if (type == "kubernetes.io/service-account-token") {
    const FieldRef service_account_name =
        secret["metadata"]["annotations"].Key("kubernetes.io/service-account.name");
    ValidateRequired(service_account_name, errors);
  }
}

void ValidateConfigUpdate(const json& before, const json& after, FieldErrors& errors) {
  const FieldRef old_object(before);
  const FieldRef new_object(after);
  if (!new_object["type"].is(old_object["type"].value())) {
    errors.push_back(InvalidJson("type", new_object["type"].text(), "field is immutable"));
  }
  if (!old_object["immutable"].is(true)) return;
  constexpr const char* kImmutable = "field is immutable when `immutable` is set";
  if (!new_object["immutable"].is(true)) errors.push_back(ForbiddenField("immutable", kImmutable));
  for (const char* field : {"data", "binaryData"}) {
    if (!new_object[field].is(old_object[field].value()))
      errors.push_back(ForbiddenField(field, kImmutable));
  }
}

}  // namespace

void AddConfigStrategies(StrategiesByKind& strategies) {
  strategies["configmaps"].validate = &ValidateConfigMap;
  strategies["configmaps"].validate_update = &ValidateConfigUpdate;
  strategies["secrets"].validate = &ValidateSecret;
  strategies["secrets"].validate_update = &ValidateConfigUpdate;
  for (const char* kind : {"configmaps", "secrets"})
    strategies[kind].update_validation = KindStrategy::UpdateValidation::kChangeThenObject;
}

}  // namespace kopp::apiserver
