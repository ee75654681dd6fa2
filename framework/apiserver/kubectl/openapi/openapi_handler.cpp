#include "openapi/openapi_handler.hpp"

#include "crd/crd_validation.hpp"
#include "decoding/data.hpp"
#include "openapi/openapi_custom_resource.hpp"
#include "openapi/openapi_document.hpp"

#include <functional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const std::string openapi_v3_path = "/openapi/v3";

/// Returns the member "info" of a document as JSON.
std::string InfoMember() {
  return R"("info":{"title":"Kubernetes","version":"1.)" + std::string(data::kubernetes_minor) +
         "\"}";
}

/// Returns the empty OpenAPI v2 document. In protobuf it has no bytes.
ServerResponse OpenApiV2Document(const ServerRequest& request) {
  if (request.accept.find("proto") != std::string::npos) {
    return {.content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"};
  }
  return {.body = R"({"swagger":"2.0",)" + InfoMember() + R"(,"paths":{}})"};
}

}  // namespace

std::optional<ServerResponse> OpenApiHandler::Handle(const ServerRequest& request) {
  const std::string& path = request.target.path;
  if (path == "/openapi/v2") return OpenApiV2Document(request);
  if (path != openapi_v3_path && !path.starts_with(openapi_v3_path + '/')) return std::nullopt;
  const std::shared_ptr<const Documents> documents = CurrentDocuments();
  if (path == openapi_v3_path) {
    json paths;
    for (const auto& [document_path, document] : *documents) {
      // Clients cache a document by its URL, so the URL contains a hash of the document.
      paths[document_path]["serverRelativeURL"] =
          openapi_v3_path + '/' + document_path + "?hash=" + document->hash;
    }
    return ServerResponse{.body = json{{"paths", std::move(paths)}},
                          .content_type = "text/plain; charset=utf-8"};
  }
  const auto found = documents->find(path.substr(openapi_v3_path.size() + 1));
  if (found == documents->end()) return ServerResponse{.status = 404, .content_type = ""};
  return ServerResponse{.body = found->second->text};
}

// Builds the documents without holding the lock: if two threads do so at the same time, the last
// result stays.
std::shared_ptr<const OpenApiHandler::Documents> OpenApiHandler::CurrentDocuments() {
  const std::shared_ptr<const Catalog> catalog = context_.catalog();
  const Cache cache = *cache_.Lock();
  if (cache.catalog == catalog) return cache.documents;
  std::map<std::string, std::vector<ResourcePtr>> resources;
  for (const ResourcePtr& resource : catalog->all()) {
    resources[GroupVersionPath(*resource)].push_back(resource);
  }
  auto documents = std::make_shared<Documents>();
  for (auto& [path, of_path] : resources) {
    const auto previous = cache.documents->find(path);
    if (previous != cache.documents->end() && previous->second->resources == of_path) {
      documents->insert(*previous);
      continue;
    }
    std::string text = BuildText(path, of_path);
    std::string hash = std::to_string(std::hash<std::string>()(text));
    (*documents)[path] = std::make_shared<const Document>(
        Document{std::move(of_path), std::move(text), std::move(hash)});
  }
  *cache_.Lock() = {catalog, documents};
  return documents;
}

std::string OpenApiHandler::BuildText(const std::string& path,
                                      const std::vector<ResourcePtr>& resources) {
  const OpenApiTypes& built_in = OpenApiTypes::BuiltIn();
  OpenApiTypes::Names types = built_in.TypesOfDocument(path);
  json paths;
  json custom_types = json::object();
  for (const ResourcePtr& resource : resources) {
    AddOpenApiPaths(*resource, paths);
    if (resource->built_in) continue;
    types.merge(built_in.Closure(BuiltInTypesOfCustomResource(*resource)));
    const StoredObjectPtr crd =
        context_.store().Get(kCrdStorageResource, {"", resource->storage_resource});
    if (crd == nullptr) continue;  // deleted since the catalog was read
    custom_types.update(CustomResourceTypes(*resource, json::parse(crd->text)));
  }
  std::string schemas = custom_types.dump();
  schemas.pop_back();  // the brace
  for (const std::string_view type : types) {
    if (schemas.size() > 1) schemas += ',';
    schemas.append("\"").append(type).append("\":").append(built_in.Find(type));
  }
  return R"({"openapi":"3.0.0",)" + InfoMember() + R"(,"paths":)" + paths.dump() +
         R"(,"components":{"schemas":)" + schemas + "}}}";
}

}  // namespace kopp::apiserver
