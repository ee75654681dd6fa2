#pragma once

#include "client/lru_map.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/cache_options.hpp>
#include <kopp/events.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// Records a Warning Event "DecodeError" if the cache skips an object that does not fit its view,
/// because its controller will not reconcile it: on the object itself if a controller reconciles
/// its kind, else on the owner that a controller reconciles. One Event for each version of an
/// object, up to kMaxObjects of them. Thread-safe.
class SkippedObjectEvents {
 public:
  static constexpr std::size_t kMaxObjects = 1000;
  static constexpr std::size_t kMaxPending = 100;

  /// Returns the kind of the controller that reconciles objects of this group and kind, or null.
  using FindKind = std::function<const OwningKind*(std::string_view group, std::string_view kind)>;
  explicit SkippedObjectEvents(FindKind find_kind) : find_kind_(std::move(find_kind)) {}

  /// For CacheOptions::on_skipped. Before Start and after Stop the Event is kept for the next
  /// Start.
  void OnSkipped(const SkippedObject& object);
  /// Call it when the program reconciles, so that of several replicas only the leader records.
  /// `events` must live until Stop.
  void Start(EventRecorder& events);
  void Stop() { state_.Lock()->events = nullptr; }

 private:
  struct Event {
    ObjectReference object;
    std::string message;
  };
  struct State {
    EventRecorder* events = nullptr;  // null: not started
    std::vector<Event> pending;
    LruMap<std::string, bool> seen{kMaxObjects};  // "uid/resourceVersion"
  };

  [[nodiscard]] ObjectReference SubjectOf(const SkippedObject& object) const;
  static void Record(EventRecorder& events, const Event& event);

  const FindKind find_kind_;
  detail::Guarded<State> state_;
};

}  // namespace kopp
