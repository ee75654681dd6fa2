#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <unordered_map>

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
/// state must compare the state that it knows with the last one. Only a resync is replaced.
///
/// The memory is therefore limited by the number of objects. The events are in the order of the
/// first pending event of each object. Not thread-safe.
class HandlerQueue {
 public:
  void Push(HandlerEvent event);
  /// Removes and returns the first event. Requires: not empty.
  HandlerEvent Pop();

  [[nodiscard]] bool empty() const { return pending_.empty(); }
  /// Returns the number of objects with pending events.
  [[nodiscard]] std::size_t size() const { return by_key_.size(); }

 private:
  /// The pending events of one object: at most an update, a deletion and then a change.
  struct Pending {
    std::optional<HandlerEvent> deletion = {};  // with `before`: after an update from this state
    std::optional<HandlerEvent> change = {};  // an add or an update; or kSynced, without an object
  };

  static void Merge(Pending& pending, HandlerEvent event);

  std::list<Pending> pending_;
  std::unordered_map<ObjectKey, std::list<Pending>::iterator> by_key_;  // all except kSynced
};

}  // namespace kopp::informer::detail
