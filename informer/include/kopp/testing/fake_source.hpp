#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kopp/informer/api_error.hpp>
#include <kopp/informer/source.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::testing {

/// A list or watch request that a FakeSource has received.
struct SourceRequest {
  enum class Verb { kList, kWatch };
  Verb verb = Verb::kList;
  std::string resource_version = {};
  int limit = 0;                     ///< as in ListRequest; 0 for a watch
  std::string continue_token = {};   ///< as in ListRequest; empty for a watch
  bool send_initial_events = false;  ///< as in WatchRequest; false for a list
  friend bool operator==(const SourceRequest&, const SourceRequest&) = default;
};

/// An in-memory Source for tests: the test changes its objects and injects failures. Each change
/// increments the resource version, which starts at 0. Thread-safe. `clock` must outlive the
/// source.
///
/// Events wait in one queue until an open watch reads them. Only one watch may be open at a time.
/// Watch ignores the resource version and the timeout in its options. List, and a watch that sends
/// initial events, empty the queue, including bookmarks and EndWatch, because their result contains
/// the changes. A list with limit 1 does not (a reflector uses it to learn the newest version), nor
/// does a list of an exact version, which fails with 410 if that is not the current version. List
/// calls `on_object` while it holds the mutex of the source, so `on_object` must not call the
/// source.
template <ApiObject T>
class FakeSource final : public informer::Source<T> {
 public:
  explicit FakeSource(Clock& clock) : clock_(clock) {}

  /// Adds or replaces an object and sends the event. Sets metadata.resourceVersion.
  void Set(T object) { Change(std::move(object), false); }
  /// Removes the object with the key of `object` and sends a kDeleted event with `object`, even if
  /// there is no such object. Sets metadata.resourceVersion of the sent object.
  void Delete(T object) { Change(std::move(object), true); }

  /// Sends an event without changing the objects, for example to simulate an outdated event. Does
  /// not change metadata.resourceVersion of `object`.
  void SendEvent(informer::EventType type, T object) {
    const auto shared = std::make_shared<const T>(std::move(object));
    Send({.type = Item::Type::kEvent,
          .event_type = type,
          .object = shared,
          .resource_version = shared->metadata.resourceVersion});
  }
  /// Sends a deletion whose object does not fit the view, without changing the objects.
  void SendDeletionWithMetadataOnly(T object) {
    const auto shared = std::make_shared<const T>(std::move(object));
    Send({.type = Item::Type::kEvent,
          .event_type = informer::EventType::kDeleted,
          .object = shared,
          .metadata_only = true,
          .resource_version = shared->metadata.resourceVersion});
  }
  /// Sends a bookmark with the current resource version.
  void SendBookmark() {
    Send({.type = Item::Type::kBookmark, .resource_version = ResourceVersion()});
  }
  /// Sends an item of type kSkipped: an event that could not be decoded, with the reason `problem`.
  void SendSkippedEvent(const std::string& problem) {
    Send({.type = Item::Type::kSkipped, .problem = problem});
  }
  /// Makes the next Set or Delete change the objects without sending an event.
  void DropNextEvent() { state_.Lock()->drop_next_event = true; }
  /// Ends the open watch without an error, after the pending events.
  void EndWatch() { Send({.type = Item::Type::kEnd}); }
  /// Makes the open watch, or else the next watch, throw `error` once, before any pending event.
  template <typename Error>
  void FailWatch(Error error) {
    state_.Lock()->watch_failure = [error = std::move(error)] { throw error; };
    changed_.notify_all();
  }
  /// Appends a failure to the queue of request outcomes. Each list or watch request removes one
  /// outcome from the queue; a failure makes the request throw `error`. Requests succeed while the
  /// queue is empty.
  template <typename Error>
  void FailNextRequest(Error error) {
    state_.Lock()->request_outcomes.push_back([error = std::move(error)] { throw error; });
  }
  /// Appends a success to the queue of request outcomes; see FailNextRequest.
  void AllowNextRequest() {
    state_.Lock()->request_outcomes.push_back([] {});
  }
  /// Makes later watches that send initial events send no bookmark at the end of these events, as a
  /// proxy that removes bookmarks does.
  void DropInitialEventsEnd() { state_.Lock()->drop_initial_events_end = true; }
  /// Sends that bookmark with the current resource version.
  void SendInitialEventsEnd() {
    Send({.type = Item::Type::kBookmark,
          .resource_version = ResourceVersion(),
          .initial_events_end = true});
  }
  /// Makes later lists report the object with this key in ListResult::skipped, instead of passing
  /// it to `on_object`.
  void ListAsSkipped(const ObjectKey& key) { ListAsSkipped(key, key); }
  /// The same with another key in ListResult::skipped; without a name it means that the source
  /// could not read the key.
  void ListAsSkipped(const ObjectKey& key, const ObjectKey& reported_key) {
    state_.Lock()->skipped_keys.insert_or_assign(key, reported_key);
  }
  /// Sets the number of objects per page of a list that has a limit; the default is 500. The value
  /// of the limit is ignored.
  void SetPageSize(std::size_t size) { state_.Lock()->page_size = size; }

