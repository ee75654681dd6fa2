#pragma once

#include "controller/controller_queue.hpp"

#include <optional>
#include <stop_token>
#include <unordered_map>

#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// Returns whether a key that is being reconciled was added again because of a newer event.
[[nodiscard]] inline bool HasNewerEvent(workqueue::Queue<ObjectKey, QueuedReasons>& queue,
                                        const ObjectKey& key) {
  return queue.WasAddedAgain(key, [](const QueuedReasons& added) { return added.has_change; });
}

/// The reconciles that run now. Requests their stop when their key is superseded by a newer event.
/// Thread-safe.
class RunningReconciles {
 public:
  using Queue = workqueue::Queue<ObjectKey, QueuedReasons>;

  /// Only stores the reference: `queue` may be constructed later and destroyed earlier.
  explicit RunningReconciles(Queue& queue) : queue_(queue) {}
  RunningReconciles(const RunningReconciles&) = delete;
  RunningReconciles& operator=(const RunningReconciles&) = delete;

  /// One reconcile, from after Get to before Done.
  class Run {
   public:
    Run(RunningReconciles& running, const ObjectKey& key) : running_(running), key_(key) {
      running_.runs_.Lock()->insert_or_assign(key_, stop_);
      if (HasNewerEvent(running_.queue_, key_)) stop_.request_stop();  // it was not found in runs_
    }
    ~Run() { running_.runs_.Lock()->erase(key_); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    /// Returns the token that is stopped when the key is superseded.
    [[nodiscard]] std::stop_token superseded() const { return stop_.get_token(); }

   private:
    RunningReconciles& running_;
    const ObjectKey key_;
    std::stop_source stop_;
  };

  /// For Queue::OnAddedAgain. Requests the stop of the run of `key` if the key was added
  /// because of a newer event, but not of a later run, which sees the newest state. If the same run
  /// is found before and after the queue was asked, the answer is about this run.
  void OnAddedAgain(const ObjectKey& key) {
    std::optional<std::stop_source> run = Find(key);
    if (!run || !HasNewerEvent(queue_, key) || Find(key) != run) return;
    run->request_stop();
  }

 private:
  using Runs = std::unordered_map<ObjectKey, std::stop_source>;

  [[nodiscard]] std::optional<std::stop_source> Find(const ObjectKey& key) {
    auto runs = runs_.Lock();
    const auto found = runs->find(key);
    return found == runs->end() ? std::nullopt : std::optional(found->second);
  }

  Queue& queue_;
  detail::Guarded<Runs> runs_;
};

}  // namespace kopp
