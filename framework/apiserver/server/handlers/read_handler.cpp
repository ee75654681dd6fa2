#include "handlers/read_handler.hpp"

#include "encoding/response_encoder.hpp"
#include "handlers/resource_watch.hpp"
#include "handlers/scale.hpp"
#include "storage/object_responses.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Match = ListOptions::Match;

std::string PathOf(const ObjectKey& key) { return key.ns + '/' + key.name; }

/// A page of a list: the objects after the continue token that match the selectors.
struct Page {
  std::vector<const std::string*> texts{};
  std::vector<ObjectKey> keys{};
  std::size_t remaining = 0;  // objects after the page, whether they match or not
  bool has_more = false;      // whether objects after the page match
};

Page MakePage(const Store::Snapshot& snapshot, const ListOptions& options, const std::string& after,
              std::size_t limit) {
  Page page;
  const auto first = std::partition_point(
      snapshot.objects.begin(), snapshot.objects.end(), [&](const auto& entry) {
        return !after.empty() && !EtcdKeyOrder()(ObjectKey::Parse(after), entry.first);
      });
  for (auto entry = first; entry != snapshot.objects.end(); ++entry) {
    const auto& [key, stored] = *entry;
    if (!options.SelectorMatches(key, stored->attributes)) continue;
    if (limit > 0 && page.texts.size() == limit) {
      page.has_more = true;
      page.remaining = static_cast<std::size_t>(snapshot.objects.end() - entry);
      break;
    }
    page.texts.push_back(&stored->text);
    page.keys.push_back(key);
  }
  return page;
}

ContinueToken ReadContinueToken(const ListOptions& options) {
  if (options.continue_token.empty()) return {};
  try {
    ContinueToken token = DecodeContinueToken(options.continue_token);
    if (options.resource_version.value_or(0) == 0) return token;
  } catch (const std::invalid_argument& error) {
    throw BadRequest(std::string("invalid continue token: ") + error.what());
  }
  throw BadRequest("specifying resource version is not allowed when using continue");
}

}  // namespace

void CheckVersionNotInFuture(const Store& store, ResourceVersion version) {
  const ResourceVersion current = store.version();
  if (version <= current) return;
  throw StatusError(
      504, "Timeout",
      "Timeout: Too large resource version: " + std::to_string(version) +
          ", current: " + std::to_string(current),
      {{"causes",
        {{{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}}}},
       {"retryAfterSeconds", 1}});
}

StatusError TooOldToList(const std::string& token) {
  if (token.empty()) return Expired("The resourceVersion for the provided list is too old.");
  ContinueToken rest;
  try {
    rest.after = DecodeContinueToken(token).after;
  } catch (const std::invalid_argument&) {
    rest = {};  // an injected fault applies to invalid tokens too
  }
  return Expired(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this response "
      "to retrieve the remainder of the results. Continuing with the provided token results in an "
      "inconsistent list - objects that were created, modified, or deleted between the time the "
      "first chunk was returned and now may show up in the list.",
      {{"continue", rest.Encode()}});
}

StatusError TooOldToWatch(const std::string& version, ResourceVersion current) {
  return Expired("too old resource version: " + version + " (" + std::to_string(current) + ')');
}

ServerResponse ReadHandler::Get(const ServerRequest& request, const Resource& resource) {
  const ResponseEncoder encoder = NegotiateResponse(context_, request, resource);
  if (const std::string version = request.target.query.Get("resourceVersion"); !version.empty()) {
    try {
      CheckVersionNotInFuture(context_.store(), ParseResourceVersion(version));
    } catch (const std::invalid_argument& error) {
      throw StatusError(500, "", error.what());
    }
  }
  const StoredObjectPtr stored =
      context_.store().Get(resource.storage_resource, {request.target.ns, request.target.name});
  if (stored == nullptr) throw NotFound(resource, request.target.name);
  if (request.target.subresource == "scale") {
    json scale = ResponseObject(ScaleOf(resource, json::parse(stored->text)), ScaleKind());
    return {.body = encoder.ObjectBody(std::move(scale), ScaleKind()),
            .content_type = encoder.content_type()};
  }
  return {.body = encoder.StoredObjectBody(stored->text, resource),
          .content_type = encoder.content_type()};
}

ServerResponse ReadHandler::List(const ServerRequest& request, const ResourcePtr& resource) {
  ResponseEncoder encoder = NegotiateResponse(context_, request, *resource);
  ListOptions options = ReadListOptions(request, *resource);
  if (!options.watch) {
    return {.body = ListObjects(request, *resource).body, .content_type = encoder.content_type()};
  }
  ServerResponse response;
  response.content_type = encoder.watch_content_type();
  response.watch = std::make_unique<ResourceWatch>(context_, resource, request.target.ns,
                                                   std::move(options), std::move(encoder));
  return response;
}

ReadHandler::ListResult ReadHandler::ListObjects(const ServerRequest& request,
                                                 const Resource& resource) {
  const ResponseEncoder encoder = NegotiateResponse(context_, request, resource);
  const ListOptions options = ReadListOptions(request, resource);
  const ContinueToken token = ReadContinueToken(options);
  const std::optional<ResourceVersion> at =
      token.version > 0 ? token.version : SnapshotVersion(options);
  if (at) CheckVersionNotInFuture(context_.store(), *at);
  if (options.resource_version)
    CheckVersionNotInFuture(context_.store(), *options.resource_version);

  Store::Snapshot snapshot;
  try {
    snapshot = context_.store().List(resource.storage_resource, request.target.ns, at);
  } catch (const CompactedError&) {
    throw TooOldToList(options.continue_token);
  }
  const bool from_cache = options.resource_version_text == "0" && options.continue_token.empty();
  Page page =
      MakePage(snapshot, options, token.after,
               from_cache ? 0 : static_cast<std::size_t>(std::max<std::int64_t>(options.limit, 0)));
  json metadata{{"resourceVersion", std::to_string(snapshot.version)}};
  if (page.has_more) {
    metadata["continue"] = ContinueToken{snapshot.version, PathOf(page.keys.back())}.Encode();
    if (options.label_selector.empty() && options.field_selector.empty()) {
      metadata["remainingItemCount"] = page.remaining;
    }
  }
  return {encoder.ListBody(page.texts, std::move(metadata), resource), std::move(page.keys)};
}

std::optional<ResourceVersion> ReadHandler::SnapshotVersion(const ListOptions& options) const {
  if (options.resource_version.value_or(0) == 0) return std::nullopt;
  if (options.match == Match::kExact) return options.resource_version;
  if (options.match == Match::kUnset && options.limit > 0) return options.resource_version;
  return std::nullopt;
}

}  // namespace kopp::apiserver
