#include "faults/fault_errors.hpp"

#include "api/status_response.hpp"
#include "faults/fault_plan.hpp"
#include "handlers/read_handler.hpp"

#include <chrono>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using testing::Fault;
using Type = Fault::Type;

std::optional<ServerResponse> ConflictResponse(const ServerRequest& request,
                                               ServerContext& context) {
  const RequestInfo& target = request.target;
  const ResourcePtr resource = context.catalog()->Find(target.group, target.version, target.plural);
  if (resource == nullptr) return std::nullopt;
  const std::string name = ObjectNameOf(request);
  const bool is_create = request.method == "POST";
  return ToResponse(is_create ? AlreadyExists(*resource, name, false)
                              : ResourceVersionConflict(*resource, name));
}

ServerResponse TooManyRequestsResponse(const Fault& fault) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(fault.retry_after).count();
  ServerResponse response =
      ToResponse({429,
                  "TooManyRequests",
                  "The server has received too many requests and has asked us to try again later",
                  {{"retryAfterSeconds", seconds}}});
  response.retry_after = static_cast<int>(seconds);
  return response;
}

/// Codes such as 502 come from a proxy in front of the server, so their body is not a Status.
ServerResponse ServerErrorResponse(int status) {
  const std::string cause = "a fault was injected";
  if (status == 500) {
    return ToResponse({500,
                       "InternalError",
                       "Internal error occurred: " + cause,
                       {{"causes", {{{"message", cause}}}}}});
  }
  if (status == 503) {
    return ToResponse(
        {503, "ServiceUnavailable", "the server is currently unable to handle the request"});
  }
  if (status == 504) {
    return ToResponse({504, "Timeout",
                       "Timeout: request did not complete within the allotted timeout",
                       json::object()});
  }
  return {.status = status,
          .body = status == 502 ? "Bad Gateway\n" : "Server Error\n",
          .content_type = "text/plain; charset=utf-8"};
}

}  // namespace

std::optional<ServerResponse> ErrorResponseFor(const Fault& fault, const ServerRequest& request,
                                               ServerContext& context) {
  switch (fault.type) {
    case Type::kConflict:
      return ConflictResponse(request, context);
    case Type::kGone:
      return ToResponse(TooOldToList(request.target.query.Get("continue")));
    case Type::kTooManyRequests:
      return TooManyRequestsResponse(fault);
    case Type::kServerError:
      return ServerErrorResponse(fault.status);
    default:
      return std::nullopt;
  }
}

}  // namespace kopp::apiserver
