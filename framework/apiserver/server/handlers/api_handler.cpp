#include "handlers/api_handler.hpp"

#include "api/status.hpp"
#include "api/virtual_resources.hpp"
#include "controllers/system_objects.hpp"
#include "encoding/response_encoder.hpp"
#include "handlers/discovery.hpp"
#include "handlers/scale.hpp"

#include <exception>
#include <utility>

namespace kopp::apiserver {
namespace {

ServerResponse PlainText(int status, std::string text) {
  return {.status = status, .body = std::move(text), .content_type = "text/plain; charset=utf-8"};
}

}  // namespace

ApiHandler::ApiHandler(ServerContext& context)
    : context_(context),
      read_handler_(context),
      webhooks_(context),
      write_handler_(context, &webhooks_),
      virtual_handler_(context, webhooks_),
      crd_controller_(context) {
  CreateSystemObjects(context);
  const Extensions& extensions = context.extensions();
  if (extensions.make_path_handler) path_handler_ = extensions.make_path_handler(context);
}

ServerResponse ApiHandler::Handle(const ServerRequest& request) {
  Warnings warnings;
  ServerResponse response = HandleErrors(request, warnings);
  response.warnings = LimitWarnings(warnings);
  const RequestInfo& target = request.target;
  if (const ResourcePtr resource =
          context_.catalog()->Find(target.group, target.version, target.plural)) {
    metrics_.Count(request, *resource, response.status);
  }
  const bool is_text = response.body.value() == nullptr && response.watch == nullptr;
  if (is_text && response.content_type.starts_with("application/json")) {
    response.body.text() += '\n';
  }
  return response;
}

ServerResponse ApiHandler::HandleErrors(const ServerRequest& request, Warnings& warnings) {
  try {
    return Route(request, warnings);
  } catch (const StatusError& error) {
    return {.status = error.code(), .body = error.ToJson(), .retry_after = error.retry_after()};
  } catch (const std::exception& error) {
    return ToResponse(
        {500, "InternalError", std::string("Internal error occurred: ") + error.what()});
  }
}

ServerResponse ApiHandler::Route(const ServerRequest& request, Warnings& warnings) {
  const RequestInfo& target = request.target;
  const auto catalog = context_.catalog();
  if (target.has_empty_segment) throw PathNotFound();
  if (target.is_resource) {
    if (!catalog->HasGroup(target.group)) return PlainText(404, "404 page not found\n");
    return HandleResource(request, *catalog, warnings);
  }
  if (auto response = HandleHealth(request)) return std::move(*response);
  if (target.path == "/metrics") return metrics_.Report();
  if (auto response = HandleDiscovery(request, *catalog)) return std::move(*response);
  if (path_handler_ != nullptr) {
    if (auto response = path_handler_->Handle(request)) return std::move(*response);
  }
  if (!target.version.empty() && catalog->HasBuiltInKinds(target.group)) throw PathNotFound();
  return PlainText(404, "404 page not found\n");
}

ServerResponse ApiHandler::HandleResource(const ServerRequest& request, const Catalog& catalog,
                                          Warnings& warnings) {
  const RequestInfo& target = request.target;
  const ResourcePtr resource = catalog.Find(target.group, target.version, target.plural);
  const bool is_valid_scope =
      resource != nullptr &&
      (resource->namespaced ? !target.ns.empty() || target.name.empty() : target.ns.empty());
  if (!is_valid_scope) {
    // In API groups of custom resources, only the paths of CRDs exist.
    if (catalog.HasBuiltInKinds(target.group)) throw PathNotFound();
    return PlainText(404, "404 page not found\n");
  }
  if (!target.subresource.empty() && !resource->HasSubresource(target.subresource)) {
    if (resource->built_in) throw PathNotFound();
    throw NotFound(*resource, target.name);
  }
  if (!resource->deprecation_warning.empty()) warnings.push_back(resource->deprecation_warning);
  if (IsVirtual(*resource)) return HandleVirtual(request, *resource, warnings);
  if (const Resource* kind = FindVirtualSubresource(*resource, target.subresource)) {
    return HandleVirtual(request, *kind, warnings);
  }
  ServerResponse response = target.name.empty() || target.watch_prefix
                                ? HandleCollection(request, resource, warnings)
                                : HandleObject(request, resource, warnings);
  if (request.method != "GET") crd_controller_.Sync();
  return response;
}

ServerResponse ApiHandler::HandleCollection(const ServerRequest& request,
                                            const ResourcePtr& resource, Warnings& warnings) {
  const bool is_valid_scope = !resource->namespaced || !request.target.ns.empty();
  if (request.method == "GET" && resource->SupportsVerb("list"))
    return read_handler_.List(request, resource);
  if (request.method == "POST" && is_valid_scope && resource->SupportsVerb("create")) {
    return Write(request, *resource,
                 [&] { return write_handler_.Create(request, *resource, warnings); });
  }
  if (request.method == "DELETE" && is_valid_scope && resource->SupportsVerb("deletecollection")) {
    return Write(request, *resource,
                 [&] { return write_handler_.DeleteCollection(request, *resource, warnings); });
  }
  throw MethodNotAllowed();
}

ServerResponse ApiHandler::HandleObject(const ServerRequest& request, const ResourcePtr& resource,
                                        Warnings& warnings) {
  const bool is_main_resource = request.target.subresource.empty();
  if (request.target.subresource == "finalize" && request.method != "PUT") throw MethodNotAllowed();
  if (request.method == "GET") return read_handler_.Get(request, *resource);
  if (request.method == "PUT")
    return Write(request, *resource,
                 [&] { return write_handler_.Update(request, *resource, warnings); });
  if (request.method == "PATCH")
    return Write(request, *resource,
                 [&] { return write_handler_.Patch(request, *resource, warnings); });
  if (request.method == "DELETE" && is_main_resource)
    return Write(request, *resource,
                 [&] { return write_handler_.Delete(request, *resource, warnings); });
  throw MethodNotAllowed();
}

ServerResponse ApiHandler::HandleVirtual(const ServerRequest& request, const Resource& kind,
                                         Warnings& warnings) {
  const RequestInfo& target = request.target;
  const bool is_valid_path = !target.subresource.empty() ||
                             (target.name.empty() && (target.ns.empty() != kind.namespaced));
  if (!is_valid_path) throw PathNotFound();
  if (request.method != "POST") throw MethodNotAllowed();
  return Write(request, kind, [&] { return virtual_handler_.Create(request, kind, warnings); });
}

ServerResponse ApiHandler::Write(const ServerRequest& request, const Resource& resource,
                                 const std::function<ServerResponse()>& write) {
  const ResponseEncoder encoder = NegotiateResponse(context_, request, resource);
  ServerResponse response = write();
  const bool is_scale = request.target.subresource == "scale";
  response.body = encoder.WriteBody(std::move(response.body), is_scale ? ScaleKind() : resource);
  response.content_type = encoder.content_type();
  return response;
}

}  // namespace kopp::apiserver
