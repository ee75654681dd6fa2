#include "cache_audit.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <ratio>
#include <set>
#include <string_view>
#include <utility>

#include <kopp/informer/reflector.hpp>
#include <kopp/informer/retry_after.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;

constexpr Duration kInitialBackoff = 800ms;
constexpr Duration kMaxBackoff = 30s;
// After an event of a watch, or after this time without a failure, the back-off starts at
// kInitialBackoff again.
constexpr Duration kBackoffReset = 2min;
// A failed request is reported again after this time if it fails with the same status.
constexpr Duration kReportInterval = 1min;
// The same for 404: the kind was removed, and nothing changes until it is installed again.
constexpr Duration kMissingReportInterval = 10min;
// The timeout of each watch is a random time between these bounds, so that watches do not all end
// at the same time. Common load balancers drop idle connections after 240 s. client-go: 5 to 10
// minutes.
constexpr Duration kMinWatchTimeout = 240s;
constexpr Duration kMaxWatchTimeout = 480s;
// The server sends a bookmark about once a minute.
constexpr Duration kIdleTimeoutWithBookmarks = 75s;
constexpr Duration kIdleTimeoutMargin = 5s;
constexpr Duration kMinWatchInterval = 1s;
// A streaming list whose end does not come is given up after this time without a new object, or
// after this number of consecutive failures. Then lists are used for kNoStreamingInterval.
constexpr Duration kStreamingIdleTimeout = 30s;
constexpr int kMaxStreamingFailures = 2;
constexpr Duration kNoStreamingInterval = 1h;
constexpr int kPageSize = 500;
// After this number of consecutive malformed frames, the reflector lists again.
constexpr int kMaxMalformedFrames = 3;

