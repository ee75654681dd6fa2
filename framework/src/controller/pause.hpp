#pragma once

#include <string>

#include <kopp/informer/handlers.hpp>
#include <kopp/informer/object.hpp>

namespace kopp {

/// Returns whether an object is paused: it has `annotation` with the value "true".
[[nodiscard]] bool IsPausedBy(const std::string& annotation, const ObjectMeta& metadata);

/// Returns a handler that enqueues the key of each object that was paused by `annotation` and is
/// not any more. It never blocks. The queue must outlive the handler.
[[nodiscard]] informer::AnyEventHandler EnqueueResumed(informer::KeyQueue& queue,
                                                       std::string annotation);

}  // namespace kopp
