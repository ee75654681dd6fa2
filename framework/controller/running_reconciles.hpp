#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <unordered_map>
#include <utility>

#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/queue.hpp>

namespace kopp {

/// The reconciles that run now. Requests their stop when their key is superseded by a newer event,
/// see Queue::IsSuperseded. Thread-safe.
class RunningReconciles {
 public:
  using Queue = workqueue::Queue<ObjectKey>;

  /// Only stores the reference: `queue` may be constructed later and destroyed earlier.
  explicit RunningReconciles(Queue& queue) : queue_(queue) {}
  RunningReconciles(const RunningReconciles&) = delete;
  RunningReconciles& operator=(const RunningReconciles&) = delete;

  /// One reconcile, from after Get to before Done.
  class Run {
   public:
    Run(RunningReconciles& running, const ObjectKey& key) : running_(running), key_(key) {
      running_.runs_.Lock()->insert_or_assign(key_, stop_);
      if (running_.queue_.IsSuperseded(key_)) stop_.request_stop();  // it was not found in runs_
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

  /// For Queue::OnSuperseded. Requests the stop of the run of `key`, but not of a later run, which
  /// sees the newest state. If the same run is found before and after the queue was asked, the
  /// answer is about this run.
  void OnSuperseded(const ObjectKey& key) {
    std::optional<std::stop_source> run = Find(key);
    if (!run || !queue_.IsSuperseded(key) || Find(key) != run) return;
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
  Guarded<Runs> runs_;
};

}  // namespace kopp