/// Returns "; retrying in 1.2 s", or "" if there is no delay.
std::string RetrySuffix(Duration delay) {
  if (delay <= Duration::zero()) return "";
  const auto tenths = std::chrono::round<std::chrono::duration<int, std::deci>>(delay).count();
  return "; retrying in " + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

/// Returns the back-off that follows `backoff`; zero means that there was none before.
Duration NextBackoffAfter(Duration backoff) {
  return std::clamp<Duration>(2 * backoff, kInitialBackoff, kMaxBackoff);
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

/// Returns whether the server rejects the options of a streaming list. A server whose etcd lacks
/// RequestWatchProgress (before 3.4.31 and 3.5.13) sends 500.
bool RejectsStreaming(const ApiError& error) {
  switch (error.code()) {
    case 400:
    case 405:
    case 415:
    case 422:
    case 501:
      return true;
    default:
      return std::string_view(error.what()).find("RequestWatchProgress") != std::string_view::npos;
  }
}

}  // namespace

ReflectorState::State ReflectorState::ListState() const {
  const bool streaming = use_watch_list_ && clock_.Now() >= no_streaming_before_;
  return streaming ? State::kStreamingList : State::kListing;
}

ListOptions ReflectorState::NextListOptions() const {
  if (!continue_token_.empty()) return {"", kPageSize, continue_token_};
  switch (state_) {
    case State::kListingPages:
      return {"", kPageSize, ""};
    case State::kListingUnpaged:
      return {"", 0, ""};
    case State::kCheckingVersion:
      return {"", 1, ""};
    default:
      return {resource_version_.empty() ? first_version_ : resource_version_, 0, ""};
  }
}

bool ReflectorState::OnListPage(const ListResult& page) {
  continue_token_ = page.continue_token;
  if (!continue_token_.empty()) return false;
  resource_version_ = page.resource_version;
  state_ = State::kWatching;
  malformed_frames_ = 0;
  listed_ = clock_.Now();
  return true;
}

Duration ReflectorState::DelayBeforeWatch() const {
  if (watch_timeout_ == Duration::zero()) return {};  // there was no watch before
  return std::max(Duration::zero(), watch_started_ + kMinWatchInterval - clock_.Now());
}

WatchOptions ReflectorState::StartWatch() {
  std::uniform_int_distribution<Duration::rep> timeout(kMinWatchTimeout.count(),
                                                       kMaxWatchTimeout.count());
  watch_timeout_ = Duration(timeout(random_));
  watch_started_ = last_event_ = clock_.Now();
  watch_had_events_ = false;
  return {resource_version_, watch_timeout_, state_ == State::kStreamingList};
}

void ReflectorState::OnEvent(const std::string& resource_version, bool bookmark) {
  last_event_ = clock_.Now();
  watch_had_events_ = true;
  bookmarks_seen_ |= bookmark;
  malformed_frames_ = 0;
  backoff_ = {};
  if (!resource_version.empty() && !IsOutdated(resource_version)) {
    resource_version_ = resource_version;
  }
}

void ReflectorState::OnInitialEventsEnd(const std::string& resource_version) {
  OnEvent("", /*bookmark=*/true);
  resource_version_ = resource_version;
  state_ = State::kWatching;
  streaming_failures_ = 0;
  listed_ = clock_.Now();
}

TimePoint ReflectorState::IdleDeadline() const {
  if (state_ == State::kStreamingList) return After(last_event_, kStreamingIdleTimeout);
  const TimePoint deadline = bookmarks_seen_
                                 ? After(last_event_, kIdleTimeoutWithBookmarks)
                                 : After(watch_started_, watch_timeout_ + kIdleTimeoutMargin);
  return std::max(deadline, After(audited_, kIdleTimeoutMargin));
}

ReflectorState::NextStep ReflectorState::OnWatchEnd() {
  if (state_ == State::kStreamingList) {
    return StopStreaming("the watch ended before the end of the initial events");
  }
  if (watch_had_events_) return {};
  state_ = State::kCheckingVersion;
  if (clock_.Now() - watch_started_ >= kMinWatchInterval) return {};
  return {
      NextBackoff(),
      "the server ended the watch within 1 s without an event; if this repeats, check the proxy "
      "or load balancer in front of the API server",
      /*minor=*/true};
}

ReflectorState::NextStep ReflectorState::OnIdleTimeout() {
  if (state_ == State::kStreamingList) {
    return StopStreaming("the watch sent neither an object nor the end of the initial events for " +
                         std::to_string(kStreamingIdleTimeout / 1s) + " s");
  }
  state_ = State::kCheckingVersion;
  const auto idle = std::chrono::duration_cast<std::chrono::seconds>(clock_.Now() - last_event_);
  return {{},
          "no event or bookmark for " + std::to_string(idle.count()) +
              " s; reopening the watch from resource version " + resource_version_,
          /*minor=*/false};
}

ReflectorState::NextStep ReflectorState::OnOutdatedVersion(const std::string& resource_version) {
  state_ = State::kCheckingVersion;
  return {{},
          "the watch sent resource version " + resource_version + " after " + resource_version_ +
              "; checking the newest version",
          /*minor=*/true};
}

ReflectorState::NextStep ReflectorState::OnNewestVersion(const std::string& resource_version) {
  if (!IsOutdated(resource_version)) {
    state_ = State::kWatching;
    return {};
  }
  state_ = State::kListingPages;
  return {{},
          "the newest resource version is " + resource_version + ", older than " +
              resource_version_ + ": etcd was probably restored from a backup; listing again",
          /*minor=*/false};
}

ReflectorState::NextStep ReflectorState::OnDrift(const CacheDrift& drift) {
  state_ = State::kListingPages;
  return {{},
          "an audit found that the cache differs from the server at resource version " +
              resource_version_ + ": ghosts " + std::to_string(drift.ghosts) + ", missing " +
              std::to_string(drift.missing) + ", stale " + std::to_string(drift.stale) +
              ", for example " + drift.example.ToString() + "; listing again",
          /*minor=*/false};
}

void ReflectorState::OnAuditPage() {
  audited_ = clock_.Now();
  ScheduleAudit();
}

void ReflectorState::ScheduleAudit() {
  if (audit_interval_ <= Duration::zero()) return;
  std::uniform_int_distribution<Duration::rep> jitter(0, audit_interval_.count());
  next_audit_ = After(After(clock_.Now(), audit_interval_ / 2), Duration(jitter(random_)));
}

ReflectorState::NextStep ReflectorState::OnFailure(const std::exception_ptr& failure) {
  NextStep next;
  try {
    std::rethrow_exception(failure);
  } catch (const ApiError& error) {
    next = OnApiError(error);
  } catch (const DecodeError& error) {
    next = OnDecodeError(error);
  } catch (const std::exception& error) {
    next = OnOtherFailure(error.what());
  } catch (...) {
    next = OnOtherFailure("the list or watch threw an exception that is not a std::exception");
  }
  continue_token_.clear();  // a failed list starts again at the first page
  return next;
}

ReflectorState::NextStep ReflectorState::OnApiError(const ApiError& error) {
  const std::string problem = error.what();
  if (state_ == State::kStreamingList && RejectsStreaming(error)) return StopStreaming(problem);
  const bool version_unavailable = error.IsGone() || error.IsTooLargeVersion();
  if ((state_ == State::kListing || state_ == State::kStreamingList) && version_unavailable) {
    state_ = State::kListingPages;
    return {{}, problem, /*minor=*/true};
  }
  if (state_ == State::kListingPages && error.IsGone() && !continue_token_.empty()) {
    state_ = State::kListingUnpaged;
    return {{}, problem, /*minor=*/true};
  }
  const bool temporary = error.IsServerFault() && !version_unavailable;
  if (state_ == State::kWatching && error.IsGone()) {
    state_ = ListState();
    return {DelayBeforeRelist(), problem, /*minor=*/true};
  }
  if (state_ == State::kWatching && !error.IsTooManyRequests()) {
    state_ = temporary ? State::kCheckingVersion : ListState();
  } else if (state_ == State::kCheckingVersion && error.IsNotFound()) {
    state_ = ListState();
  } else if (!error.IsTooManyRequests() && !error.IsNotFound()) {
    CountStreamingFailure();
  }
  const auto jitter = std::generate_canonical<double, 32>(random_);
  return {std::max(NextBackoff(), RetryAfterDelay(error.retry_after(), jitter)), problem,
          version_unavailable || WasReported(error.code())};
}

// Returns whether this status was reported a short time ago; otherwise the caller reports it.
bool ReflectorState::WasReported(int status) {
  const TimePoint now = clock_.Now();
  const Duration interval = status == 404 ? kMissingReportInterval : kReportInterval;
  if (status == reported_status_ && now - reported_at_ < interval) return true;
  reported_status_ = status;
  reported_at_ = now;
  return false;
}

ReflectorState::NextStep ReflectorState::OnDecodeError(const DecodeError& error) {
  const std::string context =
      state_ == State::kWatching
          ? "cannot decode a watch event after resource version " + resource_version_
          : "cannot decode the list";
  if (state_ == State::kWatching && ++malformed_frames_ == kMaxMalformedFrames) {
    state_ = ListState();
    malformed_frames_ = 0;
  }
  CountStreamingFailure();
  return {NextBackoff(), context + ": " + error.what(), /*minor=*/false};
}

ReflectorState::NextStep ReflectorState::OnOtherFailure(const std::string& problem) {
  if (state_ == State::kWatching) state_ = State::kCheckingVersion;
  CountStreamingFailure();
  return {NextBackoff(), problem, /*minor=*/false};
}

void ReflectorState::CountStreamingFailure() {
  if (state_ != State::kStreamingList || ++streaming_failures_ < kMaxStreamingFailures) return;
  state_ = State::kListing;
  no_streaming_before_ = After(clock_.Now(), kNoStreamingInterval);
  streaming_failures_ = 0;
}

ReflectorState::NextStep ReflectorState::StopStreaming(const std::string& problem) {
  streaming_failures_ = kMaxStreamingFailures;
  CountStreamingFailure();
  return {{}, "cannot list with a watch; listing without: " + problem, /*minor=*/true};
}

// Returns the delay after an expired version. That is no sign of an overloaded server, so the delay
// is short unless the last list was recent.
Duration ReflectorState::DelayBeforeRelist() {
  const bool listed_recently = clock_.Now() - listed_ < kMaxBackoff;
  relist_backoff_ = listed_recently ? NextBackoffAfter(relist_backoff_) : Duration::zero();
  std::uniform_int_distribution<Duration::rep> jitter(
      0, std::max<Duration>(relist_backoff_, kInitialBackoff).count());
  return relist_backoff_ + Duration(jitter(random_));
}

Duration ReflectorState::NextBackoff() {
  const TimePoint now = clock_.Now();
  if (now - last_failure_ > kBackoffReset) backoff_ = {};
  backoff_ = NextBackoffAfter(backoff_);
  last_failure_ = now;
  std::uniform_int_distribution<Duration::rep> jitter(0, backoff_.count());
  return backoff_ + Duration(jitter(random_));
}

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

  /// Moves the objects to `sink`.
  void MoveTo(Sink& sink) {
    std::vector<AnyObject> objects;
    objects.reserve(objects_.size());
    for (auto& [key, object] : std::exchange(objects_, {})) objects.push_back(std::move(object));
    sink.Replace(std::move(objects), {skipped_keys_.begin(), skipped_keys_.end()});
  }

 private:
  std::map<ObjectKey, AnyObject> objects_;
  std::set<ObjectKey> skipped_keys_;
};

