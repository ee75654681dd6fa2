#include "handlers/resource_watch.hpp"

#include "handlers/read_handler.hpp"

#include <algorithm>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr Duration kBookmarkInterval = std::chrono::minutes(1);
constexpr Duration kBookmarkBeforeEnd = std::chrono::seconds(2);
constexpr std::size_t kMaxChanges = 500;
constexpr std::size_t kMaxBufferedBytes = 1 << 20;  // limit of frames_ between two reads

/// Returns the text of `stored` with another resourceVersion.
std::string WithVersion(const StoredObjectPtr& stored, ResourceVersion version) {
  json object = json::parse(stored->text);
  object["metadata"]["resourceVersion"] = std::to_string(version);
  return object.dump();
}

}  // namespace

ResourceWatch::ResourceWatch(ServerContext& context, ResourcePtr resource, std::string ns,
                             ListOptions options, ResponseEncoder encoder)
    : context_(context),
      resource_(std::move(resource)),
      ns_(std::move(ns)),
      options_(std::move(options)),
      encoder_(std::move(encoder)) {
  const TimePoint now = context_.clock().Now();
  if (options_.timeout.value_or(0) > 0) end_time_ = now + std::chrono::seconds(*options_.timeout);
  if (options_.allow_bookmarks) {
    next_bookmark_ = now + kBookmarkInterval;
    if (end_time_ != TimePoint::max() && end_time_ - kBookmarkBeforeEnd > now) {
      next_bookmark_ = std::min(next_bookmark_, end_time_ - kBookmarkBeforeEnd);
    }
  }
  Start();
}

void ResourceWatch::Start() {
  const bool shows_initial =
      options_.send_initial_events.value_or(options_.resource_version.value_or(0) == 0);
  const ResourceVersion at = options_.resource_version.value_or(0);
  try {
    if (options_.send_initial_events) CheckVersionNotInFuture(context_.store(), at);
    if (shows_initial) {
      initial_ = context_.store().List(resource_->storage_resource, ns_);
      version_ = initial_->version;
    } else {
      version_ = at > 0 ? at : context_.store().version();
    }
  } catch (const StatusError& error) {
    AddError(error.ToJson());
  }
}

void ResourceWatch::AddInitial() {
  auto& objects = initial_->objects;
  for (; initial_position_ < objects.size() && frames_.size() < kMaxBufferedBytes;
       ++initial_position_) {
    const auto& [key, stored] = objects[initial_position_];
    if (options_.SelectorMatches(key, stored->attributes)) AddEvent("ADDED", stored->text);
  }
  if (initial_position_ < objects.size()) return;
  initial_.reset();
  const bool marks_end =
      options_.send_initial_events.value_or(options_.resource_version_text.empty());
  if (options_.allow_bookmarks && marks_end) AddBookmark(true);
}

// Produces about 1 MiB of frames per call, so that a slow client does not fill the memory.
std::string ResourceWatch::ReadFrames() {
  const ResourceVersion newest = context_.store().version();
  const bool is_served = IsServed();
  if (!ended_ && initial_) AddInitial();
  if (!ended_ && !initial_) AddChanges();
  if (frames_.size() >= kMaxBufferedBytes) return std::exchange(frames_, {});
  if (!is_served) ended_ = true;
  if (version_ < newest) version_ = newest;  // no change up to `newest` matches this watch
  const TimePoint now = context_.clock().Now();
  if (!ended_ && now >= next_bookmark_) {
    AddBookmark(false);
    next_bookmark_ = now + kBookmarkInterval;
    if (end_time_ != TimePoint::max()) next_bookmark_ = TimePoint::max();
  }
  if (now >= end_time_) ended_ = true;
  return std::exchange(frames_, {});
}

TimePoint ResourceWatch::wake_time() const { return std::min(end_time_, next_bookmark_); }

void ResourceWatch::AddChanges() {
  try {
    while (frames_.size() < kMaxBufferedBytes) {
      const auto changes =
          context_.store().ChangesAfter(resource_->storage_resource, version_, kMaxChanges);
      for (const ObjectChange& change : changes) {
        if (frames_.size() >= kMaxBufferedBytes) return;
        AddChange(change);
      }
      if (changes.size() < kMaxChanges) return;
    }
  } catch (const CompactedError&) {
    AddError(TooOldToWatch(std::to_string(version_), context_.store().version()).ToJson());
  }
}

void ResourceWatch::AddChange(const ObjectChange& change) {
  version_ = change.version();
  const bool was_selected = IsSelected(change.key, change.before);
  const bool is_selected = !change.deleted && IsSelected(change.key, change.after);
  if (is_selected) {
    AddEvent(was_selected ? "MODIFIED" : "ADDED", change.after->text);
  } else if (was_selected) {
    const std::string last =
        change.deleted ? change.after->text : WithVersion(change.before, change.version());
    AddEvent("DELETED", last);
  }
}

bool ResourceWatch::IsSelected(const ObjectKey& key, const StoredObjectPtr& stored) const {
  return stored != nullptr && (ns_.empty() || key.ns == ns_) &&
         options_.SelectorMatches(key, stored->attributes);
}

// Returns false if the CRD of the kind was deleted or its schema has changed. The watch then ends,
// and clients start a new one.
bool ResourceWatch::IsServed() const {
  if (resource_->built_in) return true;
  const auto served =
      context_.catalog()->Find(resource_->group, resource_->version, resource_->plural);
  return served != nullptr && (served->terminating || served->schema == resource_->schema);
}

void ResourceWatch::AddBookmark(bool ends_initial) {
  json object = Schema::EmptyObject(*resource_->schema);
  object["metadata"] = {{"resourceVersion", std::to_string(version_)}};
  if (ends_initial) {
    object["metadata"]["annotations"] = {{"k8s.io/initial-events-end", "true"}};
  }
  AddEvent("BOOKMARK", object.dump());
}

void ResourceWatch::AddError(const json& status) {
  AddFrame("ERROR", status.dump());
  ended_ = true;
}

void ResourceWatch::AddEvent(std::string_view type, const std::string& object) {
  const bool is_first = !std::exchange(has_sent_event_, true);
  AddFrame(type, encoder_.EncodeEventObject(object, *resource_, is_first, type == "BOOKMARK"));
}

void ResourceWatch::AddFrame(std::string_view type, const std::string& object) {
  frames_.append(R"({"type":")").append(type).append(R"(","object":)").append(object).append("}\n");
}

}  // namespace kopp::apiserver
