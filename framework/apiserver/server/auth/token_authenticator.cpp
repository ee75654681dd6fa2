#include "auth/token_authenticator.hpp"

#include "auth/service_account_user.hpp"
#include "base/timestamp.hpp"
#include "json/base64.hpp"
#include "json/go_values.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

std::string Signature(std::string_view text, std::string_view key) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes.data(),
           &size) == nullptr) {
    throw std::runtime_error("cannot sign a token: OpenSSL has no SHA-256");
  }
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

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

std::string SignJwt(const json& claims, std::string_view key) {
  const json header{{"alg", "HS256"}, {"typ", "JWT"}};
  const std::string text = Base64UrlEncode(header.dump()) + '.' + Base64UrlEncode(claims.dump());
  return text + '.' + Base64UrlEncode(Signature(text, key));
}

std::optional<json> VerifyJwt(std::string_view token, std::string_view key) {
  const std::size_t claims_begin = token.find('.') + 1;
  const std::size_t signature_begin = token.rfind('.') + 1;
  if (claims_begin == 0 || signature_begin <= claims_begin) return std::nullopt;
  const std::string expected =
      Base64UrlEncode(Signature(token.substr(0, signature_begin - 1), key));
  const std::string_view signature = token.substr(signature_begin);
  if (signature.size() != expected.size() ||
      CRYPTO_memcmp(signature.data(), expected.data(), expected.size()) != 0) {
    return std::nullopt;
  }
  return json::parse(
      Base64UrlDecode(token.substr(claims_begin, signature_begin - 1 - claims_begin)));
}

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
