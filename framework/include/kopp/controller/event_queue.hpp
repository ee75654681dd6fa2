#pragma once

#include <memory>
#include <string>
#include <utility>

#include <kopp/controller/reason.hpp>
#include <kopp/informer/handlers.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp {

/// The queue of a controller as event handlers and sources see it: they add the keys of the objects
/// to reconcile. Adds are coalesced if ControllerOptions::coalesce is set. Adds are newer events
/// for ControllerOptions::cancel_superseded, except those of the types kInitialList, kResync,
/// kTimer, kRetry, kRequeueAfter and kMaxInterval, and those of AddAfter. Thread-safe. Cheap to
/// copy. The queue of the controller must outlive it.
class EventQueue {
 public:
  using Queue = workqueue::RateLimitingQueue<ObjectKey>;

  /// `source` is the source in the reasons that are added without a Reason.
  explicit EventQueue(Queue& queue, bool keep_reasons = false, std::string source = {})
      : queue_(&queue), keep_reasons_(keep_reasons), source_(std::move(source)) {}

  /// Returns a copy for another source.
  [[nodiscard]] EventQueue ForSource(std::string source) const {
    return EventQueue(*queue_, keep_reasons_, std::move(source));
  }

  /// Adds a key, to reconcile the object soon. A larger `priority` is higher.
  void Add(const ObjectKey& key, int priority = 0) const {
    Add(key, Reason::Type::kEvent, priority);
  }
  void Add(const ObjectKey& key, Reason::Type type, int priority = 0) const {
    const bool supersedes = IsChange(type);
    if (!keep_reasons_) return queue_->AddCoalesced(key, priority, nullptr, supersedes);
    queue_->AddCoalesced(key, priority, NoteOf({.type = type, .source = source_}), supersedes);
  }
  void Add(const ObjectKey& key, Reason reason, int priority = 0) const {
    const bool supersedes = IsChange(reason.type);
    if (!keep_reasons_) return queue_->AddCoalesced(key, priority, nullptr, supersedes);
    queue_->AddCoalesced(key, priority, NoteOf(std::move(reason)), supersedes);
  }
  /// Adds a key after `delay`. If the key is already delayed, the earlier time applies.
  void AddAfter(const ObjectKey& key, Duration delay, int priority = 0) const {
    if (!keep_reasons_) return queue_->AddAfter(key, delay, priority);
    queue_->AddAfter(key, delay, priority, NoteOf({.source = source_}));
  }

  /// Returns the function for the handlers in informer/handlers.hpp. The source is the kind.
  [[nodiscard]] informer::EnqueueFunction Enqueue() const;

 private:
  /// Returns whether a reason of this type is a newer event.
  [[nodiscard]] static bool IsChange(Reason::Type type);
  [[nodiscard]] static std::unique_ptr<workqueue::Note> NoteOf(Reason reason) {
    return std::make_unique<ReasonsNote>(std::move(reason));
  }

  Queue* queue_;
  bool keep_reasons_;
  std::string source_;
};

}  // namespace kopp

// Instantiated once, in event_queue.cpp, to reduce the compile time of programs.
// NOLINTBEGIN(clang-analyzer-optin.performance.Padding): see Queue
extern template class kopp::workqueue::DelayingQueue<kopp::ObjectKey>;
extern template class kopp::workqueue::RateLimitingQueue<kopp::ObjectKey>;
// NOLINTEND(clang-analyzer-optin.performance.Padding)
