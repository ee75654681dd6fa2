#include "client/list_response.hpp"
#include "client/open_stream.hpp"
#include "net/resource_path.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
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

constexpr int kDefaultPageSize = 500;
constexpr int kMaxListRestarts = 3;  // a list expires 5 to 10 minutes after its first page
constexpr Duration kLogIdleTimeout = std::chrono::seconds(30);
constexpr Kind kPodKind{"v1", "Pod", "pods"};

/// A subresource whose objects are of a kind of their own.
struct SubresourceType {
  std::string_view subresource;
  std::string_view api_version;
  std::string_view kind;
};
constexpr std::array kSubresourceTypes{
    SubresourceType{"scale", "autoscaling/v1", "Scale"},
    SubresourceType{"eviction", "policy/v1", "Eviction"},
    SubresourceType{"token", "authentication.k8s.io/v1", "TokenRequest"},
    SubresourceType{"binding", "v1", "Binding"}};

/// Returns `object` with `apiVersion` and `kind`, which the API server requires in every body.
json WithType(const Kind& kind, std::string_view subresource, json object) {
  const auto* const type =
      std::find_if(kSubresourceTypes.begin(), kSubresourceTypes.end(),
                   [&](const auto& each) { return each.subresource == subresource; });
  const bool is_own_kind = type == kSubresourceTypes.end();
  object.emplace("apiVersion", is_own_kind ? kind.api_version : type->api_version);
  object.emplace("kind", is_own_kind ? kind.kind : type->kind);
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
  switch (type) {
    case Patch::Type::kMerge:
      return "application/merge-patch+json";
    case Patch::Type::kJson:
      return "application/json-patch+json";
    case Patch::Type::kStrategicMerge:
      break;
  }
  return "application/strategic-merge-patch+json";
}

/// Returns the value of the query parameter fieldValidation. Warn is the default of the API server.
const char* QueryValue(FieldValidation validation) {
  if (validation == FieldValidation::kWarn) return "";
  return validation == FieldValidation::kStrict ? "Strict" : "Ignore";
}

/// Returns the value of the query parameter resourceVersionMatch.
const char* QueryValue(ResourceVersionMatch match) {
  if (match == ResourceVersionMatch::kDefault) return "";
  return match == ResourceVersionMatch::kExact ? "Exact" : "NotOlderThan";
}

std::string PositiveOrEmpty(int number) { return number > 0 ? std::to_string(number) : ""; }

/// Returns the target of a request for the first or the next page.
std::string ListTarget(const std::string& path, const ListFilter& filter,
                       const ListOptions& options) {
  const bool is_first = options.continue_token.empty();
  return WithQuery(
      path, {{"labelSelector", filter.label_selector},
             {"fieldSelector", filter.field_selector},
             {"limit", PositiveOrEmpty(options.limit)},
             {"continue", options.continue_token},
             {"resourceVersion", is_first ? options.resource_version : ""},
             {"resourceVersionMatch", is_first ? QueryValue(options.resource_version_match) : ""}});
}

/// Parses a list response.
ListPage<std::string> SplitList(std::string_view body) {
  ListPage<std::string> page;
  JsonSplitter splitter(JsonSplitter::Mode::kListItems,
                        [&](std::string_view object) { page.objects.emplace_back(object); });
  splitter.Feed(body);
  if (!splitter.IsComplete()) {
    throw DecodeError(DecodeError::Kind::kMalformed, "", "the response is not a complete list");
  }
  auto metadata = Decode<ListResponse>(splitter.envelope()).metadata;
  page.continue_token = std::move(metadata.continue_token);
  page.remaining = metadata.remainingItemCount;
  page.resource_version = std::move(metadata.resourceVersion);
  return page;
}

}  // namespace

Client Client::With(std::stop_token stop) const {
  Client copy = *this;
  copy.stop_ = std::move(stop);
  return copy;
}

Client Client::WithFieldManager(std::string field_manager) const {
  Client copy = *this;
  copy.field_manager_ = std::move(field_manager);
  return copy;
}

