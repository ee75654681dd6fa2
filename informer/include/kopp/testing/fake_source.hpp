#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kopp/informer/source.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::testing {

/// What was asked of a FakeSource.
struct SourceRequest {
  enum class Verb { kList, kWatch };
  Verb verb = Verb::kList;
  std::string resource_version = {};
  int limit = 0;
  std::string continue_token = {};
  friend bool operator==(const SourceRequest&, const SourceRequest&) = default;
};

/// A source whose objects a test changes, and which misbehaves when told to. Every change makes a
/// new version, from 1 on. Safe to use from any thread.
template <Object T>
class FakeSource final : public informer::Source<T> {
 public:
  explicit FakeSource(Clock& clock) : clock_(clock) {}

  /// Adds or replaces the object with its key, as it is but for the version, and sends the event.
  void Set(T object) { Change(std::move(object), false); }
  void Delete(T object) { Change(std::move(object), true); }

  /// An event that no change stands behind, such as one of a server that lags.
  void SendAsItIs(informer::EventType type, T object) {
    const auto shared = std::make_shared<const T>(std::move(object));
    Send({.what = Item::What::kEvent,
          .type = type,
          .object = shared,
          .resource_version = shared->metadata.resourceVersion});
  }
  void SendBookmark() { Send({.what = Item::What::kBookmark, .resource_version = Version()}); }
  /// An event that cannot be used.
  void SendMisfit(const std::string& why) { Send({.what = Item::What::kSkipped, .problem = why}); }
  /// The next change happens, and its event is lost.
  void LoseNextEvent() { state_.Lock()->lose_next = true; }
  /// The watch under way ends: in order, or by a throw.
  void EndWatch() { Send({.what = Item::What::kEnd}); }
  template <typename Error>
  void BreakWatch(Error error) {
    state_.Lock()->broken = [error = std::move(error)] { throw error; };
    changed_.notify_all();
  }
  /// The next requests fail with these, in order; LetNextPass lets one through.
  template <typename Error>
  void FailNext(Error error) {
    state_.Lock()->failures.push_back([error = std::move(error)] { throw error; });
  }
  void LetNextPass() {
    state_.Lock()->failures.push_back([] {});
  }
  /// From now on lists tell of this object as one that cannot be used.
  void ListAsMisfit(const ObjectKey& key) { state_.Lock()->misfits.insert(key); }
  /// Lists come in pages of this many objects where a limit is asked for.
  void PageSize(std::size_t size) { state_.Lock()->page_size = size; }

  [[nodiscard]] std::vector<SourceRequest> Requests() { return state_.Lock()->requests; }
  /// Blocks until `count` requests have come in all.
  void AwaitRequests(std::size_t count) {
    auto state = state_.Lock();
    state.Wait(changed_, [&] { return state->requests.size() >= count; });
  }
  /// Blocks until a watch has taken all there is and waits for more.
  void AwaitWatching() {
    auto state = state_.Lock();
    state.Wait(changed_,
               [&] { return state->watching && state->events.empty() && !state->broken; });
  }
  [[nodiscard]] std::string Version() { return std::to_string(state_.Lock()->version); }

  informer::ListResult List(const informer::ListOptions& options,
                            const std::function<void(informer::AnyObject)>& each,
                            std::stop_token stop) override;
  std::unique_ptr<informer::WatchStream> Watch(const informer::WatchOptions& options,
                                               std::stop_token stop) override;

 private:
  using Item = informer::WatchItem;
  struct State {
    std::map<ObjectKey, std::shared_ptr<const T>> objects = {};
    std::uint64_t version = 0;
    bool lose_next = false;
    std::set<ObjectKey> misfits;
    std::size_t page_size = 500;
    std::deque<Item> events;       // for the watch under way
    std::function<void()> broken;  // throws what the watch breaks with
    bool watching = false;         // a stream waits
    std::deque<std::function<void()>> failures;
    std::vector<SourceRequest> requests = {};
  };

