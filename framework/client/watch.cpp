#include <algorithm>
#include <exception>
#include <memory>
#include <stdexcept>

#include <kopp/informer/detail/reflector_state.hpp>
#include <kopp/watch.hpp>

namespace kopp {

using informer::ReflectorState;
using informer::WatchItem;

/// Opens and reads the watch. ReflectorState decides when to open it again, and when to check
/// whether the server has gone back to an older version. When a reflector would list again, the
/// watch cannot continue.
class AnyWatcher::Impl {
 public:
  Impl(Transport& transport, const Kind& kind, AnyHttpSource::Decoder decode, Selector selector,
       const WatchOptions& options, std::stop_token stop)
      : source_(transport, kind, std::move(decode), std::move(selector), options.clock),
        clock_(options.clock),
        state_({.clock = options.clock, .seed = options.seed}),
        stop_(std::move(stop)),
        next_start_(clock_.Now()) {
    if (options.resource_version.empty() || options.resource_version == "0") {
      throw std::invalid_argument(
          "a watch needs the resourceVersion of a list: set WatchOptions::resource_version");
    }
    state_.OnListPage({.resource_version = options.resource_version});
  }

  WatchItem Next(Duration timeout) {
    const TimePoint deadline = SaturatingAdd(clock_.Now(), timeout);
    for (;;) {
      WatchItem item = NextOrProblem(deadline);
      if (item.type != WatchItem::Type::kNoEvent) return item;
      if (clock_.Now() >= deadline) return item;
    }
  }
  [[nodiscard]] const std::string& resource_version() const { return state_.resource_version(); }

 private:
  /// Returns kNoEvent at the latest at `deadline`, and kSkipped for a failure after which the watch
  /// continues. Throws for all others.
  WatchItem NextOrProblem(TimePoint deadline) {
    try {
      if (!stream_ && !Open(deadline)) return {.type = WatchItem::Type::kNoEvent};
      return ReadItem(deadline);
    } catch (...) {
      const auto next = state_.OnFailure(std::current_exception());
      if (stop_.stop_requested() || !CanContinue()) throw;
      return Restart(next);
    }
  }

  [[nodiscard]] bool CanContinue() const {
    const ReflectorState::State state = state_.state();
    return state == ReflectorState::State::kWatching ||
           state == ReflectorState::State::kCheckingVersion;
  }

  /// Waits until a request is allowed, and sends it. Returns false at `deadline`.
  bool Open(TimePoint deadline) {
    if (!SleepUntil(clock_, std::min(next_start_, deadline), stop_)) {
      throw TransportError(TransportError::Kind::kCancelled,
                           "the watch was cancelled because a stop was requested");
    }
    if (clock_.Now() < next_start_) return false;
    if (state_.state() == ReflectorState::State::kCheckingVersion) CheckVersion();
    stream_ = source_.Watch(state_.StartWatch(), stop_);
    return true;
  }

  /// Throws ApiError with IsGone() if the server has gone back to an older version.
  void CheckVersion() {
    const auto ignore = [](const informer::AnyObject&) {};
    const auto page = source_.List(state_.NextListRequest(), ignore, stop_);
    static_cast<void>(state_.OnVersionCheck(page));
    if (CanContinue()) return;
    throw ApiError("WATCH", {.message = "the newest resource version is " + page.resource_version +
                                        ", older than that of the watch: etcd was probably "
                                        "restored from a backup; list again",
                             .reason = "Expired",
                             .code = 410});
  }

  /// Reads before it checks the idle deadline: events wait in the stream if the caller is slow.
  WatchItem ReadItem(TimePoint deadline) {
    const Duration limit = std::min(deadline, state_.IdleDeadline()) - clock_.Now();
    WatchItem item;
    try {
      item = stream_->Next(std::max(limit, Duration::zero()));
    } catch (...) {
      state_.OnWatchCut();
      throw;
    }
    if (state_.IsOutdated(item.resource_version)) {
      return Restart(state_.OnOutdatedVersion(item.resource_version));
    }
    switch (item.type) {
      case WatchItem::Type::kEvent:
      case WatchItem::Type::kBookmark:
        state_.OnEvent(item.resource_version, item.type == WatchItem::Type::kBookmark);
        return item;
      case WatchItem::Type::kSkipped:
        return item;
      case WatchItem::Type::kEnd:
        return Restart(state_.OnWatchEnd());
      case WatchItem::Type::kNoEvent:
        break;
    }
    return clock_.Now() < state_.IdleDeadline() ? item : Restart(state_.OnIdleTimeout());
  }

  WatchItem Restart(const ReflectorState::NextStep& step) {
    stream_.reset();
    next_start_ = SaturatingAdd(clock_.Now(), std::max(step.delay, state_.DelayBeforeWatch()));
    if (step.problem.empty() || step.minor) return {.type = WatchItem::Type::kNoEvent};
    return {.type = WatchItem::Type::kSkipped, .problem = step.problem};
  }

  AnyHttpSource source_;
  Clock& clock_;
  ReflectorState state_;
  std::stop_token stop_;
  TimePoint next_start_;                           // no request is sent before this time
  std::unique_ptr<informer::WatchStream> stream_;  // null between two requests
};

AnyWatcher::AnyWatcher(Transport& transport, const Kind& kind, AnyHttpSource::Decoder decode,
                       Selector selector, const WatchOptions& options, std::stop_token stop)
    : impl_(std::make_unique<Impl>(transport, kind, std::move(decode), std::move(selector), options,
                                   std::move(stop))) {}
AnyWatcher::~AnyWatcher() = default;
AnyWatcher::AnyWatcher(AnyWatcher&&) noexcept = default;
AnyWatcher& AnyWatcher::operator=(AnyWatcher&&) noexcept = default;

WatchItem AnyWatcher::Next(Duration timeout) { return impl_->Next(timeout); }
const std::string& AnyWatcher::resource_version() const { return impl_->resource_version(); }

}  // namespace kopp
