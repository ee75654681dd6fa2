#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <kopp/workqueue/due_heap.hpp>
#include <kopp/workqueue/queue.hpp>

namespace kopp::workqueue {

/// A Queue to which items can be added later: AddAfter.
///
/// One thread of its own waits for the earliest moment; it ends with ShutDown, with
/// ShutDownWithDrain and with the queue, at once. What still waits for its moment then is dropped.
template <Item T>
class DelayingQueue : public Queue<T> {
 public:
  explicit DelayingQueue(QueueOptions options = {})
      : Queue<T>(std::move(options)),
        waiter_([this](const std::stop_token& stop) { Wait(stop); }) {}
  ~DelayingQueue() override { StopWaiting(); }

  /// Adds `item` once `delay` has passed: at once where it is zero or less, and up to 250 µs late
  /// where many moments are near each other. For an item that waits already the earlier moment
  /// stands, and the higher priority. Does nothing once the queue is shutting down.
  ///
  /// Without a `priority` an item in hand comes back with the one that it was handed out with.
  ///
  /// An Add in between cancels nothing: a wake-up that was asked for comes, and a run too many does
  /// no harm. controller-runtime: an Add takes the place of the wake-up.
  void AddAfter(const T& item, Duration delay, std::optional<int> priority = {});

  void ShutDown() override {
    StopWaiting();
    Queue<T>::ShutDown();
  }
  void ShutDownWithDrain() override {
    StopWaiting();
    Queue<T>::ShutDownWithDrain();
  }

  [[nodiscard]] Snapshot<T> TakeSnapshot(
      std::size_t limit = std::numeric_limits<std::size_t>::max()) override;

 private:
  struct Waiting {
    DueHeap<T> heap;
    std::vector<Prioritized<T>> moving;  // due, on their way; AddAll empties it under its own lock
    bool stopped = false;
  };

  // After some items became ready, others wait for this at least, so that they come together: a
  // wake-up costs more than an item.
  static constexpr Duration kGap = std::chrono::microseconds(250);

  void Wait(const std::stop_token& stop);
  void StopWaiting();

  Guarded<Waiting> waiting_;
  std::condition_variable changed_;  // an earlier moment, or the end
  std::jthread waiter_;              // last: it uses everything above
};

template <Item T>
void DelayingQueue<T>::AddAfter(const T& item, Duration delay, std::optional<int> priority) {
  if (this->instruments() != nullptr && !this->ShuttingDown()) this->instruments()->Retried();
  const int wanted = priority ? *priority : this->PriorityOfRequeue(item);
  if (delay <= Duration::zero()) return this->Add(item, wanted);
  const TimePoint at = After(this->clock().Now(), delay);
  const std::uint32_t hash = DueHeap<T>::Hash(item, this);
  bool earlier = false;
  {
    auto waiting = waiting_.Lock();
    if (waiting->stopped) return;
    earlier = waiting->heap.Add(item, hash, at, wanted);
  }
  if (earlier) changed_.notify_one();
}

template <Item T>
void DelayingQueue<T>::Wait(const std::stop_token& stop) {
  constexpr std::size_t kAtOnce = 64;  // moved with one lock of each kind
  TimePoint not_before = TimePoint::min();
  auto waiting = waiting_.Lock();
  while (!stop.stop_requested()) {
    const TimePoint now = this->clock().Now();
    while (waiting->heap.next() <= now && waiting->moving.size() < kAtOnce) {
      waiting->moving.push_back(waiting->heap.PopFront());
    }
    if (waiting->moving.empty()) {
      this->clock().WaitUntil(waiting.lock(), changed_, std::max(waiting->heap.next(), not_before));
      continue;
    }
    auto& moving = waiting->moving;
    waiting.lock().unlock();
    this->AddAll(moving);
    not_before = After(now, kGap);
    waiting.lock().lock();
  }
}

template <Item T>
void DelayingQueue<T>::StopWaiting() {
  waiter_.request_stop();
  auto waiting = waiting_.Lock();
  waiting->stopped = true;
  waiting->heap.Clear();
  changed_.notify_one();
}

template <Item T>
Snapshot<T> DelayingQueue<T>::TakeSnapshot(std::size_t limit) {
  const TimePoint now = this->clock().Now();
  // The one place that holds two locks: together they make one moment, at which no item is between
  // waiting and ready.
  auto waiting = waiting_.Lock();
  return this->TakeSnapshotAnd(limit, [&](Snapshot<T>& snapshot) {
    const auto add = [&](const T& item, TimePoint at, int priority) {
      snapshot.waiting.push_back({.item = item, .priority = priority, .at = at});
    };
    const std::size_t moving = std::min(limit, waiting->moving.size());
    for (std::size_t i = 0; i < moving; ++i) {
      add(waiting->moving[i].item, now, waiting->moving[i].priority);
    }
    waiting->heap.ForEarliest(limit - moving, add);
    snapshot.waiting_count = waiting->heap.size() + waiting->moving.size();
  });
}

}  // namespace kopp::workqueue