Client Client::WithFieldValidation(FieldValidation validation) const {
  Client copy = *this;
  copy.field_validation_ = validation;
  return copy;
}

Client Client::WithDryRun() const {
  Client copy = *this;
  copy.dry_run_ = true;
  return copy;
}

Client Client::InNamespace(const std::string& ns) const {
  if (ns.empty()) throw std::invalid_argument("InNamespace needs the name of a namespace");
  Client copy = *this;
  copy.namespace_ = NamespaceFor({}, ns);
  return copy;
}

/// Returns the namespace of a request for `ns`, which may be empty.
std::string Client::NamespaceFor(const Kind& kind, const std::string& ns) const {
  if (namespace_.empty() || kind.scope == Scope::kCluster) return ns;
  if (ns.empty() || ns == namespace_) return namespace_;
  throw std::invalid_argument("this client is for the namespace \"" + namespace_ +
                              "\" only, but a request is for the namespace \"" + ns + "\"");
}

/// Returns `object` as it is sent: with its type and, in a client for one namespace, its namespace.
json Client::Completed(const Kind& kind, std::string_view subresource, json object) const {
  const json::json_pointer metadata("/metadata");
  if (!object.is_object() || (object.contains(metadata) && !object.at(metadata).is_object())) {
    throw std::invalid_argument("the " + std::string(kind.kind) +
                                " to write, or its metadata, is not a JSON object");
  }
  const std::string ns = MetadataOf(object, "namespace");
  if (const std::string required = NamespaceFor(kind, ns); required != ns) {
    object["metadata"]["namespace"] = required;
  }
  return WithType(kind, subresource, std::move(object));
}

std::string Client::Call(const Request& request) const {
  Response response = transport_->Call(request, stop_);
  if (response.status >= 200 && response.status < 300) return std::move(response.body);
  throw ApiError::FromBody(request.method + " " + request.target, response.status, response.body,
                           response.retry_after);
}

/// Sends a write request with its options. `force` is the query parameter of an apply.
std::string Client::Write(Request request, const WriteOptions& options,
                          std::string_view force) const {
  request.target = WithQuery(
      std::move(request.target),
      {{"fieldManager", options.field_manager.empty() ? field_manager_ : options.field_manager},
       {"force", force},
       {"dryRun", dry_run_ || options.dry_run ? "All" : ""},
       {"fieldValidation", QueryValue(options.field_validation.value_or(field_validation_))}});
  return Call(request);
}

std::optional<std::string> Client::GetText(const Kind& kind, const ObjectKey& key,
                                           const GetOptions& options) const {
  try {
    return Call({.target = WithQuery(ObjectPath(kind, KeyFor(kind, key), options.subresource),
                                     {{"resourceVersion", options.resource_version}})});
  } catch (const ApiError& error) {
    if (error.IsNotFound()) return std::nullopt;
    throw;
  }
}

std::vector<std::string> Client::ListTexts(const Kind& kind, const ListFilter& filter,
                                           const ListOptions& options) const {
  ListOptions next = options;
  for (int restarts = 0;; ++restarts) {
    std::vector<std::string> objects;
    next.continue_token = options.continue_token;
    try {
      do {
        auto page = ReadPage(kind, filter, next);
        std::move(page.objects.begin(), page.objects.end(), std::back_inserter(objects));
      } while (!next.continue_token.empty());
      return objects;
    } catch (const ApiError& error) {
      // The API server has compacted the version of the first page. The next try reads newer pages.
      const bool can_restart = !next.continue_token.empty() && options.continue_token.empty();
      if (!error.IsGone() || !can_restart || restarts == kMaxListRestarts) throw;
    }
  }
}

// Halves options.limit until the page is not larger than TransportOptions::max_body.
ListPage<std::string> Client::ReadPage(const Kind& kind, const ListFilter& filter,
                                       ListOptions& options) const {
  const std::string path = CollectionPath(kind, NamespaceFor(kind, filter.ns));
  for (;; options.limit = options.limit > 0 ? options.limit / 2 : kDefaultPageSize) {
    try {
      auto page = SplitList(Call({.target = ListTarget(path, filter, options)}));
      options.continue_token = page.continue_token;
      return page;
    } catch (const TransportError& error) {
      if (error.kind() != TransportError::Kind::kTooLarge || options.limit == 1) throw;
    }
  }
}

