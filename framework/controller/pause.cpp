#include "pause.hpp"

#include <utility>

namespace kopp {

bool IsPausedBy(const std::string& annotation, const ObjectMeta& metadata) {
  const auto found = metadata.annotations.find(annotation);
  return found != metadata.annotations.end() && found->second == "true";
}

informer::AnyEventHandler EnqueueResumed(EventQueue queue, std::string annotation) {
  using informer::AnyObject;
  return {.on_update = [queue = std::move(queue), annotation = std::move(annotation)](
                           const AnyObject& before, const AnyObject& after) {
    const bool was_paused = IsPausedBy(annotation, before.metadata());
    if (!was_paused || IsPausedBy(annotation, after.metadata())) return;
    queue.Add(after.key(), Reason::Type::kResumed);
  }};
}

}  // namespace kopp
