#include "watch_feed.hpp"

#include "objects.hpp"
#include "reads.hpp"

#include <algorithm>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr Duration kBetweenBookmarks = std::chrono::minutes(1);
constexpr Duration kBookmarkBeforeEnd = std::chrono::seconds(2);
constexpr std::size_t kChangesAtOnce = 500;
constexpr std::size_t kEnough = 1 << 20;  // bytes of frames, until they are taken

/// The text of `stored` with another version.
std::string WithVersion(const StoredPtr& stored, Version version) {
  json object = json::parse(stored->text);
  object["metadata"]["resourceVersion"] = std::to_string(version);
  return object.dump();
}

}  // namespace

WatchFeed::WatchFeed(World& world, Catalog::Entry resource, std::string ns, ListOptions options,
                     Presentation presentation)
    : world_(world),
      resource_(std::move(resource)),
      ns_(std::move(ns)),
      options_(std::move(options)),
      presentation_(std::move(presentation)) {
  const TimePoint now = world_.clock().Now();
  if (options_.timeout.value_or(0) > 0) end_ = now + std::chrono::seconds(*options_.timeout);
  if (options_.bookmarks) {
    bookmark_ = now + kBetweenBookmarks;
    if (end_ != TimePoint::max() && end_ - kBookmarkBeforeEnd > now) {
      bookmark_ = std::min(bookmark_, end_ - kBookmarkBeforeEnd);
    }
  }
  Begin();
}

void WatchFeed::Begin() {
  const bool shows_initial = options_.initial_events.value_or(options_.at.value_or(0) == 0);
  const Version at = options_.at.value_or(0);
  try {
    if (options_.initial_events) CheckNotOfTheFuture(world_.store(), at);
    if (shows_initial) {
      initial_ = world_.store().List(resource_->kept_as, ns_);
      seen_ = initial_->version;
    } else {
      seen_ = at > 0 ? at : world_.store().version();
    }
  } catch (const Refusal& refusal) {
    AddError(refusal.ToJson());
  }
}

void WatchFeed::AddInitial() {
  auto& objects = initial_->objects;
  for (; told_ < objects.size() && frames_.size() < kEnough; ++told_) {
    const auto& [key, stored] = objects[told_];
    if (options_.Selects(key, stored->attributes)) Tell("ADDED", stored->text);
  }
  if (told_ < objects.size()) return;
  initial_.reset();
  const bool marks_end = options_.initial_events.value_or(options_.version.empty());
  if (options_.bookmarks && marks_end) AddBookmark(true);
}

// A client that takes little at a time has little made for it at a time.
std::string WatchFeed::Take() {
  const Version newest = world_.store().version();
  const bool is_served = IsServed();
  if (!ended_ && initial_) AddInitial();
  if (!ended_ && !initial_) AddChanges();
  if (frames_.size() >= kEnough) return std::exchange(frames_, {});
  if (!is_served) ended_ = true;
  if (seen_ < newest) seen_ = newest;  // what happened until then was of no interest here
  const TimePoint now = world_.clock().Now();
  if (!ended_ && now >= bookmark_) {
    AddBookmark(false);
    bookmark_ = now + kBetweenBookmarks;
    if (end_ != TimePoint::max()) bookmark_ = TimePoint::max();
  }
  if (now >= end_) ended_ = true;
  return std::exchange(frames_, {});
}

TimePoint WatchFeed::next() const { return std::min(end_, bookmark_); }

void WatchFeed::AddChanges() {
  try {
    while (frames_.size() < kEnough) {
      const auto changes = world_.store().ChangesAfter(resource_->kept_as, seen_, kChangesAtOnce);
      for (const Change& change : changes) {
        if (frames_.size() >= kEnough) return;
        AddChange(change);
      }
      if (changes.size() < kChangesAtOnce) return;
    }
  } catch (const Compacted&) {
    AddError(TooOldToWatch(std::to_string(seen_), world_.store().version()).ToJson());
  }
}

void WatchFeed::AddChange(const Change& change) {
  seen_ = change.version();
  const bool was_wanted = Wanted(change.key, change.before);
  const bool is_wanted = !change.gone && Wanted(change.key, change.after);
  if (is_wanted) {
    Tell(was_wanted ? "MODIFIED" : "ADDED", change.after->text);
  } else if (was_wanted) {
    const std::string last =
        change.gone ? change.after->text : WithVersion(change.before, change.version());
    Tell("DELETED", last);
  }
}

bool WatchFeed::Wanted(const ObjectKey& key, const StoredPtr& stored) const {
  return stored != nullptr && (ns_.empty() || key.ns == ns_) &&
         options_.Selects(key, stored->attributes);
}

// A kind may go with its definition, or get another schema: then clients begin anew.
bool WatchFeed::IsServed() const {
  if (resource_->built_in) return true;
  const auto served =
      world_.catalog()->Find(resource_->group, resource_->version, resource_->plural);
  return served != nullptr && (served->terminating || served->schema == resource_->schema);
}

void WatchFeed::AddBookmark(bool ends_initial) {
  json object = Schema::Skeleton(*resource_->schema);
  object["metadata"] = {{"resourceVersion", std::to_string(seen_)}};
  if (ends_initial) {
    object["metadata"]["annotations"] = {{"k8s.io/initial-events-end", "true"}};
  }
  Tell("BOOKMARK", object.dump());
}

void WatchFeed::AddError(const json& status) {
  Frame("ERROR", status.dump());
  ended_ = true;
}

void WatchFeed::Tell(std::string_view type, const std::string& object) {
  const bool is_first = !std::exchange(begun_, true);
  Frame(type, presentation_.InEvent(object, *resource_, is_first, type == "BOOKMARK"));
}

void WatchFeed::Frame(std::string_view type, const std::string& object) {
  frames_.append(R"({"type":")").append(type).append(R"(","object":)").append(object).append("}\n");
}

}  // namespace kopp::apiserver