  void Change(T object, bool deleted) {
    using informer::EventType;
    {
      auto state = state_.Lock();
      object.metadata.resourceVersion = std::to_string(++state->version);
      const auto shared = std::make_shared<const T>(std::move(object));
      const ObjectKey key = KeyOf(*shared);
      const bool known = state->objects.contains(key);
      if (deleted) {
        state->objects.erase(key);
      } else {
        state->objects.insert_or_assign(key, shared);
      }
      if (std::exchange(state->lose_next, false)) return;
      state->events.push_back({.what = Item::What::kEvent,
                               .type = deleted ? EventType::kDeleted
                                       : known ? EventType::kModified
                                               : EventType::kAdded,
                               .object = shared,
                               .resource_version = shared->metadata.resourceVersion});
    }
    changed_.notify_all();
  }
  void Send(Item item) {
    state_.Lock()->events.push_back(std::move(item));
    changed_.notify_all();
  }
  /// Records a request, and throws what it is to fail with.
  void Asked(State& state, SourceRequest request) {
    state.requests.push_back(std::move(request));
    changed_.notify_all();
    if (state.failures.empty()) return;
    const std::function<void()> failure = std::move(state.failures.front());
    state.failures.pop_front();
    failure();
  }

  class Stream;

  Clock& clock_;
  Guarded<State> state_;
  std::condition_variable changed_;
};

template <Object T>
class FakeSource<T>::Stream final : public informer::WatchStream {
 public:
  Stream(FakeSource& source, std::stop_token stop) : source_(source), stop_(std::move(stop)) {}

  Item Next(Duration limit) override {
    const std::stop_callback wake(stop_, [this] {
      { auto state = source_.state_.Lock(); }
      source_.changed_.notify_all();
    });
    const TimePoint deadline = After(source_.clock_.Now(), limit);
    auto state = source_.state_.Lock();
    while (true) {
      if (stop_.stop_requested()) throw std::runtime_error("stopped");
      if (state->broken) std::exchange(state->broken, nullptr)();
      if (!state->events.empty()) {
        Item item = std::move(state->events.front());
        state->events.pop_front();
        return item;
      }
      if (source_.clock_.Now() >= deadline) return {.what = Item::What::kSilent};
      state->watching = true;
      source_.changed_.notify_all();
      source_.clock_.WaitUntil(state.lock(), source_.changed_, deadline);
      state->watching = false;
    }
  }

 private:
  FakeSource& source_;
  std::stop_token stop_;
};

template <Object T>
informer::ListResult FakeSource<T>::List(const informer::ListOptions& options,
                                         const std::function<void(informer::AnyObject)>& each,
                                         std::stop_token) {
  auto state = state_.Lock();
  Asked(*state, {SourceRequest::Verb::kList, options.resource_version, options.limit,
                 options.continue_token});
  const std::size_t from = options.continue_token.empty() ? 0 : std::stoul(options.continue_token);
  const std::size_t to = options.limit == 0 ? state->objects.size() : from + state->page_size;
  std::size_t index = 0;
  informer::ListResult result;
  for (const auto& [key, object] : state->objects) {
    const bool on_page = index >= from && index < to;
    ++index;
    if (!on_page) continue;
    if (state->misfits.contains(key)) {
      result.skipped.push_back({key, key.ToString() + " cannot be used"});
    } else {
      each(object);
    }
  }
  state->events.clear();
  result.resource_version = std::to_string(state->version);
  if (to < index) result.continue_token = std::to_string(to);
  return result;
}

template <Object T>
std::unique_ptr<informer::WatchStream> FakeSource<T>::Watch(const informer::WatchOptions& options,
                                                            std::stop_token stop) {
  auto state = state_.Lock();
  Asked(*state, {SourceRequest::Verb::kWatch, options.resource_version, 0, ""});
  return std::make_unique<Stream>(*this, std::move(stop));
}

}  // namespace kopp::testing
