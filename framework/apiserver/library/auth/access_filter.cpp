#include "auth/access_filter.hpp"

#include "api/status_response.hpp"
#include "auth/authorizer.hpp"

#include <stdexcept>
#include <utility>

namespace kopp::apiserver {

ServerResponse AccessFilter::Handle(const ServerRequest& request) {
  try {
    return HandleImpersonated(request);
  } catch (const std::exception& error) {
    return ToResponse(
        StatusError(500, "InternalError", std::string("Internal error occurred: ") + error.what()));
  }
}

ServerResponse AccessFilter::HandleImpersonated(const ServerRequest& request) {
  if (!request.impersonation.IsRequested()) return HandleAuthorized(request);
  ServerRequest impersonating = request;
  const auto impersonate = context_.extensions().impersonate;
  if (impersonate == nullptr) {
    return ToResponse({403, "Forbidden", "this API server does not support impersonation"});
  }
  try {
    impersonating.user = impersonate(context_, request.user, request.impersonation);
  } catch (const StatusError& error) {
    return ToResponse(error);
  } catch (const std::invalid_argument& error) {
    return {.status = 500,
            .body = "Internal Server Error: \"" + request.target.raw + "\": " + error.what() + '\n',
            .content_type = "text/plain; charset=utf-8"};
  }
  ServerResponse response = HandleAuthorized(impersonating);
  response.impersonated_user = std::move(impersonating.user);
  return response;
}

ServerResponse AccessFilter::HandleAuthorized(const ServerRequest& request) {
  const AccessAttributes attributes = AttributesOf(request);
  const AccessDecision decision = Authorize(context_, request.user, attributes);
  if (decision.allowed) return handler_.Handle(request);
  return ToResponse(AccessDenied(request.user, attributes, decision.reason));
}

}  // namespace kopp::apiserver
