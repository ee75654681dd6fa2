#include "reads.hpp"

#include "objects.hpp"
#include "presentation.hpp"
#include "scale.hpp"
#include "watch_feed.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Match = ListOptions::Match;

std::string PathOf(const ObjectKey& key) { return key.ns + '/' + key.name; }

/// The objects behind the token's, that are wanted; `limit` of them at the most.
struct Page {
  std::vector<const std::string*> texts{};
  std::vector<ObjectKey> keys{};
  std::size_t left = 0;  // behind it, wanted or not
  bool more = false;     // there are wanted ones behind it
};

Page PageOf(const Store::Snapshot& snapshot, const ListOptions& options, const std::string& after,
            std::size_t limit) {
  Page page;
  const auto first = std::partition_point(
      snapshot.objects.begin(), snapshot.objects.end(), [&](const auto& entry) {
        return !after.empty() && !ByPath()(ObjectKey::Parse(after), entry.first);
      });
  for (auto entry = first; entry != snapshot.objects.end(); ++entry) {
    const auto& [key, stored] = *entry;
    if (!options.Selects(key, stored->attributes)) continue;
    if (limit > 0 && page.texts.size() == limit) {
      page.more = true;
      page.left = static_cast<std::size_t>(snapshot.objects.end() - entry);
      break;
    }
    page.texts.push_back(&stored->text);
    page.keys.push_back(key);
  }
  return page;
}

PageToken TokenOf(const ListOptions& options) {
  if (options.token.empty()) return {};
  try {
    PageToken token = ReadPageToken(options.token);
    if (options.at.value_or(0) == 0) return token;
  } catch (const std::invalid_argument& error) {
    throw BadRequest(std::string("invalid continue token: ") + error.what());
  }
  throw BadRequest("specifying resource version is not allowed when using continue");
}

}  // namespace

void CheckNotOfTheFuture(const Store& store, Version version) {
  const Version current = store.version();
  if (version <= current) return;
  throw Refusal(
      504, "Timeout",
      "Timeout: Too large resource version: " + std::to_string(version) +
          ", current: " + std::to_string(current),
      {{"causes",
        {{{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}}}},
       {"retryAfterSeconds", 1}});
}

Refusal TooOldToList(const std::string& token) {
  if (token.empty()) return Expired("The resourceVersion for the provided list is too old.");
  PageToken rest;
  try {
    rest.after = ReadPageToken(token).after;
  } catch (const std::invalid_argument&) {
    rest = {};  // a fault befalls any token
  }
  return Expired(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this response "
      "to retrieve the remainder of the results. Continuing with the provided token results in an "
      "inconsistent list - objects that were created, modified, or deleted between the time the "
      "first chunk was returned and now may show up in the list.",
      {{"continue", rest.ToText()}});
}

Refusal TooOldToWatch(const std::string& version, Version current) {
  return Expired("too old resource version: " + version + " (" + std::to_string(current) + ')');
}

Reply Reads::Get(const Ask& ask, const Resource& resource) {
  const Presentation presentation = ReadPresentation(ask, resource, world_.Now());
  if (const std::string version = ask.target.query.Get("resourceVersion"); !version.empty()) {
    try {
      CheckNotOfTheFuture(world_.store(), ReadVersion(version));
    } catch (const std::invalid_argument& error) {
      throw Refusal(500, "", error.what());
    }
  }
  const StoredPtr stored = world_.store().Get(resource.kept_as, {ask.target.ns, ask.target.name});
  if (stored == nullptr) throw NotFound(resource, ask.target.name);
  if (ask.target.subresource == "scale") {
    const json scale = ScaleOf(resource, json::parse(stored->text));
    return {.body = presentation.One(scale.dump(), ScaleKind())};
  }
  return {.body = presentation.One(stored->text, resource)};
}

Reply Reads::List(const Ask& ask, const Catalog::Entry& resource) {
  Presentation presentation = ReadPresentation(ask, *resource, world_.Now());
  ListOptions options = ReadListOptions(ask, *resource);
  if (!options.watch) return {.body = ListNow(ask, *resource).body};
  Reply reply;
  reply.feed = std::make_unique<WatchFeed>(world_, resource, ask.target.ns, std::move(options),
                                           std::move(presentation));
  return reply;
}

Reads::Listing Reads::ListNow(const Ask& ask, const Resource& resource) {
  const Presentation presentation = ReadPresentation(ask, resource, world_.Now());
  const ListOptions options = ReadListOptions(ask, resource);
  const PageToken token = TokenOf(options);
  const std::optional<Version> at = token.version > 0 ? token.version : VersionToShow(options);
  if (at) CheckNotOfTheFuture(world_.store(), *at);
  if (options.at) CheckNotOfTheFuture(world_.store(), *options.at);

  Store::Snapshot snapshot;
  try {
    snapshot = world_.store().List(resource.kept_as, ask.target.ns, at);
  } catch (const Compacted&) {
    throw TooOldToList(options.token);
  }
  const bool from_cache = options.version == "0" && options.token.empty();
  Page page =
      PageOf(snapshot, options, token.after,
             from_cache ? 0 : static_cast<std::size_t>(std::max<std::int64_t>(options.limit, 0)));
  json metadata{{"resourceVersion", std::to_string(snapshot.version)}};
  if (page.more) {
    metadata["continue"] = PageToken{snapshot.version, PathOf(page.keys.back())}.ToText();
    if (options.labels.empty() && options.fields.empty()) {
      metadata["remainingItemCount"] = page.left;
    }
  }
  return {presentation.List(page.texts, metadata, resource), std::move(page.keys)};
}

/// None: whatever is the newest.
std::optional<Version> Reads::VersionToShow(const ListOptions& options) const {
  if (options.at.value_or(0) == 0) return std::nullopt;
  if (options.match == Match::kExact) return options.at;
  if (options.match == Match::kUnset && options.limit > 0) return options.at;
  return std::nullopt;
}

}  // namespace kopp::apiserver
