#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <random>
#include <string>

#include <kopp/informer/api_error.hpp>
#include <kopp/informer/source.hpp>

namespace kopp::informer {

/// The differences between a cache and the server at the same resource version. A correct watch
/// leads to none.
struct CacheDrift {
  std::size_t ghosts = 0;   ///< cached objects that do not exist
  std::size_t missing = 0;  ///< existing objects that are not cached
  std::size_t stale = 0;    ///< cached objects with another uid or version
  ObjectKey example = {};   ///< one of these objects

  [[nodiscard]] std::size_t total() const { return ghosts + missing + stale; }
};

/// Options of a reflector.
struct ReflectorOptions {
  Clock& clock = Clock::Real();                 ///< must outlive the reflector
  std::uint64_t seed = std::random_device{}();  ///< seed of the jitter of timeouts and back-off
  /// Whether to list with a watch that sends the existing objects first (a streaming list), as
  /// client-go does by default. Needs Kubernetes 1.27 or later; a server that does not support it
  /// is listed as usual.
  bool use_watch_list = false;
  /// Whether the first list has the newest objects. Otherwise it may be answered by an API server
  /// that lags behind, with objects that are older than those before a restart of the program. A
  /// streaming list always starts with the newest objects.
  bool consistent_start = false;
  /// The mean time between audits; 0: never. An audit lists the objects at the version of the cache
  /// in pages, while no event of the watch waits, and compares their uids and versions with the
  /// cache. After a difference, the reflector lists everything again. Needs an API server that
  /// still has the version: without bookmarks, audits of quiet kinds fail with 410 and are skipped.
  ///
  /// An audit lists only metadata. For the server, it costs as much as a list of all objects, which
  /// it reads from etcd because of the exact version.
  Duration audit_interval{};
  /// Called on the thread of AnyReflector::Run after an audit has found differences; `on_problem`
  /// is called too. Must not throw.
  std::function<void(const CacheDrift& drift)> on_drift = {};
  /// Called for each problem with a single-line text for a log. `minor` is true for routine events
  /// that need no attention: the server ended a watch early, a resource version expired, or the
  /// same error status was reported less than a minute ago (404: ten minutes). Called on the thread
  /// of AnyReflector::Run. Must not throw.
  std::function<void(const std::string& problem, bool minor)> on_problem = {};
};

/// The state machine of a reflector: decides which list or watch comes next and how to react to its
/// result. It does no I/O and holds no objects. Not thread-safe.
///
///         ┌─ 410, "too large" ─┐
///         │                    ▼            410 on a later page
///     kListing           kListingPages ───────────────────────────▶ kListingUnpaged
///       ▲   │                  │    ▲                                       │
///       │   └── listed ──▶ kWatching│◀── listed ────────────────────────────┘
///       └── 410, other 4xx ────┘│   │ the newest version is older than the last one
///                               ▼   │ or the last changed object is older or gone
///                         kCheckingVersion ── otherwise ──▶ kWatching
///
/// With ReflectorOptions::use_watch_list, kStreamingList takes the place of kListing:
///
///     kStreamingList ── end of the initial events ──▶ kWatching, on the same stream
///       │ │
///       │ └── 410, "too large" ──▶ kListingPages
///       └── not supported, no end within 30 s of the last object, the second failure ──▶ kListing
///
/// After the last of these, kListing is used for an hour.
///
/// A watch that was silent, sent an older version or failed is followed by kCheckingVersion; after
/// 429 it just resumes. A watch starts at least one second after the one before, whatever the
/// server sends.
///
/// Resource versions go back if etcd is restored from a backup. A watch that resumes from a version
/// that is older than the restore stays silent, or sends versions that are older than the last one.
/// An API server that lags behind looks the same, so kCheckingVersion reads the newest version from
/// etcd (a list with version ""): it is older than the last version only after a restore. By the
/// time of the check, writes may have passed the last version. Therefore the list asks for the
/// object that changed last: its version does not go back either. After a restore, and if that
/// object is gone, the reflector lists everything again. Not noticed: a restore after which the
/// versions have passed the last one, and that object has a newer version or no event was lost.
///
/// A watch that was open and ends, or whose connection is cut, is no failure: it is opened again
/// within a second, after a random delay. It is one if the watch has ended within a second and
/// without an event.
///
/// After a failure it waits: 800 ms, doubled at each failure up to 30 s, plus a random jitter of up
/// to the same length. After a watch that was open for a second or has sent an event, or two
/// minutes without a failure, it starts at 800 ms again. An expired version (410) is followed by a
/// list within 800 ms. If there was a list in the last 30 s, it waits as after failures, with a
/// back-off of its own that events do not end: a program that is too slow for the watch does not
/// list again and again. A Retry-After of the server is respected (see RetryAfterDelay). client-go:
/// the same numbers, from reflector.go; there, a watch does not end the back-off, 410 is a failure
/// like others, and a watch that fails with 5xx lists again; here it resumes from the last version.
class ReflectorState {
 public:
  enum class State {
    kStreamingList,   ///< a watch that sends the existing objects first; not older than the last
                      ///< version ("": the newest)
    kListing,         ///< one response, not older than the last version ("0": any version, "":
                      ///< the newest)
    kListingPages,    ///< the newest state (version ""), in pages of 500
    kListingUnpaged,  ///< the newest state (version ""), in one response
    kWatching,
    kCheckingVersion,  ///< a list of one object, to learn whether etcd was restored
  };

