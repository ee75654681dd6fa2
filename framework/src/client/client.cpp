#include "client/list_response.hpp"
#include "net/resource_path.hpp"

#include <stdexcept>

#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/informer/json_splitter.hpp>

namespace kopp {
namespace {

using detail::CollectionPath;
using detail::ObjectPath;
using detail::WithQuery;
using nlohmann::json;

constexpr int kPageSize = 500;
constexpr int kMaxListRestarts = 3;  // a list expires 5 to 10 minutes after its first page

/// Returns `object` with `apiVersion` and `kind`, which the API server requires in every body.
/// Throws std::invalid_argument if `object` is not a JSON object.
json WithType(const Kind& kind, json object) {
  if (!object.is_object())
    throw std::invalid_argument("the " + std::string(kind.kind) + " to write is not a JSON object");
  object.emplace("apiVersion", kind.api_version);
  object.emplace("kind", kind.kind);
  return object;
}

std::string MetadataOf(const json& object, const char* field) {
  const json::json_pointer pointer = json::json_pointer("/metadata") / field;
  return object.contains(pointer) && object.at(pointer).is_string() ? object.at(pointer) : "";
}

ObjectKey KeyOf(const json& object) {
  return {MetadataOf(object, "namespace"), MetadataOf(object, "name")};
}

const char* ContentType(Patch::Type type) {
  return type == Patch::Type::kMerge ? "application/merge-patch+json"
                                     : "application/json-patch+json";
}

}  // namespace

Patch Patch::Merge(const json& object) { return {Type::kMerge, object.dump()}; }
Patch Patch::Json(const json& operations) { return {Type::kJson, operations.dump()}; }

std::string Client::Call(const Request& request) const {
  Response response = transport_->Call(request, stop_);
  if (response.status >= 200 && response.status < 300) return std::move(response.body);
  throw ApiError::FromBody(request.method + " " + request.target, response.status, response.body,
                           response.retry_after);
}

std::optional<std::string> Client::GetText(const Kind& kind, const ObjectKey& key) const {
  try {
    return Call({.target = ObjectPath(kind, key)});
  } catch (const ApiError& error) {
    if (error.IsNotFound()) return std::nullopt;
    throw;
  }
}

std::vector<std::string> Client::ListTexts(const Kind& kind, const ListFilter& filter) const {
  int page_size = kPageSize;
  for (int restarts = 0;; ++restarts) {
    std::vector<std::string> objects;
    std::string continue_token;
    try {
      do {
        continue_token = ListPage(kind, filter, continue_token, page_size, objects);
      } while (!continue_token.empty());
      return objects;
    } catch (const ApiError& error) {
      // The API server has compacted the version of the first page. The next try reads newer pages.
      if (!error.IsGone() || continue_token.empty() || restarts == kMaxListRestarts) throw;
    }
  }
}

// Appends the objects of a page to `objects` and returns the token of the next page. Halves
// `page_size` until the page is not larger than TransportOptions::max_body.
std::string Client::ListPage(const Kind& kind, const ListFilter& filter,
                             const std::string& continue_token, int& page_size,
                             std::vector<std::string>& objects) const {
  for (;; page_size /= 2) {
    try {
      const std::string body = Call({.target = WithQuery(CollectionPath(kind, filter.ns),
                                                         {{"labelSelector", filter.label_selector},
                                                          {"fieldSelector", filter.field_selector},
                                                          {"limit", std::to_string(page_size)},
                                                          {"continue", continue_token}})});
      JsonSplitter splitter(JsonSplitter::Mode::kListItems,
                            [&](std::string_view object) { objects.emplace_back(object); });
      splitter.Feed(body);
      if (!splitter.IsComplete()) {
        throw DecodeError(DecodeError::Kind::kMalformed, "", "the response is not a complete list");
      }
      return Decode<ListResponse>(splitter.envelope()).metadata.continue_token;
    } catch (const TransportError& error) {
      if (error.kind() != TransportError::Kind::kTooLarge || page_size == 1) throw;
    }
  }
}

std::string Client::CreateText(const Kind& kind, const json& object) const {
  const std::string ns = MetadataOf(object, "namespace");
  if (kind.scope == Scope::kNamespaced && ns.empty()) {
    throw std::invalid_argument("the " + std::string(kind.kind) +
                                " to create has no metadata.namespace: set it");
  }
  return Call({.method = "POST",
               .target = WithQuery(CollectionPath(kind, ns), {{"fieldManager", field_manager_}}),
               .body = WithType(kind, object).dump()});
}

std::string Client::UpdateText(const Kind& kind, const json& object,
                               std::string_view subresource) const {
  return Call({.method = "PUT",
               .target = WithQuery(ObjectPath(kind, KeyOf(object), subresource),
                                   {{"fieldManager", field_manager_}}),
               .body = WithType(kind, object).dump()});
}

std::string Client::PatchText(const Kind& kind, const ObjectKey& key, const kopp::Patch& patch,
                              std::string_view subresource) const {
  return Call(
      {.method = "PATCH",
       .target = WithQuery(ObjectPath(kind, key, subresource), {{"fieldManager", field_manager_}}),
       .body = patch.text,
       .content_type = ContentType(patch.type)});
}

std::string Client::ApplyText(const Kind& kind, const json& object,
                              std::string_view subresource) const {
  return Call({.method = "PATCH",
               .target = WithQuery(ObjectPath(kind, KeyOf(object), subresource),
                                   {{"fieldManager", field_manager_}, {"force", "true"}}),
               .body = WithType(kind, object).dump(),
               .content_type = "application/apply-patch+yaml"});
}

std::string Client::ApplyStatusText(const Kind& kind, const ObjectMeta& metadata,
                                    const std::string& status) const {
  ObjectMeta identity;
  identity.name = metadata.name;
  identity.ns = metadata.ns;
  identity.uid = metadata.uid;
  return ApplyText(kind, {{"metadata", identity}, {"status", json::parse(status)}}, "status");
}

bool Client::Delete(const Kind& kind, const ObjectKey& key, const DeleteOptions& options) const {
  json body{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) {
    body["preconditions"]["resourceVersion"] = options.resource_version;
  }
  if (!options.propagation.empty()) body["propagationPolicy"] = options.propagation;
  try {
    (void)Call({.method = "DELETE", .target = ObjectPath(kind, key), .body = body.dump()});
    return true;
  } catch (const ApiError& error) {
    if (error.IsNotFound()) return false;
    throw;
  }
}

std::optional<json> Client::Get(const Kind& kind, const ObjectKey& key) const {
  const auto text = GetText(kind, key);
  return text ? std::optional<json>(json::parse(*text)) : std::nullopt;
}
std::vector<json> Client::List(const Kind& kind, const ListFilter& filter) const {
  std::vector<json> objects;
  for (const std::string& text : ListTexts(kind, filter)) objects.push_back(json::parse(text));
  return objects;
}
json Client::Create(const Kind& kind, const json& object) const {
  return json::parse(CreateText(kind, object));
}
json Client::Update(const Kind& kind, const json& object) const {
  return json::parse(UpdateText(kind, object, ""));
}
json Client::UpdateStatus(const Kind& kind, const json& object) const {
  return json::parse(UpdateText(kind, object, "status"));
}
json Client::Patch(const Kind& kind, const ObjectKey& key, const kopp::Patch& patch) const {
  return json::parse(PatchText(kind, key, patch, ""));
}
json Client::PatchStatus(const Kind& kind, const ObjectKey& key, const kopp::Patch& patch) const {
  return json::parse(PatchText(kind, key, patch, "status"));
}
json Client::Apply(const Kind& kind, const json& object) const {
  return json::parse(ApplyText(kind, object, ""));
}

}  // namespace kopp
