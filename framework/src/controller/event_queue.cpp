#include <kopp/controller/event_queue.hpp>

namespace kopp {

informer::EnqueueFunction EventQueue::Enqueue() const {
  if (!keep_reasons_) {  // do not even create the reason
    return [queue = queue_](const ObjectKey& key, int priority, const informer::KeyEvent&) {
      queue->AddCoalesced(key, priority);
    };
  }
  return [self = *this](const ObjectKey& key, int priority, const informer::KeyEvent& event) {
    self.Add(key, ReasonOf(self.source_, event), priority);
  };
}

}  // namespace kopp