AnyWatcher Client::WatchAny(const Kind& kind, AnyHttpSource::Decoder decode, ListFilter filter,
                            const WatchOptions& options) const {
  filter.ns = NamespaceFor(kind, filter.ns);
  (void)CollectionPath(kind, filter.ns);  // throws for an invalid namespace
  return {*transport_, kind, decode, std::move(filter), options, stop_};
}

std::string Client::CreateText(const Kind& kind, const json& object,
                               const WriteOptions& options) const {
  const json body = Completed(kind, options.subresource, object);
  const ObjectKey key = KeyOf(body);
  if (kind.scope == Scope::kNamespaced && key.ns.empty()) {
    throw std::invalid_argument("the " + std::string(kind.kind) +
                                " to create has no metadata.namespace: set it");
  }
  return Write({.method = "POST",
                .target = options.subresource.empty() ? CollectionPath(kind, key.ns)
                                                      : ObjectPath(kind, key, options.subresource),
                .body = body.dump()},
               options);
}

std::string Client::UpdateText(const Kind& kind, const json& object,
                               const WriteOptions& options) const {
  const json body = Completed(kind, options.subresource, object);
  return Write({.method = "PUT",
                .target = ObjectPath(kind, KeyOf(body), options.subresource),
                .body = body.dump()},
               options);
}

std::string Client::PatchText(const Kind& kind, const ObjectKey& key, const kopp::Patch& patch,
                              const WriteOptions& options) const {
  return Write({.method = "PATCH",
                .target = ObjectPath(kind, KeyFor(kind, key), options.subresource),
                .body = patch.text,
                .content_type = ContentType(patch.type)},
               options);
}

std::string Client::ApplyText(const Kind& kind, const json& object,
                              const ApplyOptions& options) const {
  const json body = Completed(kind, options.subresource, object);
  return Write({.method = "PATCH",
                .target = ObjectPath(kind, KeyOf(body), options.subresource),
                .body = body.dump(),
                .content_type = "application/apply-patch+yaml"},
               {.field_manager = options.field_manager,
                .dry_run = options.dry_run,
                .field_validation = options.field_validation},
               options.force ? "true" : "");
}

std::string Client::ApplyStatusText(const Kind& kind, const ObjectMeta& metadata,
                                    const std::string& status, ApplyOptions options) const {
  ObjectMeta identity;
  identity.name = metadata.name;
  identity.ns = metadata.ns;
  identity.uid = metadata.uid;
  options.subresource = "status";
  return ApplyText(kind, {{"metadata", identity}, {"status", json::parse(status)}}, options);
}

std::string Client::DeleteBody(const DeleteOptions& options) const {
  json body{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) {
    body["preconditions"]["resourceVersion"] = options.resource_version;
  }
  if (!options.propagation.empty()) body["propagationPolicy"] = options.propagation;
  if (options.grace_period) body["gracePeriodSeconds"] = options.grace_period->count();
  if (dry_run_ || options.dry_run) body["dryRun"] = {"All"};
  return body.dump();
}

bool Client::Delete(const Kind& kind, const ObjectKey& key, const DeleteOptions& options) const {
  try {
    (void)Call({.method = "DELETE",
                .target = ObjectPath(kind, KeyFor(kind, key)),
                .body = DeleteBody(options)});
    return true;
  } catch (const ApiError& error) {
    if (error.IsNotFound()) return false;
    throw;
  }
}

