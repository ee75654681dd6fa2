#pragma once

#include "api/request_info.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// The authenticated user of a request.
struct User {
  std::string name{};
  std::vector<std::string> groups{};
  std::string uid{};
  std::map<std::string, std::vector<std::string>> extra{};
};

/// The Impersonate-* headers of a request. Without `user`, no other field may be set.
struct Impersonation {
  std::string user{};
  std::vector<std::string> groups{};
  std::string uid{};
  std::map<std::string, std::vector<std::string>> extra{};  ///< with decoded keys in lower case

  [[nodiscard]] bool IsRequested() const {
    return !user.empty() || !groups.empty() || !uid.empty() || !extra.empty();
  }
};

/// Why a filter could not convert the body of a request to JSON. Only the handler of the resource
/// knows the whole error message.
struct BodyError {
  std::string reason{};
  bool is_recognized = false;  ///< whether the body names a kind
};

/// A request, received over HTTP or through the in-memory transport.
struct ServerRequest {
  std::string method{};
  RequestInfo target{};
  std::string body{};
  std::string content_type{};
  std::string accept{};
  std::string user_agent{};
  std::string audit_id{};  ///< identifies the request in the audit log, which assigns one if empty
  User user{};
  Impersonation impersonation{};
  /// Set if `body` could not be converted to JSON. It is then as the client has sent it.
  std::optional<BodyError> body_error{};

  /// Returns `content_type` without its parameters.
  [[nodiscard]] std::string media_type() const;
};

/// Returns the verb of a request, as in audit logs and RBAC: "list", "deletecollection". For a
/// request that is not for a resource, returns the HTTP method in lower case.
[[nodiscard]] std::string VerbOf(const ServerRequest& request);

/// Returns the user as a UserInfo of authentication.k8s.io/v1, which omits empty fields.
[[nodiscard]] inline nlohmann::json UserToJson(const User& user) {
  nlohmann::json info{{"username", user.name}};
  if (!user.uid.empty()) info["uid"] = user.uid;
  if (!user.groups.empty()) info["groups"] = user.groups;
  if (!user.extra.empty()) info["extra"] = user.extra;
  return info;
}

}  // namespace kopp::apiserver
