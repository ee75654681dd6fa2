#pragma once

#include <functional>
#include <memory>
#include <utility>

#include <kopp/informer/any_object.hpp>

namespace kopp::informer {

/// Callbacks for changes of objects, type-erased. An empty function is skipped.
///
/// The functions of one handler are called one at a time, after the store has the new state. For
/// one object the order is add, then updates, then delete. HandlerOptions::delivery tells on which
/// thread, and which events are merged while the handler is busy. client-go: ResourceEventHandler.
struct AnyEventHandler {
  /// `in_initial_list` is true for the objects that existed when the handler was added: those of
  /// the first list, or of the store if the handler is added later.
  std::function<void(const AnyObject& object, bool in_initial_list)> on_add = {};
  /// `before` is the state that the handler was called with last. A resync passes the same object
  /// twice.
  std::function<void(const AnyObject& before, const AnyObject& after)> on_update = {};
  /// `final_state_unknown` is true for a tombstone: the deletion event was missed, and `object` is
  /// the last state that the store had. client-go: DeletedFinalStateUnknown.
  std::function<void(const AnyObject& object, bool final_state_unknown)> on_delete = {};
};

/// Callbacks for changes of objects of the view `T`, with the same meaning as in AnyEventHandler.
/// An rvalue converts to AnyEventHandler.
template <ApiObject T>
struct EventHandler {
  using Ptr = std::shared_ptr<const T>;

  std::function<void(const Ptr& object, bool in_initial_list)> on_add = {};
  std::function<void(const Ptr& before, const Ptr& after)> on_update = {};
  std::function<void(const Ptr& object, bool final_state_unknown)> on_delete = {};

  operator AnyEventHandler() && {  // NOLINT: intentionally implicit
    AnyEventHandler any;
    if (on_add) {
      any.on_add = [f = std::move(on_add)](const AnyObject& object, bool in_initial_list) {
        f(object.template As<T>(), in_initial_list);
      };
    }
    if (on_update) {
      any.on_update = [f = std::move(on_update)](const AnyObject& before, const AnyObject& after) {
        f(before.template As<T>(), after.template As<T>());
      };
    }
    if (on_delete) {
      any.on_delete = [f = std::move(on_delete)](const AnyObject& object,
                                                 bool final_state_unknown) {
        f(object.template As<T>(), final_state_unknown);
      };
    }
    return any;
  }
};

}  // namespace kopp::informer
