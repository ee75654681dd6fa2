#pragma once

#include <string>

#include <kopp/controller/event_queue.hpp>
#include <kopp/informer/event_handler.hpp>
#include <kopp/informer/object.hpp>

namespace kopp {

/// Returns whether an object is paused: it has `annotation` with the value "true".
[[nodiscard]] bool IsPausedBy(const std::string& annotation, const ObjectMeta& metadata);

/// Returns a handler that enqueues the key of each object that was paused by `annotation` and is
/// not any more, with the reason kResumed. It never blocks.
[[nodiscard]] informer::AnyEventHandler EnqueueResumed(EventQueue queue, std::string annotation);

}  // namespace kopp
