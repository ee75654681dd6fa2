#include "cache_audit.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>

#include <kopp/informer/detail/reflector.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::informer {
namespace {

/// Returns "; retrying in 1.2 s", or "" if there is no delay.
std::string RetrySuffix(Duration delay) {
  if (delay <= Duration::zero()) return "";
  const auto tenths = std::chrono::round<std::chrono::duration<int, std::deci>>(delay).count();
  return "; retrying in " + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

/// Returns the reason for Sink::OnWatchEnd.
std::string_view WatchEndReason(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const ApiError& error) {
    return error.IsGone() ? "expired" : "rejected";
  } catch (const DecodeError&) {
    return "malformed";
  } catch (...) {
    return "failed";
  }
}

/// Returns the object with the newest version; null if there is none.
AnyObject NewestOf(const std::vector<AnyObject>& objects) {
  const auto newest =
      std::max_element(objects.begin(), objects.end(), [](const AnyObject& a, const AnyObject& b) {
        return IsOlderResourceVersion(a.metadata().resourceVersion, b.metadata().resourceVersion);
      });
  return newest == objects.end() ? AnyObject() : *newest;
}

}  // namespace

/// The objects that a streaming list has sent so far.
class AnyReflector::InitialObjects {
 public:
  /// Applies an event or a skipped event. Returns whether it is about a new object.
  bool Apply(const WatchItem& item) {
    if (item.type == WatchItem::Type::kSkipped) {
      return !objects_.contains(item.skipped_key) && skipped_keys_.insert(item.skipped_key).second;
    }
    if (item.type != WatchItem::Type::kEvent) return false;
    ObjectKey key = item.object.key();
    skipped_keys_.erase(key);
    if (item.event_type == EventType::kDeleted) {
      objects_.erase(key);
      return false;
    }
    const std::size_t size = objects_.size();  // the server sends the objects in this order
    objects_.insert_or_assign(objects_.end(), std::move(key), item.object);
    return objects_.size() > size;
  }

  /// Returns the objects and removes them.
  std::vector<AnyObject> Take() {
    std::vector<AnyObject> objects;
    objects.reserve(objects_.size());
    for (auto& [key, object] : std::exchange(objects_, {})) objects.push_back(std::move(object));
    return objects;
  }
  [[nodiscard]] std::vector<ObjectKey> SkippedKeys() const {
    return {skipped_keys_.begin(), skipped_keys_.end()};
  }

 private:
  std::map<ObjectKey, AnyObject> objects_;
  std::set<ObjectKey> skipped_keys_;
};

void AnyReflector::Sink::OnVersion(const std::string&) {}
void AnyReflector::Sink::OnRestore() {}
void AnyReflector::Sink::OnSkippedObject() {}
void AnyReflector::Sink::OnWatchEnd(std::string_view) {}
void AnyReflector::Sink::OnFailure(const std::exception_ptr&, Duration) {}

void AnyReflector::Run(const std::stop_token& stop) {
  Duration delay{};
  while (!stop.stop_requested()) {
    ReflectorState::NextStep next;
    try {
      WaitFor(std::exchange(delay, {}), stop);
      if (stop.stop_requested()) return;
      switch (state_.state()) {
        case ReflectorState::State::kWatching:
        case ReflectorState::State::kStreamingList:
          next = Watch(stop);
          break;
        case ReflectorState::State::kCheckingVersion:
          next = CheckVersion(stop);
          break;
        default:
          List(stop);
      }
    } catch (...) {
      if (stop.stop_requested()) return;
      listed_objects_.clear();
      skipped_keys_.clear();
      const std::exception_ptr failure = std::current_exception();
      if (state_.state() == ReflectorState::State::kWatching) {
        sink_.OnWatchEnd(WatchEndReason(failure));
      }
      next = state_.OnFailure(failure);
      if (next.failed) sink_.OnFailure(failure, next.delay);
    }
    ReportProblem(next.problem + RetrySuffix(next.delay), next.minor);
    delay = next.delay;
  }
}

void AnyReflector::List(const std::stop_token& stop) {
  const auto on_object = [this](AnyObject object) { listed_objects_.push_back(std::move(object)); };
  const ListResult result = source_.List(state_.NextListRequest(), on_object, stop);
  for (const SkippedItem& skipped : result.skipped) {
    ReportProblem(skipped.problem, /*minor=*/false);
    skipped_keys_.push_back(skipped.key);
  }
  if (!result.continue_token.empty()) {
    state_.OnListPage(result);
    return;
  }
  Replace(std::exchange(listed_objects_, {}), std::exchange(skipped_keys_, {}),
          [&] { state_.OnListPage(result); });
}

// Applies a complete list. `advance` is called after the sink has it: if the sink throws, the list
// is repeated.
void AnyReflector::Replace(std::vector<AnyObject> objects,
                           const std::vector<ObjectKey>& skipped_keys,
                           const std::function<void()>& advance) {
  const AnyObject newest = NewestOf(objects);
  sink_.Replace(std::move(objects), skipped_keys);
  advance();
  if (newest) state_.OnChange(newest.key(), newest.metadata().resourceVersion, /*deleted=*/false);
  if (state_.MayFollowRestore()) sink_.OnRestore();
  sink_.OnVersion(state_.resource_version());
}

