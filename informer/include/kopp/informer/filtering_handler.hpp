#pragma once

#include <functional>
#include <utility>

#include <kopp/informer/event_handler.hpp>

namespace kopp::informer {

/// Returns a handler that calls `handler` only for objects for which `filter` returns true. If an
/// update makes an object match, `handler` gets an add. If an update makes it no longer match,
/// `handler` gets a delete with the last matching state.
///
/// `filter` is called on the thread of the handler, for each event; for an update, once with each
/// state. It must return the same result for the same object each time. An exception from `filter`
/// is handled like an exception from `handler`. client-go: FilteringResourceEventHandler.
AnyEventHandler AnyFilteringHandler(const std::function<bool(const AnyObject&)>& filter,
                                    AnyEventHandler handler);

/// AnyFilteringHandler for objects of the view `T`:
///
///     informer.AddHandler(FilteringHandler<Pod>(IsMine, {.on_add = …}));
template <ApiObject T>
AnyEventHandler FilteringHandler(std::function<bool(const T&)> filter, EventHandler<T> handler) {
  return AnyFilteringHandler(
      [filter = std::move(filter)](const AnyObject& object) { return filter(*object.As<T>()); },
      std::move(handler));
}

}  // namespace kopp::informer
