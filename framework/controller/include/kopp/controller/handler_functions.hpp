#pragma once

#include <functional>
#include <utility>

#include <kopp/controller/event_queue.hpp>
#include <kopp/informer/event_handler.hpp>

namespace kopp {

/// Own functions for the events of objects of the view `T`; they decide which keys to add to the
/// queue of the controller. An empty function ignores its events. The functions are called as those
/// of informer::EventHandler. controller-runtime: handler.Funcs.
///
///     .Watches<Pod>({.on_delete = [](const Pod& pod, const kopp::EventQueue& queue) {
///       queue.AddAfter({pod.metadata.ns, "cleanup"}, 10s);
///     }})
template <ApiObject T>
struct HandlerFunctions {
  std::function<void(const T& object, const EventQueue& queue)> on_add = {};
  /// A resync passes the same object twice.
  std::function<void(const T& before, const T& after, const EventQueue& queue)> on_update = {};
  std::function<void(const T& object, const EventQueue& queue)> on_delete = {};
};

/// Returns a handler that calls `functions` with `queue`.
template <ApiObject T>
[[nodiscard]] informer::AnyEventHandler HandlerOf(HandlerFunctions<T> functions, EventQueue queue) {
  using informer::AnyObject;
  informer::AnyEventHandler handler;
  if (functions.on_add) {
    handler.on_add = [f = std::move(functions.on_add), queue](const AnyObject& object, bool) {
      f(*object.As<T>(), queue);
    };
  }
  if (functions.on_update) {
    handler.on_update = [f = std::move(functions.on_update), queue](const AnyObject& before,
                                                                    const AnyObject& after) {
      f(*before.As<T>(), *after.As<T>(), queue);
    };
  }
  if (functions.on_delete) {
    handler.on_delete = [f = std::move(functions.on_delete), queue](const AnyObject& object, bool) {
      f(*object.As<T>(), queue);
    };
  }
  return handler;
}

}  // namespace kopp