ReflectorState::NextStep AnyReflector::CheckVersion(const std::stop_token& stop) {
  std::string version;
  const auto read_version = [&](const AnyObject& object) {
    version = object.metadata().resourceVersion;
  };
  const ListResult list = source_.List(state_.NextListRequest(), read_version, stop);
  auto next = state_.OnVersionCheck(list, version);
  // The version is confirmed: without bookmarks, nothing else shows that the informer works.
  if (state_.state() == ReflectorState::State::kWatching) {
    sink_.OnVersion(state_.resource_version());
  }
  return next;
}

ReflectorState::NextStep AnyReflector::Watch(const std::stop_token& stop) {
  WaitFor(state_.DelayBeforeWatch(), stop);
  if (stop.stop_requested()) return {};
  const std::unique_ptr<WatchStream> stream = source_.Watch(state_.StartWatch(), stop);
  InitialObjects initial_objects;
  std::optional<CacheAudit> audit;
  bool event_may_wait = true;  // an audit continues only when all events were applied
  while (!stop.stop_requested()) {
    if (!event_may_wait) {
      if (const auto drift = ContinueAudit(audit, stop))
        return EndWatch("drift", state_.OnDrift(*drift));
    }
    const TimePoint now = options_.clock.Now();
    if (now >= state_.IdleDeadline()) return EndWatch("idle", state_.OnIdleTimeout());
    const TimePoint audit_time = audit ? now : std::max(now, state_.NextAudit());
    const TimePoint deadline =
        std::min({sink_.RunPeriodicWork(now), state_.IdleDeadline(), audit_time});
    const WatchItem item = Read(*stream, deadline - now);
    event_may_wait = item.type != WatchItem::Type::kNoEvent;
    if (item.type == WatchItem::Type::kEnd) return EndWatch("closed", state_.OnWatchEnd());
    if (state_.state() == ReflectorState::State::kStreamingList) {
      HandleInitialItem(item, initial_objects);
    } else if (state_.IsOutdated(item.resource_version)) {
      return EndWatch("outdated", state_.OnOutdatedVersion(item.resource_version));
    } else {
      HandleWatchItem(item);
    }
  }
  return {};
}

WatchItem AnyReflector::Read(WatchStream& stream, Duration timeout) {
  try {
    return stream.Next(timeout);
  } catch (...) {
    state_.OnWatchCut();
    throw;
  }
}

// Starts an audit that is due, or compares the next page of a running one. Returns the drift that a
// completed audit has found.
std::optional<CacheDrift> AnyReflector::ContinueAudit(std::optional<CacheAudit>& audit,
                                                      const std::stop_token& stop) {
  if (!audit) {
    if (options_.clock.Now() < state_.NextAudit()) return std::nullopt;
    audit.emplace(sink_.Objects(), state_.resource_version());
  }
  CacheDrift drift;
  bool ended = true;
  try {
    const auto compare = [&](const AnyObject& object) { audit->OnListed(object); };
    ended = audit->OnListPage(source_.List(audit->NextListRequest(), compare, stop));
    if (ended) drift = audit->Drift();
  } catch (const std::exception& error) {
    if (stop.stop_requested()) return std::nullopt;
    ReportProblem(std::string("skipped an audit: ") + error.what(), /*minor=*/true);
  }
  state_.OnAuditPage();
  if (ended) audit.reset();
  if (drift.total() == 0) return std::nullopt;
  if (options_.on_drift) options_.on_drift(drift);
  return drift;
}

ReflectorState::NextStep AnyReflector::EndWatch(std::string_view reason,
                                                ReflectorState::NextStep next) {
  sink_.OnWatchEnd(reason);
  return next;
}

void AnyReflector::HandleInitialItem(const WatchItem& item, InitialObjects& objects) {
  if (item.type == WatchItem::Type::kSkipped) ReportProblem(item.problem, /*minor=*/false);
  if (objects.Apply(item)) state_.OnInitialObject();
  if (!item.initial_events_end) return;
  Replace(objects.Take(), objects.SkippedKeys(),
          [&] { state_.OnInitialEventsEnd(item.resource_version); });
}

void AnyReflector::HandleWatchItem(const WatchItem& item) {
  using Type = WatchItem::Type;
  // A skipped event changes neither the resource version nor the idle deadline. If the watch is
  // reopened before the next event, it receives the skipped event again.
  if (item.type == Type::kSkipped) {
    sink_.OnSkippedObject();
    return ReportProblem(item.problem, /*minor=*/false);
  }
  if (item.type == Type::kNoEvent) return;
  if (item.type == Type::kEvent) {
    sink_.ApplyEvent(item);
    state_.OnChange(item.object.key(), item.resource_version,
                    item.event_type == EventType::kDeleted);
  }
  state_.OnEvent(item.resource_version, item.type == Type::kBookmark);
  sink_.OnVersion(state_.resource_version());
}

void AnyReflector::WaitFor(Duration delay, const std::stop_token& stop) {
  const TimePoint end = SaturatingAdd(options_.clock.Now(), delay);
  for (TimePoint now; !stop.stop_requested() && (now = options_.clock.Now()) < end;) {
    SleepUntil(options_.clock, std::min(end, sink_.RunPeriodicWork(now)), stop);
  }
}

void AnyReflector::ReportProblem(const std::string& problem, bool minor) const {
  if (!problem.empty() && options_.on_problem) options_.on_problem(problem, minor);
}

}  // namespace kopp::informer
