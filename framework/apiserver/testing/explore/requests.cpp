#include "explore/requests.hpp"

#include "api/request.hpp"
#include "faults/fault_plan.hpp"
#include "json/schema_names.hpp"
#include "recording/redaction.hpp"
#include "schema/accessors.hpp"

#include <nlohmann/json.hpp>

namespace kopp::apiserver::explore {
namespace {

std::string VerbOf(const ApiRequest& request, const RequestInfo& target) {
  if (request.method == "POST") return "create";
  if (request.method == "PUT") return "update";
  if (request.method == "PATCH") {
    return request.content_type == "application/apply-patch+yaml" ? "apply" : "patch";
  }
  if (request.method == "DELETE") return target.name.empty() ? "delete all" : "delete";
  return target.name.empty() ? "list" : "get";
}

}  // namespace

bool IsWrite(const ApiRequest& request) { return request.method != "GET"; }

std::string DescribeRequest(const ApiRequest& request) {
  const ServerRequest parsed{.method = request.method,
                             .target = ParseRequestInfo(request.target),
                             .body = request.body,
                             .content_type = request.content_type};
  const RequestInfo& target = parsed.target;
  if (!target.is_resource) return request.method + ' ' + target.path;
  std::string text = VerbOf(request, target) + ' ' + target.plural;
  if (!target.subresource.empty()) text += '/' + target.subresource;
  std::string name = ObjectNameOf(parsed);
  if (name.empty() && request.method == "POST") {
    const auto body = nlohmann::json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    name = StringAt(body, "/metadata/generateName") + '*';
  }
  const bool both = !target.ns.empty() && !name.empty();
  const std::string object = target.ns + (both ? "/" : "") + name;
  return object.empty() ? text : text + ' ' + object;
}

std::string DescribeResponse(const ApiRequest& request, const ApiResponse& response) {
  std::string text = std::to_string(response.status);
  if (response.status < 400) return text;
  const std::string status = Redactor().RedactResponse(request.target, request.body, response.body);
  const auto body = nlohmann::json::parse(status, nullptr, /*allow_exceptions=*/false);
  return text + ' ' + StringAt(body, "/message");
}

}  // namespace kopp::apiserver::explore
