// Requests of tokens of ServiceAccounts.
#include "api/status.hpp"
#include "auth/service_account_user.hpp"
#include "auth/token_authenticator.hpp"
#include "handlers/virtual_resource_handler.hpp"
#include "schema/accessors.hpp"
#include "virtual/virtual_kinds.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::int64_t kDefaultSeconds = 3600;
constexpr std::int64_t kMinSeconds = 600;
constexpr std::int64_t kMaxSeconds = std::int64_t{1} << 32U;

void ValidateTokenRequest(const Resource& kind, const std::string& account, const json& object) {
  const std::string name = StringAt(object, "/metadata/name");
  if (!name.empty() && name != account) {
    throw Invalid(
        kind, account,
        {InvalidValue("metadata.name", name, "must match the service account name if specified")});
  }
  const std::int64_t seconds = IntegerAt(object, "/spec/expirationSeconds");
  const auto reject = [&](const char* detail) {
    throw Invalid(kind, name, {InvalidValue("spec.expirationSeconds", seconds, detail)});
  };
  if (seconds < kMinSeconds) reject("may not specify a duration less than 10 minutes");
  if (seconds > kMaxSeconds) reject("may not specify a duration larger than 2^32 seconds");
}

/// Throws StatusError if the Pod does not run as the ServiceAccount.
void CheckServiceAccountOf(const json& pod, const std::string& account) {
  if (StringAt(pod, "/spec/serviceAccountName") == account) return;
  throw BadRequest(
      fmt::format("cannot bind token for serviceaccount \"{}\" to pod running with different "
                  "serviceaccount name.",
                  account));
}

/// Returns the claims that bind a token of `account` to an object: {"pod": {"name": …, "uid": …}}.
/// Throws StatusError if the object does not exist or cannot be bound.
json BoundObjectClaims(ServerContext& context, const ObjectKey& account, const json& reference) {
  if (reference.is_null()) return json::object();
  const std::string kind = StringField(reference, "kind");
  const std::string api_version = StringField(reference, "apiVersion");
  const bool is_supported =
      api_version == "v1" && (kind == "Pod" || kind == "Secret" || kind == "Node");
  if (!is_supported) {
    const auto slash = api_version.find('/');
    const std::string group = slash == std::string::npos ? "" : api_version.substr(0, slash);
    const std::string version = api_version.substr(api_version.find('/') + 1);
    throw BadRequest(
        fmt::format("cannot bind token to object of type {}/{}, Kind={}", group, version, kind));
  }
  const ResourcePtr resource = context.catalog()->FindKind("v1", kind);
  const std::string name = StringField(reference, "name");
  const std::string ns = resource->namespaced ? account.ns : "";
  const StoredObjectPtr stored = context.store().Get(resource->storage_resource, {ns, name});
  if (stored == nullptr) throw NotFound(*resource, name);
  const json object = json::parse(stored->text);
  if (kind == "Pod") CheckServiceAccountOf(object, account.name);
  const std::string uid = StringField(reference, "uid");
  if (!uid.empty() && uid != stored->attributes.uid) {
    Resource named;
    named.plural = kind;
    throw Conflict(named, name,
                   "the UID in the bound object reference (" + uid +
                       ") does not match the UID in record. The object might have been deleted "
                       "and then recreated");
  }
  json claims;
  claims[resource->singular] = {{"name", name}, {"uid", stored->attributes.uid}};
  const std::string node = kind == "Pod" ? StringAt(object, "/spec/nodeName") : "";
  if (node.empty()) return claims;
  claims["node"] = {{"name", node}};
  if (const StoredObjectPtr stored_node = context.store().Get("nodes", {"", node})) {
    claims["node"]["uid"] = stored_node->attributes.uid;
  }
  return claims;
}

}  // namespace

json RequestToken(const VirtualRequest& params) {
  const RequestInfo& target = params.write.target;
  VirtualRequest defaulted = params;
  json& requested = defaulted.object["spec"];
  json defaults{{"expirationSeconds", kDefaultSeconds}};
  defaults.update(requested);
  requested = std::move(defaults);
  json object = WithManagedFields(defaulted);
  json& spec = object["spec"];
  const ResourcePtr accounts = params.context.catalog()->Find("", "v1", "serviceaccounts");
  const StoredObjectPtr account =
      params.context.store().Get(accounts->storage_resource, {target.ns, target.name});
  if (account == nullptr) throw NotFound(*accounts, target.name);
  ValidateTokenRequest(params.write.resource, target.name, object);
  if (Field(spec, "audiences").empty()) spec["audiences"] = {kTokenIssuer};
  if (!spec.contains("boundObjectRef")) spec["boundObjectRef"] = nullptr;

  json bound = BoundObjectClaims(params.context, {target.ns, target.name}, spec["boundObjectRef"]);
  bound["namespace"] = target.ns;
  bound["serviceaccount"] = {{"name", target.name}, {"uid", account->attributes.uid}};
  const std::chrono::seconds lifetime(spec["expirationSeconds"].get<std::int64_t>());
  const std::int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                               params.context.clock().WallNow().time_since_epoch())
                               .count();
  const json claims{{"iss", kTokenIssuer},
                    {"sub", ServiceAccountUserName(target.ns, target.name)},
                    {"aud", spec["audiences"]},
                    {"iat", now},
                    {"nbf", now},
                    {"exp", now + lifetime.count()},
                    {"jti", params.context.NewUid()},
                    {"kubernetes.io", std::move(bound)}};
  object["status"] = {{"token", SignJwt(claims, params.context.token_key())},
                      {"expirationTimestamp", params.context.Now(lifetime)}};
  object["metadata"].update({{"name", target.name},
                             {"namespace", target.ns},
                             {"uid", account->attributes.uid},
                             {"creationTimestamp", params.context.Now()}});
  return object;
}

}  // namespace kopp::apiserver
