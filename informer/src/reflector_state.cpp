#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include <kopp/informer/detail/reflector_state.hpp>
#include <kopp/informer/detail/retry_after.hpp>
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
// A watch that ends at once is reported from its third time on, when the back-off has this value.
constexpr Duration kRepeatedBackoff = 4 * kInitialBackoff;
// The status of a watch that ends at once, for ReflectorState::WasReported.
constexpr int kShortWatch = 200;
// The timeout of each watch is a random time between these bounds, so that watches do not all end
// at the same time. Common load balancers drop idle connections after 240 s. client-go: 5 to 10
// minutes.
constexpr Duration kMinWatchTimeout = 240s;
constexpr Duration kMaxWatchTimeout = 480s;
// The server sends a bookmark about once a minute.
constexpr Duration kIdleTimeoutWithBookmarks = 75s;
constexpr Duration kIdleTimeoutMargin = 5s;
constexpr Duration kMinWatchInterval = 1s;
// A watch that was open is opened again after a random part of this time: all watches of a server
// end together.
constexpr Duration kMaxReopenDelay = 1s;
// A streaming list whose end does not come is given up after this time without a new object, or
// after this number of consecutive failures. Then lists are used for kNoStreamingInterval.
constexpr Duration kStreamingIdleTimeout = 30s;
constexpr int kMaxStreamingFailures = 2;
constexpr Duration kNoStreamingInterval = 1h;
constexpr int kPageSize = 500;
// After this number of consecutive malformed frames, the reflector lists again.
constexpr int kMaxMalformedFrames = 3;

/// Returns the back-off that follows `backoff`; zero means that there was none before.
Duration NextBackoffAfter(Duration backoff) {
  return std::clamp<Duration>(2 * backoff, kInitialBackoff, kMaxBackoff);
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

ListRequest ReflectorState::NextListRequest() const {
  if (!continue_token_.empty()) return {"", kPageSize, continue_token_};
  switch (state_) {
    case State::kListingPages:
      return {"", kPageSize, ""};
    case State::kListingUnpaged:
      return {"", 0, ""};
    case State::kCheckingVersion:
      return {.limit = 1, .object = last_change_.key, .metadata_only = true};
    default:
      return {resource_version_.empty() ? first_version_ : resource_version_, 0, ""};
  }
}

bool ReflectorState::OnListPage(const ListResult& page) {
  continue_token_ = page.continue_token;
  if (!continue_token_.empty()) return false;
  resource_version_ = page.resource_version;
  state_ = State::kWatching;
  last_change_ = {};
  malformed_frames_ = 0;
  listed_ = clock_.Now();
  return true;
}

Duration ReflectorState::DelayBeforeWatch() const {
  if (watch_timeout_ == Duration::zero()) return {};  // there was no watch before
  return std::max(Duration::zero(), watch_started_ + kMinWatchInterval - clock_.Now());
}

WatchRequest ReflectorState::StartWatch() {
  may_follow_restore_ = false;
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

void ReflectorState::OnChange(ObjectKey key, std::string resource_version, bool deleted) {
  last_change_ = {std::move(key), std::move(resource_version), deleted};
}

void ReflectorState::OnInitialEventsEnd(const std::string& resource_version) {
  OnEvent("", /*bookmark=*/true);
  last_change_ = {};
  resource_version_ = resource_version;
  state_ = State::kWatching;
  streaming_failures_ = 0;
  listed_ = clock_.Now();
}

TimePoint ReflectorState::IdleDeadline() const {
  if (state_ == State::kStreamingList) return SaturatingAdd(last_event_, kStreamingIdleTimeout);
  const TimePoint deadline =
      bookmarks_seen_ ? SaturatingAdd(last_event_, kIdleTimeoutWithBookmarks)
                      : SaturatingAdd(watch_started_, watch_timeout_ + kIdleTimeoutMargin);
  return std::max(deadline, SaturatingAdd(audited_, kIdleTimeoutMargin));
}

ReflectorState::NextStep ReflectorState::OnWatchEnd() {
  if (state_ == State::kStreamingList) {
    return StopStreaming("the watch ended before the end of the initial events");
  }
  if (!watch_had_events_) state_ = State::kCheckingVersion;
  return AfterOpenWatch("");
}

// Returns the step after a watch that was open has ended, or its connection was cut. That is no
// failure: a server that shuts down, and each load balancer that drops quiet connections, does so.
// It is one if the watch has ended at once.
ReflectorState::NextStep ReflectorState::AfterOpenWatch(const std::string& cause) {
  if (watch_had_events_ || clock_.Now() - watch_started_ >= kMinWatchInterval) {
    backoff_ = {};
    std::uniform_int_distribution<Duration::rep> jitter(0, Duration(kMaxReopenDelay).count());
    return {Duration(jitter(random_)), cause, /*minor=*/true, /*failed=*/false};
  }
  const Duration delay = NextBackoff();
  const bool repeated = backoff_ >= kRepeatedBackoff;
  return {delay,
          "the watch ended within 1 s without an event" +
              (cause.empty() ? cause : " (" + cause + ")") +
              (repeated ? ", again; check " : "; if this repeats, check ") +
              "the proxy or load balancer in front of the API server",
          /*minor=*/!repeated || WasReported(kShortWatch)};
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

ReflectorState::NextStep ReflectorState::OnVersionCheck(const ListResult& list,
                                                        const std::string& object) {
  constexpr auto kRestored = ": etcd was probably restored from a backup; listing again";
  if (IsOutdated(list.resource_version)) {
    return ListAfterRestore("the newest resource version is " + list.resource_version +
                                ", older than " + resource_version_ + kRestored,
                            /*minor=*/false);
  }
  if (!object.empty() && IsOlderResourceVersion(object, last_change_.version)) {
    return ListAfterRestore("the resource version of " + last_change_.key.ToString() +
                                " went back from " + last_change_.version + " to " + object +
                                kRestored,
                            /*minor=*/false);
  }
  const bool was_there = !last_change_.version.empty() && !last_change_.deleted;
  if (was_there && object.empty() && list.skipped.empty()) {
    return ListAfterRestore(last_change_.key.ToString() +
                                ", which changed last, is gone: it was deleted, or etcd was "
                                "restored from a backup; listing again",
                            /*minor=*/true);
  }
  state_ = State::kWatching;
  return {};
}

ReflectorState::NextStep ReflectorState::ListAfterRestore(std::string problem, bool minor) {
  state_ = State::kListingPages;
  may_follow_restore_ = true;
  return {{}, std::move(problem), minor};
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
  next_audit_ =
      SaturatingAdd(SaturatingAdd(clock_.Now(), audit_interval_ / 2), Duration(jitter(random_)));
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
  watch_was_cut_ = false;
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
    (void)ListAfterRestore({}, /*minor=*/true);
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
  if (state_ == State::kWatching) {
    state_ = State::kCheckingVersion;
    if (watch_was_cut_) return AfterOpenWatch(problem);
  }
  CountStreamingFailure();
  return {NextBackoff(), problem, /*minor=*/false};
}

void ReflectorState::CountStreamingFailure() {
  if (state_ != State::kStreamingList || ++streaming_failures_ < kMaxStreamingFailures) return;
  state_ = State::kListing;
  no_streaming_before_ = SaturatingAdd(clock_.Now(), kNoStreamingInterval);
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

}  // namespace kopp::informer
