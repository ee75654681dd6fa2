#pragma once

#include "number_index.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include <kopp/informer/any_object.hpp>

namespace kopp::informer::detail {

/// One call of an event handler, or the end of its initial list.
struct HandlerEvent {
  enum class Type {
    kAdd,
    kUpdate,
    kDelete,
    kSynced,  ///< no call: the handler has been called for each object of its initial list
  };
  Type type = Type::kSynced;
  AnyObject object = {};             ///< the new state; for kDelete, the last state
  AnyObject before = {};             ///< for kUpdate; in a HandlerQueue also for kDelete, see there
  bool in_initial_list = false;      ///< only for kAdd
  bool final_state_unknown = false;  ///< only for kDelete
  bool is_watch_event = false;       ///< see KeyEvent::is_watch_event
};

/// The events that a handler has not been called for yet. Events of one object are merged, so that
/// the handler is called with the newest state:
///
///     pending     pushed   result
///     add         update   add of the newest state
///     add         delete   nothing
///     update      update   update from the first state to the newest
///     update      delete   update from the first state to the last, then delete
///     delete      add      both: the object was created again
///
/// A deletion does not replace a pending update: a handler that filters or maps objects by their
/// state must compare the state that it knows with the last one. Only a resync is replaced. A
/// merged event is no watch event.
///
/// The memory is therefore limited by the number of objects; an object that is only added takes
/// less than 80 bytes. The events are in the order of the first pending event of each object. Not
/// thread-safe.
class HandlerQueue {
 public:
  void Push(HandlerEvent event);
  /// Removes and returns the first event. Requires: not empty.
  HandlerEvent Pop();

  [[nodiscard]] bool empty() const { return pending_.empty(); }
  /// Returns the number of objects with pending events.
  [[nodiscard]] std::size_t size() const { return by_key_.size(); }

 private:
  /// The pending events of one object: at most an update, a deletion and then a change. Small,
  /// because the first list of a kind adds one for each object to the queue of each handler.
  struct Pending {
    HandlerEvent::Type type = HandlerEvent::Type::kSynced;  // of the change: no deletion
    bool has_change = false;
    bool in_initial_list = false;
    bool is_watch_event = false;                  // of the change
    AnyObject object = {};                        // of the change; empty for kSynced
    std::unique_ptr<AnyObject> before = {};       // of an update; null for a resync
    std::unique_ptr<HandlerEvent> deletion = {};  // precedes the change; with `before`: after
                                                  // an update from this state
    [[nodiscard]] bool empty() const { return !has_change && !deletion; }
    [[nodiscard]] const AnyObject& AnyState() const {
      return has_change ? object : deletion->object;
    }
    void ClearChange();
  };

  [[nodiscard]] std::uint32_t Hash(const AnyObject& object) const;
  Pending& At(std::uint32_t number) { return pending_[number - first_number_]; }
  /// Returns the number of the pending events of the object; adds an entry if there are none.
  std::uint32_t FindOrAdd(const AnyObject& object, std::uint32_t hash);
  void PopEmpty();
  void Compact();
  static void Merge(Pending& pending, HandlerEvent event);
  static HandlerEvent TakeChange(Pending& pending);

  // Each entry has a number, one more than that of the entry before. An object that has left the
  // queue leaves an empty entry, which is never the first.
  std::deque<Pending> pending_;
  std::uint32_t first_number_ = 0;
  std::size_t empty_entries_ = 0;
  NumberIndex by_key_;  // the numbers of all entries except empty ones and kSynced
  std::uint64_t seed_ = reinterpret_cast<std::uintptr_t>(this);  // prevents hash-flooding attacks
};

}  // namespace kopp::informer::detail
