#include <memory>
#include <utility>

#include <kopp/controller/event_queue.hpp>
#include <kopp/informer/key_queue.hpp>

namespace kopp {
namespace {

std::unique_ptr<workqueue::Note> NoteOf(Reason reason) {
  return std::make_unique<ReasonsNote>(std::move(reason));
}

}  // namespace

void EventQueue::Add(const ObjectKey& key, int priority) const {
  Add(key, Reason::Type::kEvent, priority);
}

void EventQueue::Add(const ObjectKey& key, Reason::Type type, int priority) const {
  const bool supersedes = IsChange(type);
  if (!keep_reasons_) return queue_->AddCoalesced(key, priority, nullptr, supersedes);
  queue_->AddCoalesced(key, priority, NoteOf({.type = type, .source = source_}), supersedes);
}

void EventQueue::Add(const ObjectKey& key, Reason reason, int priority) const {
  const bool supersedes = IsChange(reason.type);
  if (!keep_reasons_) return queue_->AddCoalesced(key, priority, nullptr, supersedes);
  queue_->AddCoalesced(key, priority, NoteOf(std::move(reason)), supersedes);
}

void EventQueue::AddAfter(const ObjectKey& key, Duration delay, int priority) const {
  if (!keep_reasons_) return queue_->AddAfter(key, delay, priority);
  queue_->AddAfter(key, delay, priority, NoteOf({.source = source_}));
}

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
