#pragma once

#include "event_request.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// An Event that waits for its write.
struct PendingEvent {
  Occurrence occurrence = {};
  EventRequest request = {};  ///< its body is null until the occurrence was aggregated
  int tries = 0;              ///< of its write
};

/// The Events that wait for their writes, by namespace. The namespaces take turns of one Event. The
/// Events of one namespace are first in, first out. An Event that is to be tried again delays only
/// its namespace. Not thread-safe. The functions take a time proportional to the number of
/// namespaces with Events.
class PendingEvents {
 public:
  static constexpr std::size_t kCapacity = 1000;

  /// Adds an Event of the namespace `ns`. If there are kCapacity Events already, drops the newest
  /// Event of the namespace that has most, which may be this one: a namespace cannot take the place
  /// of others. Returns the namespace of the dropped Event, or nullopt if none was dropped.
  std::optional<std::string> Add(const std::string& ns, PendingEvent event);

  /// Adds an Event that was taken as the first one of its namespace, which then waits until `time`.
  /// Drops nothing. Its request must be set.
  void PutBack(PendingEvent event, TimePoint time);

  /// Removes and returns the next Event; nullopt if there is none or all namespaces wait at `now`.
  [[nodiscard]] std::optional<PendingEvent> Take(TimePoint now);
  /// Returns the time at which Take returns an Event; TimePoint::max() if there is none.
  [[nodiscard]] TimePoint NextTime() const;

  /// Ends the waits of all namespaces.
  void EndWaits();
  /// Removes the Events of a namespace, or all. Returns their number.
  std::size_t Remove(const std::string& ns);
  std::size_t Clear();

 private:
  struct NamespaceQueue {
    std::deque<PendingEvent> events = {};  // never empty
    TimePoint not_before = TimePoint::min();
    std::uint64_t turn = 0;  // the lowest one is the next
  };

  [[nodiscard]] NamespaceQueue& QueueOf(const std::string& ns);

  std::unordered_map<std::string, NamespaceQueue> queues_;  // by namespace
  std::size_t size_ = 0;                                    // of all queues
  std::uint64_t last_turn_ = 0;
};

}  // namespace kopp
