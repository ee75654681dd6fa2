#include <kopp/controller/event_queue.hpp>

template class kopp::workqueue::DelayingQueue<kopp::ObjectKey>;
template class kopp::workqueue::RateLimitingQueue<kopp::ObjectKey>;

namespace kopp {

informer::EnqueueFunction EventQueue::Enqueue() const {
  if (!keep_reasons_) {  // do not even create the reason
    return [queue = queue_](const ObjectKey& key, int priority, const informer::KeyEvent& event) {
      queue->AddCoalesced(key, priority, nullptr, event.IsChange());
    };
  }
  return [self = *this](const ObjectKey& key, int priority, const informer::KeyEvent& event) {
    self.Add(key, ReasonOf(self.source_, event), priority);
  };
}

bool EventQueue::IsChange(Reason::Type type) {
  switch (type) {
    case Reason::Type::kAdded:
    case Reason::Type::kUpdated:
    case Reason::Type::kDeleted:
    case Reason::Type::kEvent:
    case Reason::Type::kResumed:
      return true;
    case Reason::Type::kInitialList:
    case Reason::Type::kResync:
    case Reason::Type::kTimer:
    case Reason::Type::kRetry:
    case Reason::Type::kRequeueAfter:
    case Reason::Type::kMaxInterval:
      return false;
  }
  return true;
}

}  // namespace kopp
