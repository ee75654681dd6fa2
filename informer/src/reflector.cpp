#include <algorithm>
#include <chrono>
#include <memory>
#include <ratio>
#include <utility>

#include <kopp/informer/reflector.hpp>
#include <kopp/workqueue/sleep.hpp>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstPause = 800ms;
constexpr Duration kLongestPause = 30s;
constexpr Duration kQuiet = 2min;  // after it, pauses start again
constexpr Duration kLongestRetryAfter = 60s;
constexpr Duration kShortestWatch = 240s;  // common load balancers drop idle flows after this
constexpr Duration kLongestWatch = 480s;
constexpr Duration kBookmarkedSilence = 75s;  // bookmarks come about once a minute
constexpr Duration kMargin = 5s;
constexpr int kPageSize = 500;
constexpr int kBadFrames = 3;  // as many in a row, and the version they follow is given up

std::string Hint(const ApiError& error) {
  if (error.IsNotFound()) {
    return " (the kind is not served: is its CustomResourceDefinition installed?)";
  }
  if (error.IsForbidden()) return " (grant this account the verbs list and watch on it)";
  return "";
}

/// "; next try in 1.2 s", for a log.
std::string InWords(Duration pause) {
  if (pause <= Duration::zero()) return "";
  const auto tenths = std::chrono::round<std::chrono::duration<int, std::deci>>(pause).count();
  return "; next try in " + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

ListOptions ReflectorState::NextList() const {
  if (!continue_token_.empty()) return {"", kPageSize, continue_token_};
  switch (state_) {
    case State::kPaging:
      return {"", kPageSize, ""};
    case State::kListingAll:
      return {"", 0, ""};
    default:
      return {version_.empty() ? "0" : version_, 0, ""};
  }
}

bool ReflectorState::Listed(const ListResult& result) {
  continue_token_ = result.continue_token;
  if (!continue_token_.empty()) return false;
  version_ = result.resource_version;
  state_ = State::kWatching;
  malformed_ = 0;
  return true;
}

WatchOptions ReflectorState::NextWatch() {
  std::uniform_int_distribution<Duration::rep> timeouts(kShortestWatch.count(),
                                                        kLongestWatch.count());
  watch_timeout_ = Duration(timeouts(random_));
  watch_started_ = heard_ = clock_.Now();
  anything_heard_ = false;
  return {version_, watch_timeout_};
}

void ReflectorState::Heard(const std::string& resource_version, bool bookmark) {
  heard_ = clock_.Now();
  anything_heard_ = true;
  bookmarks_seen_ |= bookmark;
  malformed_ = 0;
  if (!resource_version.empty() && !IsOlderVersion(resource_version, version_)) {
    version_ = resource_version;
  }
}

TimePoint ReflectorState::SilentUntil() const {
  if (bookmarks_seen_) return After(heard_, kBookmarkedSilence);
  return After(watch_started_, watch_timeout_ + kMargin);
}

ReflectorState::Next ReflectorState::Ended() {
  if (anything_heard_ || clock_.Now() - watch_started_ >= 1s) return {};
  return {Pause(), "the server ended a watch within a second, with nothing sent", true};
}

ReflectorState::Next ReflectorState::GivenUp() const {
  const auto silence = std::chrono::duration_cast<std::chrono::seconds>(clock_.Now() - heard_);
  return {{},
          "a watch was silent for " + std::to_string(silence.count()) +
              " s and is given up; it goes on from version " + version_,
          false};
}

ReflectorState::Next ReflectorState::Failed(const std::exception_ptr& failure) {
  Next next;
  try {
    std::rethrow_exception(failure);
  } catch (const ApiError& error) {
    next = FailedOn(error);
  } catch (const DecodeError& error) {
    next = FailedOn(error);
  } catch (const std::exception& error) {
    next = {Pause(), error.what(), false};
  } catch (...) {
    next = {Pause(), "something that is no std::exception was thrown", false};
  }
  continue_token_.clear();  // pages are of use together only
  return next;
}

ReflectorState::Next ReflectorState::FailedOn(const ApiError& error) {
  const std::string problem = error.what() + Hint(error);
  const bool unavailable = error.IsGone() || error.IsTooLargeVersion();
  if (state_ == State::kListing && unavailable) {
    state_ = State::kPaging;
    return {{}, problem, true};
  }
  if (state_ == State::kPaging && error.IsGone() && !continue_token_.empty()) {
    state_ = State::kListingAll;
    return {{}, problem, true};
  }
  if (state_ == State::kWatching) {
    const bool passes = error.IsTooManyRequests() || (error.IsServerFault() && !unavailable);
    if (!passes) state_ = State::kListing;
  }
  const Duration asked = error.retry_after().value_or(Duration::zero());
  return {std::max(Pause(), std::min(asked, kLongestRetryAfter)), problem, unavailable};
}

ReflectorState::Next ReflectorState::FailedOn(const DecodeError& error) {
  if (state_ == State::kWatching && ++malformed_ == kBadFrames) {
    state_ = State::kListing;
    malformed_ = 0;
  }
  const std::string where = version_.empty() ? "" : "after version " + version_ + ": ";
  return {Pause(), where + error.what(), false};
}

Duration ReflectorState::Pause() {
  const TimePoint now = clock_.Now();
  const bool quiet = now - paused_ > kQuiet;
  pause_ = pause_ == Duration::zero() || quiet ? kFirstPause : std::min(pause_ * 2, kLongestPause);
  paused_ = now;
  std::uniform_int_distribution<Duration::rep> jitter(0, pause_.count());
  return pause_ + Duration(jitter(random_));
}

void AnyReflector::Run(const std::stop_token& stop) {
  Duration pause{};
  while (!stop.stop_requested()) {
    ReflectorState::Next next;
    try {
      Rest(std::exchange(pause, {}), stop);
      if (stop.stop_requested()) return;
      if (state_.state() == ReflectorState::State::kWatching) {
        next = Watch(stop);
      } else {
        List(stop);
      }
    } catch (...) {
      if (stop.stop_requested()) return;
      listed_.clear();
      unusable_.clear();
      next = state_.Failed(std::current_exception());
    }
    Report(next.problem + InWords(next.pause), next.minor);
    pause = next.pause;
  }
}

void AnyReflector::List(const std::stop_token& stop) {
  const auto keep = [this](AnyObject object) { listed_.push_back(std::move(object)); };
  const ListResult result = source_.List(state_.NextList(), keep, stop);
  for (const Skipped& skipped : result.skipped) {
    Report(skipped.problem, false);
    unusable_.push_back(skipped.key);
  }
  const bool last = result.continue_token.empty();
  if (last) sink_.Replace(std::exchange(listed_, {}), std::exchange(unusable_, {}));
  state_.Listed(result);  // only now: what is not applied is not had
}

ReflectorState::Next AnyReflector::Watch(const std::stop_token& stop) {
  const std::unique_ptr<WatchStream> stream = source_.Watch(state_.NextWatch(), stop);
  while (!stop.stop_requested()) {
    const TimePoint now = options_.clock.Now();
    if (now >= state_.SilentUntil()) return state_.GivenUp();
    const TimePoint until = std::min(sink_.Tick(now), state_.SilentUntil());
    const WatchItem item = stream->Next(until - now);
    if (item.what == WatchItem::What::kEnd) return state_.Ended();
    Take(item);
  }
  return {};
}

void AnyReflector::Take(const WatchItem& item) {
  using What = WatchItem::What;
  if (item.what == What::kSkipped) return Report(item.problem, false);
  if (item.what == What::kSilent) return;
  if (item.what == What::kEvent) sink_.Apply(item.type, item.object);
  state_.Heard(item.resource_version, item.what == What::kBookmark);
}

void AnyReflector::Rest(Duration pause, const std::stop_token& stop) {
  const TimePoint end = After(options_.clock.Now(), pause);
  for (TimePoint now; !stop.stop_requested() && (now = options_.clock.Now()) < end;) {
    SleepUntil(options_.clock, std::min(end, sink_.Tick(now)), stop);
  }
}

void AnyReflector::Report(const std::string& problem, bool minor) const {
  if (!problem.empty() && options_.on_problem) options_.on_problem(problem, minor);
}

}  // namespace kopp::informer
