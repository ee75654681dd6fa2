#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <kopp/informer/handlers.hpp>
#include <kopp/informer/object_key.hpp>

namespace kopp {

/// One reason why a key was queued. For diagnosis only: reconcile the current state, whatever the
/// reasons are.
struct Reason {
  enum class Type {
    kAdded,         ///< an object was created
    kInitialList,   ///< an object existed when the controller started to watch
    kUpdated,       ///< an object was changed
    kResync,        ///< ControllerOptions::sync_period
    kDeleted,       ///< an object was deleted
    kEvent,         ///< an event of a source, or a call of EventQueue::Add
    kTimer,         ///< a TimerSource
    kRetry,         ///< the retry of a reconcile that threw or failed, or of Result::backoff
    kRequeueAfter,  ///< Result::requeue_after
    kMaxInterval,   ///< ControllerOptions::max_interval
    kResumed,       ///< the annotation ControllerOptions::pause_annotation was removed
  };

  Type type = Type::kEvent;
  std::string source = {};       ///< a kind, such as "Pod", or the name of a source
  ObjectKey object = {};         ///< the object of the event; may be empty
  std::string old_version = {};  ///< of an update: resourceVersion before the first one
  std::string new_version = {};  ///< resourceVersion of the object after the last event
  int count = 1;                 ///< the number of equal events; consecutive updates are merged

  /// Returns "Pod shop/web updated 3 times (41 -> 57)", "retry", ….
  [[nodiscard]] std::string ToString() const;
};

/// Returns the reason of an event of an object of the kind `kind`.
[[nodiscard]] Reason ReasonOf(const std::string& kind, const informer::KeyEvent& event);

/// The reasons why a key was queued: at most kMax different ones, and the number of further events.
class Reasons {
 public:
  static constexpr std::size_t kMax = 8;

  void Add(Reason reason) noexcept;
  void Add(Reasons later) noexcept;

  [[nodiscard]] const std::vector<Reason>& list() const { return list_; }
  /// Returns the number of events that are not in list(), because that was full or there
  /// was no memory.
  [[nodiscard]] int more() const { return more_; }
  [[nodiscard]] bool empty() const { return list_.empty(); }
  /// Returns the reasons in their order, separated by "; ", and for example "and 7 more".
  [[nodiscard]] std::string ToString() const;

 private:
  std::vector<Reason> list_;
  int more_ = 0;
};

/// The payload of a controller's queue: why a key was queued.
struct QueuedReasons {
  Reasons reasons{};        ///< empty without ControllerOptions::reasons
  bool has_change = false;  ///< whether one of the events is newer than a reconcile that runs

  void Merge(QueuedReasons&& later) noexcept {
    reasons.Add(std::move(later.reasons));
    has_change = has_change || later.has_change;
  }
};

}  // namespace kopp
