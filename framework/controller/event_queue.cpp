
#include "controller/controller_queue.hpp"
#include "controller/own_events.hpp"

#include <kopp/controller/event_queue.hpp>

namespace kopp {
namespace {

QueuedReasons PayloadOf(Reason reason, bool has_change) {
  QueuedReasons payload{.has_change = has_change};
  payload.reasons.Add(std::move(reason));
  return payload;
}

}  // namespace

void EventQueue::Add(const ObjectKey& key, int priority) const {
  Add(key, Reason::Type::kEvent, priority);
}

void EventQueue::Add(const ObjectKey& key, Reason::Type type, int priority) const {
  if (keep_reasons_) return Add(key, Reason{.type = type, .source = source_}, priority);
  queue_->AddCoalesced(key, {.priority = priority, .payload = {.has_change = IsChange(type)}});
}

void EventQueue::Add(const ObjectKey& key, Reason reason, int priority) const {
  if (!keep_reasons_) return Add(key, reason.type, priority);
  const bool has_change = IsChange(reason.type);
  queue_->AddCoalesced(key,
                       {.priority = priority, .payload = PayloadOf(std::move(reason), has_change)});
}

void EventQueue::AddAfter(const ObjectKey& key, Duration delay, int priority) const {
  QueuedReasons payload;
  if (keep_reasons_) payload = PayloadOf({.source = source_}, false);
  queue_->AddAfter(key, delay, {.priority = priority, .payload = std::move(payload)});
}

informer::EnqueueFunction EventQueue::Enqueue() const {
  return [self = *this](const ObjectKey& key, int priority, const informer::KeyEvent& event) {
    OwnEvents::AddOptions options{.priority = priority};
    if (self.keep_reasons_) {
      options.payload = PayloadOf(ReasonOf(self.source_, event), event.IsChange());
    } else {
      options.payload.has_change = event.IsChange();
    }
    OwnEvents* const own_events = self.own_events_;
    if (own_events != nullptr && own_events->Handle(key, self.source_, event, options)) return;
    self.queue_->AddCoalesced(key, std::move(options));
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