  explicit ReflectorState(const ReflectorOptions& options)
      : clock_(options.clock),
        random_(options.seed),
        use_watch_list_(options.use_watch_list),
        first_version_(options.consistent_start ? "" : "0"),
        audit_interval_(options.audit_interval),
        state_(ListState()) {
    ScheduleAudit();
  }

  [[nodiscard]] State state() const { return state_; }
  /// Returns the version up to which all changes were applied; empty before the first list.
  /// client-go: lastSyncResourceVersion.
  [[nodiscard]] const std::string& resource_version() const { return resource_version_; }

  /// Returns the options of the next list request. Requires: a state other than kWatching and
  /// kStreamingList.
  [[nodiscard]] ListRequest NextListRequest() const;
  /// Call after a list response was applied. Returns whether it was the last page; then the state
  /// is kWatching. Requires: not kCheckingVersion.
  bool OnListPage(const ListResult& page);

  /// Returns the time to wait before StartWatch.
  [[nodiscard]] Duration DelayBeforeWatch() const;
  /// Call before each watch; returns its options. The timeout, after which the server ends the
  /// watch, is random: 240 to 480 s. Requires: kWatching or kStreamingList.
  [[nodiscard]] WatchRequest StartWatch();
  /// Returns whether `resource_version` of an event or bookmark is older than the last version.
  /// Such an event is not applied: it may be about an object that was deleted since.
  [[nodiscard]] bool IsOutdated(const std::string& resource_version) const {
    return IsOlderResourceVersion(resource_version, resource_version_);
  }
  /// Call after an event or a bookmark was applied. `resource_version` may be empty.
  void OnEvent(const std::string& resource_version, bool bookmark);
  /// Call for the change of an object with the newest version so far, in an event or a list.
  /// Without calls, kCheckingVersion only compares the newest versions.
  void OnChange(ObjectKey key, std::string resource_version, bool deleted);
  /// Call in kStreamingList when an existing object has arrived.
  void OnInitialObject() { last_event_ = clock_.Now(); }
  /// Call in kStreamingList after all initial events were applied. The state is kWatching.
  void OnInitialEventsEnd(const std::string& resource_version);
  /// Returns the time at which a watch without events is considered broken. In kStreamingList: 30 s
  /// after the last object. In kWatching: 75 s after the last event if the server has ever sent a
  /// bookmark (about one per minute), otherwise 5 s after the timeout of the watch; but not within
  /// 5 s after a page of an audit, because no event is read while it is listed.
  [[nodiscard]] TimePoint IdleDeadline() const;

