#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

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

/// The functions of a FakeSource that do not depend on its type.
class AnyFakeSource {
 public:
  AnyFakeSource(const AnyFakeSource&) = delete;
  AnyFakeSource& operator=(const AnyFakeSource&) = delete;

  /// Sends a bookmark with the current resource version.
  void SendBookmark();
  /// Sends an item of type kSkipped: an event that could not be decoded, with the reason `problem`.
  void SendSkippedEvent(const std::string& problem);
  /// Makes the next Set or Delete change the objects without sending an event.
  void DropNextEvent();
  /// Ends the open watch without an error, after the pending events.
  void EndWatch();
  /// Makes the open watch, or else the next watch, throw `error` once, before any pending event.
  template <typename Error>
  void FailWatch(Error error) {
    SetWatchFailure([error = std::move(error)] { throw error; });
  }
  /// Appends a failure to the queue of request outcomes. Each list or watch request removes one
  /// outcome from the queue; a failure makes the request throw `error`. Requests succeed while the
  /// queue is empty.
  template <typename Error>
  void FailNextRequest(Error error) {
    AddOutcome([error = std::move(error)] { throw error; });
  }
  /// Appends a success to the queue of request outcomes; see FailNextRequest.
  void AllowNextRequest() { AddOutcome({}); }
  /// Makes later watches that send initial events send no bookmark at the end of these events, as a
  /// proxy that removes bookmarks does.
  void DropInitialEventsEnd();
  /// Sends that bookmark with the current resource version.
  void SendInitialEventsEnd();
  /// Makes later lists report the object with this key in ListResult::skipped, instead of passing
  /// it to `on_object`.
  void ListAsSkipped(const ObjectKey& key) { ListAsSkipped(key, key); }
  /// The same with another key in ListResult::skipped; without a name it means that the source
  /// could not read the key.
  void ListAsSkipped(const ObjectKey& key, const ObjectKey& reported_key);
  /// Sets the number of objects per page of a list that has a limit; the default is 500. The value
  /// of the limit is ignored.
  void SetPageSize(std::size_t size);

  /// Returns all requests so far, oldest first.
  [[nodiscard]] std::vector<SourceRequest> Requests();
  /// Blocks until the source has received `count` requests in total. There is no timeout.
  void AwaitRequests(std::size_t count);
  /// Blocks until a watch has received all events and waits for more. There is no timeout.
  void AwaitIdleWatch();
  /// Sets the resource version of the last change, as a restore of etcd from a backup does.
  void SetResourceVersion(std::uint64_t version);
  /// Returns the resource version of the last change, or "0".
  [[nodiscard]] std::string ResourceVersion();

 protected:
  explicit AnyFakeSource(Clock& clock) : clock_(clock) {}
  ~AnyFakeSource() = default;

  /// Returns an object of this resource version.
  using MakeObject = std::function<informer::AnyObject(std::string resource_version)>;
  void Change(const ObjectKey& key, const MakeObject& make, bool deleted);
  void SendEvent(informer::EventType type, informer::AnyObject object, bool metadata_only);
  informer::ListResult HandleList(const informer::ListRequest& options,
                                  const std::function<void(informer::AnyObject)>& on_object);
  std::unique_ptr<informer::WatchStream> HandleWatch(const informer::WatchRequest& options,
                                                     std::stop_token stop);

 private:
  struct State {
    std::map<ObjectKey, informer::AnyObject> objects = {};
    std::uint64_t resource_version = 0;
    bool drop_next_event = false;
    bool drop_initial_events_end = false;
    std::map<ObjectKey, ObjectKey> skipped_keys = {};  // to the keys that are reported
    std::size_t page_size = 500;
    std::deque<informer::WatchItem> events = {};              // pending, for the open watch
    std::function<void()> watch_failure = {};                 // the error of FailWatch
    bool watch_is_waiting = false;                            // a stream is blocked in Next
    std::deque<std::function<void()>> request_outcomes = {};  // null: a success
    std::vector<SourceRequest> requests = {};
  };
  class Stream;

  void SetWatchFailure(std::function<void()> failure);
  void AddOutcome(std::function<void()> failure);
  void Send(informer::WatchItem item);
  void RecordRequest(State& state, SourceRequest request);
  static void QueueInitialEvents(State& state);

  Clock& clock_;
  kopp::detail::Guarded<State> state_;
  std::condition_variable changed_;
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
class FakeSource final : public informer::Source<T>, public AnyFakeSource {
 public:
  explicit FakeSource(Clock& clock) : AnyFakeSource(clock) {}

  /// Adds or replaces an object and sends the event. Sets metadata.resourceVersion.
  void Set(T object) { Change(std::move(object), false); }
  /// Removes the object with the key of `object` and sends a kDeleted event with `object`, even if
  /// there is no such object. Sets metadata.resourceVersion of the sent object.
  void Delete(T object) { Change(std::move(object), true); }

  /// Sends an event without changing the objects, for example to simulate an outdated event. Does
  /// not change metadata.resourceVersion of `object`.
  void SendEvent(informer::EventType type, T object) {
    AnyFakeSource::SendEvent(type, std::make_shared<const T>(std::move(object)), false);
  }
  /// Sends a deletion whose object does not fit the view, without changing the objects.
  void SendDeletionWithMetadataOnly(T object) {
    AnyFakeSource::SendEvent(informer::EventType::kDeleted,
                             std::make_shared<const T>(std::move(object)), true);
  }

  informer::ListResult List(const informer::ListRequest& options,
                            const std::function<void(informer::AnyObject)>& on_object,
                            std::stop_token /*stop*/) override {
    return HandleList(options, on_object);
  }
  std::unique_ptr<informer::WatchStream> Watch(const informer::WatchRequest& options,
                                               std::stop_token stop) override {
    return HandleWatch(options, std::move(stop));
  }

 private:
  void Change(T object, bool deleted) {
    const ObjectKey key = KeyOf(object);
    const auto make = [&object](const std::string& resource_version) {
      object.metadata.resourceVersion = resource_version;
      return informer::AnyObject(std::make_shared<const T>(std::move(object)));
    };
    AnyFakeSource::Change(key, make, deleted);
  }
};

}  // namespace kopp::testing
