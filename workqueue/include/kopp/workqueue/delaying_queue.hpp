#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <kopp/workqueue/detail/delay_heap.hpp>
#include <kopp/workqueue/detail/due_thread.hpp>
#include <kopp/workqueue/queue.hpp>

namespace kopp::workqueue {

/// A Queue with delayed items. AddAfter adds an item after a delay. Thread-safe.
///
/// The queue owns one thread, which waits until the earliest delay has passed. ShutDown,
/// ShutDownWithDrain and the destructor stop this thread immediately and drop the items that are
/// still waiting. If hashing or comparing an item throws on this thread, or there is no memory, the
/// item is added about a second later.
template <Item T, QueuePayload Payload>
class DelayingQueue : public Queue<T, Payload> {
 public:
  explicit DelayingQueue(QueueOptions options = {})
      : Queue<T, Payload>(std::move(options)),
        delays_(this->clock(), [this](auto& items) { this->AddAll(items); }) {}

  /// Adds `item` when `delay` has passed, or immediately if `delay` is zero or negative. The item
  /// can be up to 250 µs late if another item became ready just before it. If the item is already
  /// waiting, the earlier time and the higher priority apply, and the payloads are merged. Does
  /// nothing if the queue is shutting down.
  ///
  /// An Add does not cancel a pending AddAfter: the item is then processed once more than
  /// necessary, which is harmless. In controller-runtime, an Add replaces the pending AddAfter.
  void AddAfter(const T& item, Duration delay, AddOptions<Payload> options = {});

  void ShutDown() override {
    delays_.Stop();
    Queue<T, Payload>::ShutDown();
  }
  void ShutDownWithDrain() override {
    delays_.Stop();
    Queue<T, Payload>::ShutDownWithDrain();
  }

  [[nodiscard]] Snapshot<T, Payload> TakeSnapshot(
      std::size_t limit = std::numeric_limits<std::size_t>::max()) override;

 private:
  using Heap = detail::DelayHeap<T, Payload>;

  detail::DueThread<T, Payload, Heap> delays_;
};

template <Item T, QueuePayload Payload>
void DelayingQueue<T, Payload>::AddAfter(const T& item, Duration delay,
                                         AddOptions<Payload> options) {
  if (this->metrics().enabled() && !this->ShuttingDown()) this->metrics().IncRetries();
  if (!options.priority) options.priority = this->RequeuePriority(item);
  if (delay <= Duration::zero()) return this->Add(item, std::move(options));
  const TimePoint ready_at = SaturatingAdd(this->clock().Now(), delay);
  const std::uint32_t hash = Heap::Hash(item, this);
  delays_.Add([&](Heap& heap) {
    return heap.Add(item, hash, ready_at, *options.priority, std::move(options.payload));
  });
}

template <Item T, QueuePayload Payload>
Snapshot<T, Payload> DelayingQueue<T, Payload>::TakeSnapshot(std::size_t limit) {
  const TimePoint now = this->clock().Now();
  // Only snapshots hold two locks. So they contain an item exactly once while it moves from waiting
  // to ready.
  auto waiting = delays_.Lock();
  return this->TakeSnapshotWith(limit, [&](Snapshot<T, Payload>& snapshot) {
    waiting->FillSnapshot(snapshot, limit, now);
    snapshot.waiting_count = waiting->size();
  });
}

}  // namespace kopp::workqueue
