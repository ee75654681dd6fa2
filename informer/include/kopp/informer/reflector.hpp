#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kopp/informer/api_error.hpp>
#include <kopp/informer/source.hpp>

namespace kopp::informer {

struct ReflectorOptions {
  Clock& clock = Clock::Real();
  std::uint64_t seed = std::random_device{}();  ///< of the jitter
  /// Gets each problem as a line for a log, and whether it is of no weight (the server ended a
  /// watch, a version expired). Called on the reflector's thread.
  std::function<void(const std::string& problem, bool minor)> on_problem = {};
};

/// What to do next, and what to make of the answer: the reflector without its objects.
///
///         ┌───── 410, "too large" ─────┐
///         │                            ▼         410 on a later page
///     kListing ("0", then the last)  kPaging ("", pages of 500) ─────▶ kListingAll ("")
///       ▲   │                          │                                   │
///       │   └────── listed ──────▶ kWatching ◀──────────── listed ─────────┘
///       └───── 410, other 4xx ─────────┘  (else: again from the last version)
///
/// Each failure is followed by a pause: 800 ms, doubled up to 30 s, plus as much again by chance;
/// after two minutes without one it starts again. A Retry-After of up to a minute is kept to.
/// client-go: the same numbers, from reflector.go; there a watch that fails with 5xx lists again,
/// here it resumes where it was.
class ReflectorState {
 public:
  enum class State { kListing, kPaging, kListingAll, kWatching };

  explicit ReflectorState(const ReflectorOptions& options)
      : clock_(options.clock), random_(options.seed) {}

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const std::string& resource_version() const { return version_; }

  [[nodiscard]] ListOptions NextList() const;
  /// A page has come. Returns whether it was the last one.
  bool Listed(const ListResult& result);

  /// The next watch, which starts now. The server is to end it after 240 to 480 s, by chance.
  [[nodiscard]] WatchOptions NextWatch();
  /// An event or a bookmark has come, and was applied.
  void Heard(const std::string& resource_version, bool bookmark);
  /// When to give up a watch that says nothing: 75 s after it last spoke once this server was seen
  /// to send bookmarks (about one a minute), else 5 s after the watch's own timeout.
  [[nodiscard]] TimePoint SilentUntil() const;

  struct Next {
    Duration pause{};          ///< before the next step
    std::string problem = {};  ///< what happened, for a log
    bool minor = false;        ///< it is of no weight
  };
  /// The server ended the watch in order.
  [[nodiscard]] Next Ended();
  /// The watch was silent for too long and was given up.
  [[nodiscard]] Next GivenUp() const;
  /// A step threw `failure`.
  [[nodiscard]] Next Failed(const std::exception_ptr& failure);

 private:
  Next FailedOn(const ApiError& error);
  Next FailedOn(const DecodeError& error);
  Duration Pause();

  Clock& clock_;
  std::mt19937_64 random_;
  State state_ = State::kListing;
  std::string version_;         // the last one applied; empty before the first list
  std::string continue_token_;  // of the next page; empty before the first
  Duration pause_{};            // the last one, without its jitter
  TimePoint paused_{};
  int malformed_ = 0;  // bad frames in a row, with nothing good between

  bool bookmarks_seen_ = false;
  bool anything_heard_ = false;  // over this watch
  TimePoint watch_started_{};
  TimePoint heard_{};
  Duration watch_timeout_{};
};

/// Keeps a sink as the source's objects are, and never returns before it is told to stop: lists,
/// watches, resumes, lists again.
class AnyReflector {
 public:
  /// Called on the thread of Run. Its throws are the reflector's failures.
  class Sink {
   public:
    virtual ~Sink() = default;
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;

    /// The objects are exactly these, and those with the keys `unusable`, whose state is not known.
    virtual void Replace(std::vector<AnyObject> objects,
                         const std::vector<ObjectKey>& unusable) = 0;
    /// One object changed.
    virtual void Apply(EventType type, AnyObject object) = 0;
    /// Called whenever the reflector is about to wait; returns when it wants to be called again.
    virtual TimePoint Tick(TimePoint now) = 0;

   protected:
    Sink() = default;
  };

  /// `source` and `sink` outlive the reflector.
  AnyReflector(AnySource& source, Sink& sink, ReflectorOptions options)
      : source_(source), sink_(sink), options_(std::move(options)), state_(options_) {}

  /// Blocks until `stop` asks. Called once.
  void Run(const std::stop_token& stop);

 private:
  void List(const std::stop_token& stop);
  ReflectorState::Next Watch(const std::stop_token& stop);
  void Take(const WatchItem& item);
  void Rest(Duration pause, const std::stop_token& stop);
  void Report(const std::string& problem, bool minor) const;

  AnySource& source_;
  Sink& sink_;
  ReflectorOptions options_;
  ReflectorState state_;
  std::vector<AnyObject> listed_;    // the pages so far
  std::vector<ObjectKey> unusable_;  // what they held beside
};

/// An AnyReflector of objects of the view `T`. client-go: Reflector.
template <Object T>
class Reflector final : public AnyReflector {
 public:
  Reflector(Source<T>& source, Sink& sink, ReflectorOptions options = {})
      : AnyReflector(source, sink, std::move(options)) {}
};

}  // namespace kopp::informer
