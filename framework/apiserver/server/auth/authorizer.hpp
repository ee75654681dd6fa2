#pragma once

#include "api/request.hpp"
#include "api/response.hpp"
#include "api/status.hpp"
#include "storage/server_context.hpp"

#include <string>

#include <nlohmann/json.hpp>

// Authorizes requests. Without RBAC, every request is allowed.

namespace kopp::apiserver {

/// What a user wants to do: the attributes that authorization decides on.
struct AccessAttributes {
  std::string verb{};
  bool is_resource = true;  ///< whether it is a resource, or else a path such as /healthz
  std::string group{};
  std::string version{};
  std::string resource{};
  std::string subresource{};
  std::string ns{};    ///< empty: all namespaces, or a cluster-scoped resource
  std::string name{};  ///< empty: all names, or unknown
  std::string path{};
};

/// Returns the attributes of a request. The name of a list or a watch is the one that the field
/// selector metadata.name selects.
[[nodiscard]] AccessAttributes AttributesOf(const ServerRequest& request);
/// Returns the attributes of a request to the same target with another verb.
[[nodiscard]] AccessAttributes AttributesOf(std::string verb, const RequestInfo& target);

/// Returns the error (403) for a user without the permission. `reason` may be empty.
[[nodiscard]] StatusError AccessDenied(const User& user, const AccessAttributes& attributes,
                                       const std::string& reason);

/// The result of an authorization.
struct AccessDecision {
  bool allowed = false;
  std::string reason{};  ///< as in the status of a SubjectAccessReview; may be empty
};

/// Decides by the stored Roles, ClusterRoles and their bindings. The group system:masters may do
/// everything.
[[nodiscard]] AccessDecision Authorize(ServerContext& context, const User& user,
                                       const AccessAttributes& attributes);

/// Returns the rules that apply to the user in a namespace, as the status of a
/// SelfSubjectRulesReview.
[[nodiscard]] nlohmann::json RulesOfUser(ServerContext& context, const User& user,
                                         const std::string& ns);

/// Executes a request as the user that its Impersonate-* headers name, and rejects it (403) if the
/// user does not have the permission. Thread-safe. `context` and `handler` must outlive it.
class AccessFilter final : public RequestHandler {
 public:
  AccessFilter(ServerContext& context, RequestHandler& handler)
      : context_(context), handler_(handler) {}

  ServerResponse Handle(const ServerRequest& request) override;

 private:
  /// Handles a request after its impersonation.
  ServerResponse HandleImpersonated(const ServerRequest& request);
  /// Handles a request of `request.user`.
  ServerResponse HandleAuthorized(const ServerRequest& request);

  ServerContext& context_;
  RequestHandler& handler_;
};

}  // namespace kopp::apiserver