void AnyReflector::Sink::OnVersion(const std::string&) {}
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
      sink_.OnFailure(failure, next.delay);
    }
    ReportProblem(next.problem + RetrySuffix(next.delay), next.minor);
    delay = next.delay;
  }
}

void AnyReflector::List(const std::stop_token& stop) {
  const auto on_object = [this](AnyObject object) { listed_objects_.push_back(std::move(object)); };
  const ListResult result = source_.List(state_.NextListOptions(), on_object, stop);
  for (const SkippedObject& skipped : result.skipped) {
    ReportProblem(skipped.problem, /*minor=*/false);
    skipped_keys_.push_back(skipped.key);
  }
  const bool last_page = result.continue_token.empty();
  if (last_page) {
    sink_.Replace(std::exchange(listed_objects_, {}), std::exchange(skipped_keys_, {}));
  }
  state_.OnListPage(result);  // after Replace: if it throws, the list is repeated
  if (last_page) sink_.OnVersion(state_.resource_version());
}

ReflectorState::NextStep AnyReflector::CheckVersion(const std::stop_token& stop) {
  const auto ignore = [](const AnyObject&) {};
  auto next =
      state_.OnNewestVersion(source_.List(state_.NextListOptions(), ignore, stop).resource_version);
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
    const WatchItem item = stream->Next(deadline - now);
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
    ended = audit->OnListPage(source_.List(audit->NextListOptions(), compare, stop));
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
  objects.MoveTo(sink_);
  state_.OnInitialEventsEnd(item.resource_version);
  sink_.OnVersion(state_.resource_version());
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
  if (item.type == Type::kEvent) sink_.ApplyEvent(item);
  state_.OnEvent(item.resource_version, item.type == Type::kBookmark);
  sink_.OnVersion(state_.resource_version());
}

void AnyReflector::WaitFor(Duration delay, const std::stop_token& stop) {
  const TimePoint end = After(options_.clock.Now(), delay);
  for (TimePoint now; !stop.stop_requested() && (now = options_.clock.Now()) < end;) {
    SleepUntil(options_.clock, std::min(end, sink_.RunPeriodicWork(now)), stop);
  }
}

void AnyReflector::ReportProblem(const std::string& problem, bool minor) const {
  if (!problem.empty() && options_.on_problem) options_.on_problem(problem, minor);
}

}  // namespace kopp::informer
