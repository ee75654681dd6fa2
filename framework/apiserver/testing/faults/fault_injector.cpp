#include "faults/fault_injector.hpp"

#include "api/status.hpp"
#include "faults/fault_text.hpp"
#include "faults/faulty_watch.hpp"
#include "handlers/read_handler.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

using Type = Fault::Type;

ResourceVersion VersionBefore(ResourceVersion version, ResourceVersion versions) {
  return version > versions ? version - versions : 1;  // resourceVersion=0 means any version
}

/// Returns `target` with a query that requests exactly `version`.
RequestInfo WithExactVersion(const RequestInfo& target, ResourceVersion version) {
  std::string text =
      target.path + "?resourceVersionMatch=Exact&resourceVersion=" + std::to_string(version);
  std::string_view query = target.raw;
  query.remove_prefix(std::min(query.size(), query.find('?')));
  while (!query.empty()) {
    query.remove_prefix(1);
    const std::string_view option = query.substr(0, query.find('&'));
    if (!option.starts_with("resourceVersion")) text.append("&").append(option);
    query.remove_prefix(option.size());
  }
  return ParseRequestInfo(text);
}

/// Returns `body` with its metadata.resourceVersion lowered by `versions`. Returns a body without
/// one unchanged.
std::string WithLowerVersion(const std::string& body, ResourceVersion versions) {
  json object = json::parse(body, nullptr, false);
  const json::json_pointer path("/metadata/resourceVersion");
  if (!object.is_object() || !object.contains(path)) return body;
  json& version = object[path];
  version = std::to_string(VersionBefore(std::stoull(version.get<std::string>()), versions));
  return object.dump() + '\n';
}

/// Describes the error if the server does not serve the resource of a fault; else "".
std::string FindResourceError(const Fault& fault, const Catalog& catalog) {
  if (fault.resource.empty()) return {};
  std::vector<std::string> names;
  std::string plural;  // of the resource with this kind, singular or short name
  for (const ResourcePtr& resource : catalog.all()) {
    if (fault.resource == resource->plural || fault.resource == resource->group_resource()) {
      return {};
    }
    names.push_back(resource->plural);
    names.push_back(resource->group_resource());
    const auto& short_names = resource->short_names;
    if (fault.resource == resource->kind || fault.resource == resource->singular ||
        std::find(short_names.begin(), short_names.end(), fault.resource) != short_names.end()) {
      plural = resource->plural;
    }
  }
  const std::string hint =
      plural.empty() ? NearMatchHint(fault.resource, names) : ": did you mean \"" + plural + "\"?";
  return "the server does not serve the resource \"" + fault.resource + '"' + hint +
         "; install a CustomResourceDefinition before the fault";
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

void FaultInjector::Inject(Fault fault) {
  std::string error = FindFaultError(fault);
  if (error.empty()) error = FindResourceError(fault, *context_.catalog());
  if (!error.empty()) throw std::invalid_argument("invalid fault: " + error);
  plan_.Add(std::move(fault));
  // Wakes all open watches, because the fault may apply to them.
  std::set<std::string> resources;
  for (const ResourcePtr& entry : context_.catalog()->all())
    resources.insert(entry->storage_resource);
  for (const std::string& resource : resources) context_.store().NotifyListeners(resource);
}

ServerResponse FaultInjector::Handle(const ServerRequest& request) {
  ServerResponse response = HandleWithPlan(request);
  if (response.watch != nullptr) {
    response.watch =
        std::make_unique<FaultyWatch>(context_.store(), plan_, request, std::move(response.watch));
  }
  return response;
}

ServerResponse FaultInjector::HandleWithPlan(const ServerRequest& request) {
  if (plan_.IsEmpty()) return server_.Handle(request);
  const auto fault = plan_.Match(
      {FaultContext::Kind::kRequest, request, request.target.ns, ObjectNameOf(request)});
  return fault ? HandleWithFault(request, *fault) : server_.Handle(request);
}

ServerResponse FaultInjector::HandleWithFault(const ServerRequest& request, const Fault& fault) {
  if (auto error = ErrorResponseFor(fault, request, context_)) return std::move(*error);
  if (fault.type == Type::kRefuse) return {.injected_fault = {.reset = true, .refuse = true}};
  if (fault.type == Type::kStaleList) return ListOldVersion(request, fault.versions);

  ServerResponse response = server_.Handle(request);
  if (fault.type == Type::kLatency) response.injected_fault.delay = fault.delay;
  if (fault.type == Type::kReset) response.injected_fault.reset = true;
  const auto text = [&]() -> const std::string& {
    EncodeBody(response);
    return response.body.text();
  };
  if (fault.type == Type::kTruncatedBody) {
    // Cuts at least one byte.
    response.injected_fault.cut_after =
        std::min(fault.bytes, std::max<std::size_t>(text().size(), 1) - 1);
  }
  if (fault.type == Type::kMalformedBody) response.body = MakeMalformed(text());
  if (fault.type == Type::kBackwardsVersion) {
    response.body = WithLowerVersion(text(), fault.versions);
  }
  return response;
}

ServerResponse FaultInjector::ListOldVersion(const ServerRequest& request,
                                             ResourceVersion versions) {
  ServerRequest past = request;
  past.target =
      WithExactVersion(request.target, VersionBefore(context_.store().version(), versions));
  ServerResponse response = server_.Handle(past);
  return response.status == 410 ? server_.Handle(request) : std::move(response);
}

}  // namespace kopp::apiserver