void Client::DeleteAllOf(const Kind& kind, const ListFilter& filter,
                         const DeleteOptions& options) const {
  const std::string ns = NamespaceFor(kind, filter.ns);
  if (kind.scope == Scope::kNamespaced && ns.empty()) {
    throw std::invalid_argument("DeleteAllOf for " + std::string(kind.kind) +
                                " needs a namespace: set ListFilter::ns");
  }
  (void)Call(
      {.method = "DELETE",
       .target = WithQuery(CollectionPath(kind, ns), {{"labelSelector", filter.label_selector},
                                                      {"fieldSelector", filter.field_selector}}),
       .body = DeleteBody(options)});
}

std::optional<Scale> Client::GetScale(const Kind& kind, const ObjectKey& key) const {
  const auto text = GetText(kind, key, {.subresource = "scale"});
  return text ? std::optional(Decode<Scale>(*text)) : std::nullopt;
}

Scale Client::UpdateScale(const Kind& kind, const Scale& scale, const WriteOptions& options) const {
  WriteOptions scale_options = options;
  scale_options.subresource = "scale";
  return Decode<Scale>(UpdateText(kind, scale, scale_options));
}

PodLogStream Client::PodLogs(const ObjectKey& key, const PodLogOptions& options) const {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const std::string tail_lines = options.tail_lines ? number(*options.tail_lines) : "";
  const std::string since = options.since ? number(options.since->count()) : "";
  const Request request{
      .target = WithQuery(ObjectPath(kPodKind, KeyFor(kPodKind, key), "log"),
                          {{"container", options.container},
                           {"follow", options.follow ? "true" : ""},
                           {"previous", options.previous ? "true" : ""},
                           {"timestamps", options.timestamps ? "true" : ""},
                           {"tailLines", tail_lines},
                           {"sinceSeconds", since}}),
      .accept = "application/json, */*"};  // the log is plain text, an error is JSON
  return {OpenStream(*transport_, request, "GET", stop_),
          options.follow ? Duration::max() : kLogIdleTimeout};
}

std::optional<json> Client::Get(const Kind& kind, const ObjectKey& key,
                                const GetOptions& options) const {
  const auto text = GetText(kind, key, options);
  return text ? std::optional<json>(json::parse(*text)) : std::nullopt;
}
std::vector<json> Client::List(const Kind& kind, const ListFilter& filter,
                               const ListOptions& options) const {
  std::vector<json> objects;
  for (const std::string& text : ListTexts(kind, filter, options)) {
    objects.push_back(WithType(kind, "", json::parse(text)));
  }
  return objects;
}
ListPage<json> Client::ListPage(const Kind& kind, const ListFilter& filter,
                                ListOptions options) const {
  const auto texts = ReadPage(kind, filter, options);
  kopp::ListPage<json> page{{}, texts.continue_token, texts.remaining, texts.resource_version};
  for (const std::string& text : texts.objects) {
    page.objects.push_back(WithType(kind, "", json::parse(text)));
  }
  return page;
}
void Client::ForEach(const Kind& kind, const ListFilter& filter,
                     const std::function<void(json)>& visit, ListOptions options) const {
  do {
    for (const std::string& text : ReadPage(kind, filter, options).objects) {
      visit(WithType(kind, "", json::parse(text)));
    }
  } while (!options.continue_token.empty());
}
json Client::Create(const Kind& kind, const json& object, const WriteOptions& options) const {
  return json::parse(CreateText(kind, object, options));
}
json Client::Update(const Kind& kind, const json& object, const WriteOptions& options) const {
  return json::parse(UpdateText(kind, object, options));
}
json Client::UpdateStatus(const Kind& kind, const json& object, const WriteOptions& options) const {
  return Update(kind, object, OfStatus(options));
}
json Client::Patch(const Kind& kind, const ObjectKey& key, const kopp::Patch& patch,
                   const WriteOptions& options) const {
  return json::parse(PatchText(kind, key, patch, options));
}
json Client::PatchStatus(const Kind& kind, const ObjectKey& key, const kopp::Patch& patch,
                         const WriteOptions& options) const {
  return Patch(kind, key, patch, OfStatus(options));
}
json Client::Apply(const Kind& kind, const json& object, const ApplyOptions& options) const {
  return json::parse(ApplyText(kind, object, options));
}

}  // namespace kopp
