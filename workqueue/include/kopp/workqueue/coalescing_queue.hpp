#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <kopp/workqueue/coalesce.hpp>
#include <kopp/workqueue/detail/coalesce_windows.hpp>
#include <kopp/workqueue/detail/due_thread.hpp>
#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace kopp::workqueue {

/// A RateLimitingQueue that can merge bursts of adds; see Coalesce. Thread-safe.
///
///     CoalescingQueue<ObjectKey> queue({}, {.quiet = 100ms, .max_wait = 1s});
///
/// If coalescing is enabled, the queue owns one more thread, for the ends of the waits. ShutDown,
/// ShutDownWithDrain and the destructor stop it immediately and drop the items that wait.
template <Item T, QueuePayload Payload>
class CoalescingQueue : public RateLimitingQueue<T, Payload> {
 public:
  /// For `limiter`, see RateLimitingQueue.
  CoalescingQueue(QueueOptions options, const Coalesce& coalesce,
                  std::unique_ptr<RateLimiter<T>> limiter = nullptr)
      : RateLimitingQueue<T, Payload>(std::move(options), std::move(limiter)) {
    const auto add_all = [this](auto& items) { this->AddAll(items); };
    if (coalesce.enabled()) windows_.emplace(this->clock(), add_all, coalesce);
  }

  /// Adds `item` when its adds have been quiet, or immediately if coalescing is not enabled. The
  /// highest priority of the coalesced adds applies, and their payloads are merged. Neither Add nor
  /// AddAfter is coalesced: a retry waits for its own delay only. Does nothing if the queue is
  /// shutting down.
  void AddCoalesced(const T& item, AddOptions<Payload> options = {});

  void ShutDown() override {
    if (windows_) windows_->Stop();
    RateLimitingQueue<T, Payload>::ShutDown();
  }
  void ShutDownWithDrain() override {
    if (windows_) windows_->Stop();
    RateLimitingQueue<T, Payload>::ShutDownWithDrain();
  }

  [[nodiscard]] Snapshot<T, Payload> TakeSnapshot(
      std::size_t limit = std::numeric_limits<std::size_t>::max()) override;

 private:
  using Windows = detail::CoalesceWindows<T, Payload>;

  std::optional<detail::DueThread<T, Payload, Windows>> windows_;
};

template <Item T, QueuePayload Payload>
void CoalescingQueue<T, Payload>::AddCoalesced(const T& item, AddOptions<Payload> options) {
  if (!windows_) return this->Add(item, std::move(options));
  const TimePoint now = this->clock().Now();
  const std::uint32_t hash = Windows::Hash(item, this);
  windows_->Add([&](Windows& windows) {
    return windows.Add(item, hash, now, options.priority.value_or(0), std::move(options.payload));
  });
}

template <Item T, QueuePayload Payload>
Snapshot<T, Payload> CoalescingQueue<T, Payload>::TakeSnapshot(std::size_t limit) {
  if (!windows_) return RateLimitingQueue<T, Payload>::TakeSnapshot(limit);
  const TimePoint now = this->clock().Now();
  Snapshot<T, Payload> snapshot;
  {
    auto waiting = windows_->Lock();                            // as in DelayingQueue::TakeSnapshot
    snapshot = DelayingQueue<T, Payload>::TakeSnapshot(limit);  // NOLINT: SetFailures follows
    waiting->FillSnapshot(snapshot, limit, now);
    snapshot.waiting_count += waiting->size();
  }
  std::ranges::stable_sort(snapshot.waiting, {}, [](const auto& entry) { return *entry.at; });
  if (snapshot.waiting.size() > limit) {
    snapshot.waiting.erase(snapshot.waiting.begin() + static_cast<std::ptrdiff_t>(limit),
                           snapshot.waiting.end());
  }
  this->SetFailures(snapshot);
  return snapshot;
}

}  // namespace kopp::workqueue
