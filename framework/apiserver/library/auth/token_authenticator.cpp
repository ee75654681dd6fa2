#include "auth/token_authenticator.hpp"

#include "auth/jwt.hpp"
#include "auth/quoted_list.hpp"
#include "auth/service_account_user.hpp"
#include "base/timestamp.hpp"
#include "json/schema_names.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kInvalid = "invalid bearer token";
constexpr const char* kInvalidated = "service account token has been invalidated";

TokenAuthentication RejectedToken(const std::string& reason) {
  return {.error = std::string("[") + kInvalid + ", " + reason + ']'};
}

// A token is accepted for this time after it has expired or its object was marked for deletion.
constexpr std::chrono::seconds kLeeway(60);

std::chrono::sys_seconds CurrentSecond(ServerContext& context) {
  return std::chrono::floor<std::chrono::seconds>(context.clock().WallNow());
}

/// Returns whether a stored object has the name and the uid of `reference` and is not being
/// deleted. A null reference stands for no object.
bool IsCurrent(ServerContext& context, const std::string& resource, const std::string& ns,
               const json& reference) {
  if (reference.is_null()) return true;
  const StoredObjectPtr stored =
      context.store().Get(resource, {ns, StringField(reference, "name")});
  if (stored == nullptr || stored->attributes.uid != StringField(reference, "uid")) return false;
  const auto deleted =
      detail::ParseTimestamp(StringAt(json::parse(stored->text), "/metadata/deletionTimestamp"));
  return !deleted || *deleted + kLeeway >= CurrentSecond(context);
}

/// Returns the user of a ServiceAccount token with these verified claims.
TokenAuthentication AuthenticateServiceAccount(ServerContext& context, const json& claims) {
  const std::chrono::sys_seconds expires(std::chrono::seconds(IntegerAt(claims, "/exp")));
  if (CurrentSecond(context) > expires + kLeeway)
    return RejectedToken("service account token has expired");
  const json& bound = Field(claims, "kubernetes.io");
  const std::string ns = StringField(bound, "namespace");
  const json& account = Field(bound, "serviceaccount");
  const json& pod = Field(bound, "pod");
  if (!IsCurrent(context, "serviceaccounts", ns, account) || !IsCurrent(context, "pods", ns, pod) ||
      !IsCurrent(context, "secrets", ns, Field(bound, "secret")) ||
      (pod.is_null() && !IsCurrent(context, "nodes", "", Field(bound, "node")))) {
    return RejectedToken(kInvalidated);
  }
  const std::string name = StringField(account, "name");
  User user{ServiceAccountUserName(ns, name), ServiceAccountUserGroups(ns),
            StringField(account, "uid")};
  user.groups.emplace_back("system:authenticated");
  const std::string prefix = "authentication.kubernetes.io/";
  user.extra[prefix + "credential-id"] = {"JTI=" + StringField(claims, "jti")};
  for (const char* kind : {"pod", "node"}) {
    const json& reference = Field(bound, kind);
    for (const char* field : {"name", "uid"}) {
      const std::string value = StringField(reference, field);
      if (!value.empty()) user.extra[prefix + kind + '-' + field] = {value};
    }
  }
  return {.user = std::move(user), .audiences = StringListField(claims, "aud")};
}

TokenAuthentication AuthenticateAnyAudience(ServerContext& context, const std::string& token) {
  if (auto user = context.FindBearerToken(token)) {
    return {.user = std::move(user), .audiences = {kTokenIssuer}};
  }
  const std::optional<json> claims = VerifyJwt(token, context.token_key());
  if (!claims) return {.error = kInvalid};
  return AuthenticateServiceAccount(context, *claims);
}

}  // namespace

TokenAuthentication AuthenticateToken(ServerContext& context, const std::string& token,
                                      std::vector<std::string> audiences) {
  if (audiences.empty()) audiences = {kTokenIssuer};
  TokenAuthentication result = AuthenticateAnyAudience(context, token);
  if (!result.user) return result;
  const std::vector<std::string> valid = std::exchange(result.audiences, {});
  for (const std::string& audience : audiences) {
    if (std::find(valid.begin(), valid.end(), audience) == valid.end()) continue;
    result.audiences.push_back(audience);
  }
  if (!result.audiences.empty()) return result;
  return RejectedToken("token audiences " + QuotedList(valid) +
                       " is invalid for the target audiences " + QuotedList(audiences));
}

}  // namespace kopp::apiserver