  /// Returns all requests so far, oldest first.
  [[nodiscard]] std::vector<SourceRequest> Requests() { return state_.Lock()->requests; }
  /// Blocks until the source has received `count` requests in total. There is no timeout.
  void AwaitRequests(std::size_t count) {
    auto state = state_.Lock();
    state.Wait(changed_, [&] { return state->requests.size() >= count; });
  }
  /// Blocks until a watch has received all events and waits for more. There is no timeout.
  void AwaitIdleWatch() {
    auto state = state_.Lock();
    state.Wait(changed_, [&] {
      return state->watch_is_waiting && state->events.empty() && !state->watch_failure;
    });
  }
  /// Sets the resource version of the last change, as a restore of etcd from a backup does.
  void SetResourceVersion(std::uint64_t version) { state_.Lock()->resource_version = version; }
  /// Returns the resource version of the last change, or "0".
  [[nodiscard]] std::string ResourceVersion() {
    return std::to_string(state_.Lock()->resource_version);
  }

  informer::ListResult List(const informer::ListRequest& options,
                            const std::function<void(informer::AnyObject)>& on_object,
                            std::stop_token stop) override;
  std::unique_ptr<informer::WatchStream> Watch(const informer::WatchRequest& options,
                                               std::stop_token stop) override;

 private:
  using Item = informer::WatchItem;
  struct State {
    std::map<ObjectKey, std::shared_ptr<const T>> objects = {};
    std::uint64_t resource_version = 0;
    bool drop_next_event = false;
    bool drop_initial_events_end = false;
    std::map<ObjectKey, ObjectKey> skipped_keys;  // to the keys that are reported
    std::size_t page_size = 500;
    std::deque<Item> events;              // pending, for the open watch
    std::function<void()> watch_failure;  // throws the error of FailWatch
    bool watch_is_waiting = false;        // a stream is blocked in Next
    std::deque<std::function<void()>> request_outcomes;
    std::vector<SourceRequest> requests = {};
  };

