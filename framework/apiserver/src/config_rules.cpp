#include "checks.hpp"
#include "rules_by_kind.hpp"

#include <map>
#include <string>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxSize = 1 << 20;
const json nothing;

/// Of what base64 text stands for.
std::size_t DecodedSize(const std::string& text) {
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  return text.size() / 4 * 3 - padding;
}

/// Returns the size of all values.
std::size_t CheckKeys(const Part& data, bool encoded, const Part& others, Causes& causes) {
  std::size_t size = 0;
  for (const std::string& key : data.keys()) {
    const Part entry = data.Key(key);
    if (const Why why = NotAConfigKey(key)) {
      causes.push_back(InvalidValue(entry.path(), key, *why));
    }
    if (others.Key(key).exists()) {
      causes.push_back(InvalidValue(entry.path(), key, "duplicate of key present in binaryData"));
    }
    size += encoded ? DecodedSize(entry.text()) : entry.text().size();
  }
  return size;
}

void CheckConfigMap(const json& object, Causes& causes) {
  const Part map(object);
  const std::size_t size = CheckKeys(map["data"], false, map["binaryData"], causes) +
                           CheckKeys(map["binaryData"], true, Part(nothing), causes);
  if (size > kMaxSize) causes.push_back(TooLong("[]", kMaxSize));
}

void CheckSecret(const json& object, Causes& causes) {
  // The keys that a type needs.
  static const std::map<std::string, std::vector<std::string>, std::less<>> keys_of = {
      {"kubernetes.io/dockercfg", {".dockercfg"}},
      {"kubernetes.io/dockerconfigjson", {".dockerconfigjson"}},
      {"kubernetes.io/ssh-auth", {"ssh-privatekey"}},
      {"kubernetes.io/tls", {"tls.crt", "tls.key"}},
  };
  const Part secret(object);
  const Part data = secret["data"];
  if (CheckKeys(data, true, Part(nothing), causes) > kMaxSize) {
    causes.push_back(TooLong("data", kMaxSize));
  }
  const std::string type = secret["type"].text();
  if (const auto needed = keys_of.find(type); needed != keys_of.end()) {
    for (const std::string& key : needed->second) {
      if (!data.Key(key).exists()) causes.push_back(Required(data.Key(key).path(), ""));
    }
  }
  if (type == "kubernetes.io/basic-auth" && !data.Key("username").exists() &&
      !data.Key("password").exists()) {
    causes.push_back(Required("data[username]", ""));
    causes.push_back(Required("data[password]", ""));
  }
  if (type == "kubernetes.io/service-account-token") {
    const Part account =
        secret["metadata"]["annotations"].Key("kubernetes.io/service-account.name");
    CheckGiven(account, causes);
  }
}

void CheckConfigChange(const json& before, const json& after, Causes& causes) {
  const Part was(before);
  const Part is(after);
  CheckUnchanged(was["type"], is["type"], causes);
  if (!was["immutable"].is(true)) return;
  constexpr const char* kImmutable = "field is immutable when `immutable` is set";
  if (!is["immutable"].is(true)) causes.push_back(ForbiddenField("immutable", kImmutable));
  for (const char* field : {"data", "binaryData"}) {
    if (!is[field].is(was[field].value())) causes.push_back(ForbiddenField(field, kImmutable));
  }
}

}  // namespace

void AddConfigRules(RulesByKind& rules) {
  rules["configmaps"].check = &CheckConfigMap;
  rules["configmaps"].check_change = &CheckConfigChange;
  rules["secrets"].check = &CheckSecret;
  rules["secrets"].check_change = &CheckConfigChange;
}

}  // namespace kopp::apiserver
