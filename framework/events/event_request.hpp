#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/events.hpp>
#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// One call of EventRecorder::Normal or Warning.
struct Occurrence {
  std::string type = {};
  ObjectReference object = {};
  std::string reason = {};
  std::string message = {};
  EventDetails details = {};
  WallTime time = {};
};

/// The program that reports Events.
struct EventReporter {
  std::string controller = {};  ///< `source.component` and `reportingController`
  std::string instance = {};    ///< `reportingInstance`
};

/// A write of one Event.
struct EventRequest {
  ObjectKey key = {};
  nlohmann::json body = {};  ///< the whole Event, to create it
  /// The merge patch if the Event has been created before; null: it is new.
  nlohmann::json change = {};
};

/// Decides which occurrences are written, and combines those that are alike into one Event. Not
/// thread-safe. One implementation for each API of Events.
class EventAggregator {
 public:
  virtual ~EventAggregator() = default;
  EventAggregator(const EventAggregator&) = delete;
  EventAggregator& operator=(const EventAggregator&) = delete;

  /// Returns the kind of the Events.
  [[nodiscard]] virtual const Kind& kind() const = 0;
  /// Returns the write that `occurrence` causes now, or nullopt if there is none.
  virtual std::optional<EventRequest> Add(const Occurrence& occurrence) = 0;
  /// Returns the time at which TakeDue has something to do; TimePoint::max() if there is none.
  [[nodiscard]] virtual TimePoint NextDue() const { return TimePoint::max(); }
  /// Returns the writes that were postponed until now. Cheap if NextDue() is in the future.
  virtual std::vector<EventRequest> TakeDue() { return {}; }
  /// Gives the Event of `request`, which is new, another name: another recorder has written an
  /// Event of that name. Later writes of the Event have the new name as well.
  virtual void Rename(EventRequest& request) = 0;
  /// Returns all postponed writes.
  virtual std::vector<EventRequest> TakeAll() { return {}; }

 protected:
  EventAggregator() = default;
};

/// Replaces bytes that are not UTF-8 by U+FFFD. Cuts the result to 1024 bytes, the longest message
/// that the API server accepts, or up to three bytes less, to keep each character complete.
[[nodiscard]] std::string ValidMessage(std::string_view message);

/// Creates the keys of new Events. Not thread-safe.
class EventKeys {
 public:
  /// Returns the key of a new Event about `object`. Its name is, for example, "web.17c0ffee": the
  /// name of the object and the time in nanoseconds, as in client-go. If `time` is not later than
  /// that of the previous key, the next nanosecond after it is used, so that all keys differ. If
  /// the name of the object is not a valid prefix, "event" replaces it. Events about cluster-scoped
  /// objects are in the namespace "default".
  [[nodiscard]] ObjectKey New(const ObjectReference& object, WallTime time);

  /// Returns another key for a new Event: the name has a random later time, at most 1 s after that
  /// of the previous key. Two recorders that write at the same time so find different names.
  [[nodiscard]] ObjectKey Another(const ObjectKey& key);

 private:
  WallTime last_ = WallTime::min();
};

/// Returns the namespace of the Events about `object`: "default" if it is cluster-scoped.
[[nodiscard]] const std::string& EventNamespace(const ObjectReference& object);

/// Returns text that identifies `object`; it does not contain the resource version.
[[nodiscard]] std::string IdentityOf(const ObjectReference& object);

/// Returns the metadata of the Event `key`.
[[nodiscard]] nlohmann::json EventMetadata(const ObjectKey& key, const EventDetails& details);

}  // namespace kopp