  void Change(T object, bool deleted) {
    using informer::EventType;
    {
      auto state = state_.Lock();
      object.metadata.resourceVersion = std::to_string(++state->resource_version);
      const auto shared = std::make_shared<const T>(std::move(object));
      const ObjectKey key = KeyOf(*shared);
      const bool existed = state->objects.contains(key);
      if (deleted) {
        state->objects.erase(key);
      } else {
        state->objects.insert_or_assign(key, shared);
      }
      if (std::exchange(state->drop_next_event, false)) return;
      state->events.push_back({.type = Item::Type::kEvent,
                               .event_type = deleted   ? EventType::kDeleted
                                             : existed ? EventType::kModified
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
  /// Records a request. Throws if the next queued outcome is a failure.
  void RecordRequest(State& state, SourceRequest request) {
    state.requests.push_back(std::move(request));
    changed_.notify_all();
    if (state.request_outcomes.empty()) return;
    const std::function<void()> outcome = std::move(state.request_outcomes.front());
    state.request_outcomes.pop_front();
    outcome();
  }

  /// Replaces the pending events by one for each object and the bookmark at their end.
  static void QueueInitialEvents(State& state) {
    state.events.clear();
    for (const auto& [key, object] : state.objects) {
      const auto skipped = state.skipped_keys.find(key);
      if (skipped == state.skipped_keys.end()) {
        state.events.push_back({.type = Item::Type::kEvent,
                                .object = object,
                                .resource_version = object->metadata.resourceVersion});
      } else {
        state.events.push_back({.type = Item::Type::kSkipped,
                                .problem = key.ToString() + " could not be decoded",
                                .skipped_key = skipped->second});
      }
    }
    if (state.drop_initial_events_end) return;
    state.events.push_back({.type = Item::Type::kBookmark,
                            .resource_version = std::to_string(state.resource_version),
                            .initial_events_end = true});
  }

  class Stream;

  Clock& clock_;
  kopp::detail::Guarded<State> state_;
  std::condition_variable changed_;
};

template <ApiObject T>
class FakeSource<T>::Stream final : public informer::WatchStream {
 public:
  Stream(FakeSource& source, std::stop_token stop) : source_(source), stop_(std::move(stop)) {}

  Item Next(Duration timeout) override {
    const std::stop_callback wake(stop_, [this] {
      { auto state = source_.state_.Lock(); }
      source_.changed_.notify_all();
    });
    const TimePoint deadline = SaturatingAdd(source_.clock_.Now(), timeout);
    auto state = source_.state_.Lock();
    while (true) {
      if (stop_.stop_requested()) {
        throw std::runtime_error(
            "FakeSource: the watch was cancelled because a stop was requested");
      }
      if (state->watch_failure) std::exchange(state->watch_failure, nullptr)();
      if (!state->events.empty()) {
        Item item = std::move(state->events.front());
        state->events.pop_front();
        return item;
      }
      if (source_.clock_.Now() >= deadline) return {.type = Item::Type::kNoEvent};
      state->watch_is_waiting = true;
      source_.changed_.notify_all();
      source_.clock_.WaitUntil(state.lock(), source_.changed_, deadline);
      state->watch_is_waiting = false;
    }
  }

 private:
  FakeSource& source_;
  std::stop_token stop_;
};

template <ApiObject T>
informer::ListResult FakeSource<T>::List(const informer::ListRequest& options,
                                         const std::function<void(informer::AnyObject)>& on_object,
                                         std::stop_token) {
  auto state = state_.Lock();
  RecordRequest(*state, {SourceRequest::Verb::kList, options.resource_version, options.limit,
                         options.continue_token});
  if (options.exact && options.continue_token.empty() &&
      options.resource_version != std::to_string(state->resource_version)) {
    throw ApiError("LIST",
                   {.message = "FakeSource: the version is not the current one", .code = 410});
  }
  const std::size_t begin = options.continue_token.empty() ? 0 : std::stoul(options.continue_token);
  const std::size_t end = options.limit == 0 ? state->objects.size() : begin + state->page_size;
  std::size_t index = 0;
  informer::ListResult result;
  for (const auto& [key, object] : state->objects) {
    const bool on_page =
        options.object.name.empty() ? index >= begin && index < end : key == options.object;
    ++index;
    if (!on_page) continue;
    const auto skipped = state->skipped_keys.find(key);
    if (skipped != state->skipped_keys.end()) {
      result.skipped.push_back({skipped->second, key.ToString() + " could not be decoded"});
    } else {
      on_object(object);
    }
  }
  if (options.limit != 1 && !options.exact) state->events.clear();
  result.resource_version = std::to_string(state->resource_version);
  if (end < index) result.continue_token = std::to_string(end);
  return result;
}

template <ApiObject T>
std::unique_ptr<informer::WatchStream> FakeSource<T>::Watch(const informer::WatchRequest& options,
                                                            std::stop_token stop) {
  auto state = state_.Lock();
  RecordRequest(*state, {SourceRequest::Verb::kWatch, options.resource_version, 0, "",
                         options.send_initial_events});
  if (options.send_initial_events) QueueInitialEvents(*state);
  return std::make_unique<Stream>(*this, std::move(stop));
}

}  // namespace kopp::testing