  /// Returns the time of the next audit; TimePoint::max() if there is none in this state.
  [[nodiscard]] TimePoint NextAudit() const {
    return state_ == State::kWatching ? next_audit_ : TimePoint::max();
  }
  /// Call after each page of an audit, also after a failed one. The next audit is after 0.5 to 1.5
  /// intervals.
  void OnAuditPage();

  /// The reaction to the end of a list or watch.
  struct NextStep {
    Duration delay{};          ///< the time to wait before the next list or watch
    std::string problem = {};  ///< a description for a log; empty: nothing to report
    bool minor = false;        ///< see ReflectorOptions::on_problem
    bool failed = true;        ///< false if an open watch has ended: nothing failed
  };
  /// Call when the server has ended the watch without an error.
  [[nodiscard]] NextStep OnWatchEnd();
  /// Call when IdleDeadline has passed and the watch was closed. The state is kCheckingVersion or,
  /// after kStreamingList, kListing.
  [[nodiscard]] NextStep OnIdleTimeout();
  /// Call when the watch has sent an outdated version and was closed. The state is
  /// kCheckingVersion.
  [[nodiscard]] NextStep OnOutdatedVersion(const std::string& resource_version);
  /// Call with the list that was requested in kCheckingVersion. `object` is the version of the
  /// object in it; empty if it has none.
  [[nodiscard]] NextStep OnVersionCheck(const ListResult& list, const std::string& object = {});
  /// Returns whether the list that OnListPage has completed may follow a restore of etcd: then the
  /// versions in it cannot be compared with those before.
  [[nodiscard]] bool MayFollowRestore() const { return may_follow_restore_; }
  /// Call when an audit has found `drift` and the watch was closed. The state is kListingPages.
  [[nodiscard]] NextStep OnDrift(const CacheDrift& drift);
  /// Call before OnFailure if a watch that the server had accepted threw.
  void OnWatchCut() { watch_was_cut_ = true; }
  /// Call when a list or a watch threw `failure`.
  [[nodiscard]] NextStep OnFailure(const std::exception_ptr& failure);

 private:
  [[nodiscard]] State ListState() const;
  void ScheduleAudit();
  Duration DelayBeforeRelist();
  NextStep ListAfterRestore(std::string problem, bool minor);
  NextStep StopStreaming(const std::string& problem);
  void CountStreamingFailure();
  NextStep OnApiError(const ApiError& error);
  NextStep OnDecodeError(const DecodeError& error);
  NextStep OnOtherFailure(const std::string& problem);
  NextStep AfterOpenWatch(const std::string& cause);
  bool WasReported(int status);
  Duration NextBackoff();

  Clock& clock_;
  std::mt19937_64 random_;
  bool use_watch_list_;
  std::string first_version_;        // of the first list
  TimePoint no_streaming_before_{};  // set when a streaming list is not possible
  int streaming_failures_ = 0;       // consecutive
  Duration audit_interval_;
  TimePoint next_audit_ = TimePoint::max();
  TimePoint audited_{};  // when the last page of an audit ended
  State state_;
  std::string resource_version_;  // the last applied version; empty before the first list
  std::string continue_token_;    // of the next page; empty for the first page
  struct Change {
    ObjectKey key;
    std::string version;
    bool deleted = false;
  };
  Change last_change_;               // of an object; without a version if there was none
  bool may_follow_restore_ = false;  // of the last or current list
  Duration backoff_{};               // the last back-off, without jitter
  Duration relist_backoff_{};  // of lists after expired versions that follow each other closely
  TimePoint last_failure_{};
  TimePoint listed_{};        // when the last list ended
  int malformed_frames_ = 0;  // consecutive frames that are not valid JSON
  int reported_status_ = 0;   // the last error status that was reported as not minor
  TimePoint reported_at_{};

  bool bookmarks_seen_ = false;
  bool watch_was_cut_ = false;
  bool watch_had_events_ = false;  // the current watch has sent an event or a bookmark
  TimePoint watch_started_{};
  TimePoint last_event_{};
  Duration watch_timeout_{};
};

}  // namespace kopp::informer
