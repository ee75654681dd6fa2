#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <kopp/workqueue/detail/coalesce_windows.hpp>
#include <kopp/workqueue/detail/delay_heap.hpp>
#include <kopp/workqueue/queue.hpp>

namespace kopp::workqueue {

/// A Queue with delayed items. AddAfter adds an item after a delay. Thread-safe.
///
/// The queue owns one thread, which waits until the earliest delay has passed. ShutDown,
/// ShutDownWithDrain and the destructor stop this thread immediately and drop the items that are
/// still waiting. If hashing or comparing an item throws on this thread, or there is no memory, the
/// item is added about a second later; without memory, its note may be lost.
template <Item T>
class DelayingQueue : public Queue<T> {
 public:
  explicit DelayingQueue(QueueOptions options = {})
      : Queue<T>(std::move(options)), thread_([this](const std::stop_token& stop) { Run(stop); }) {}
  ~DelayingQueue() override { Stop(); }

  /// Adds `item` when `delay` has passed, or immediately if `delay` is zero or negative. The item
  /// can be up to 250 µs late if another item became ready just before it. If the item is already
  /// waiting, the earlier time and the higher priority apply. Does nothing if the queue is shutting
  /// down.
  ///
  /// If `priority` is not set, an item that is being processed keeps the priority with which Get
  /// returned it; any other item has the priority 0.
  ///
  /// A delayed item does not supersede itself in processing, see Queue::IsSuperseded.
  ///
  /// An Add does not cancel a pending AddAfter: the item is then processed once more than
  /// necessary, which is harmless. In controller-runtime, an Add replaces the pending AddAfter.
  void AddAfter(const T& item, Duration delay, std::optional<int> priority = {},
                std::unique_ptr<Note> note = {});

  /// Adds `item` when its adds have been quiet for QueueOptions::coalesce, or immediately without
  /// that option. The highest priority of the coalesced adds applies. Neither Add nor AddAfter is
  /// coalesced: a retry waits for its own delay only. Does nothing if the queue is shutting down.
  /// `supersedes`: see Queue::IsSuperseded, which becomes true when the item is added.
  void AddCoalesced(const T& item, int priority = 0, std::unique_ptr<Note> note = {},
                    bool supersedes = true);

  void ShutDown() override {
    Stop();
    Queue<T>::ShutDown();
  }
  void ShutDownWithDrain() override {
    Stop();
    Queue<T>::ShutDownWithDrain();
  }

  [[nodiscard]] Snapshot<T> TakeSnapshot(
      std::size_t limit = std::numeric_limits<std::size_t>::max()) override;

 private:
  using DueItem = typename Queue<T>::DueItem;

  struct Waiting {
    detail::DelayHeap<T> heap;
    std::unique_ptr<detail::CoalesceWindows<T>> windows;  // null until the first AddCoalesced
    // Items that were removed from the heap or the windows and not added yet. AddAll changes the
    // vectors while it holds the lock of the queue.
    std::vector<DueItem> due;
    std::vector<std::unique_ptr<Note>> due_notes;  // of the items in `due`; may be shorter

    [[nodiscard]] TimePoint next() const {
      return windows ? std::min(heap.next(), windows->next()) : heap.next();
    }
    [[nodiscard]] bool PopDue(TimePoint now) noexcept;
    void AddDue(DueItem item, std::unique_ptr<Note> note);
    bool stopped = false;
  };

  // The minimum time between two batches of due items. Batches are cheaper, because waking a worker
  // costs more than adding an item.
  static constexpr Duration kBatchInterval = std::chrono::microseconds(250);

  static constexpr std::size_t kBatchSize = 64;

  // The time after which the thread tries again what has thrown.
  static constexpr Duration kRetryInterval = std::chrono::seconds(1);

  void Run(const std::stop_token& stop);
  [[nodiscard]] bool AddAllDue(std::vector<DueItem>& due,
                               std::vector<std::unique_ptr<Note>>& due_notes) noexcept;
  void Stop();

  Guarded<Waiting> waiting_;
  std::condition_variable changed_;  // signals: the earliest time changed, or Stop was called
  std::jthread thread_;              // declared last, because it uses all other members
};

template <Item T>
void DelayingQueue<T>::AddAfter(const T& item, Duration delay, std::optional<int> priority,
                                std::unique_ptr<Note> note) {
  if (this->metrics().enabled() && !this->ShuttingDown()) this->metrics().IncRetries();
  const int new_priority = priority ? *priority : this->RequeuePriority(item);
  if (delay <= Duration::zero()) return this->Add(item, new_priority, std::move(note), false);
  const TimePoint ready_at = After(this->clock().Now(), delay);
  const std::uint32_t hash = detail::DelayHeap<T>::Hash(item, this);
  bool is_first = false;
  {
    auto waiting = waiting_.Lock();
    if (waiting->stopped) return;
    is_first = waiting->heap.Add(item, hash, ready_at, new_priority, std::move(note));
  }
  if (is_first) changed_.notify_one();
}

template <Item T>
void DelayingQueue<T>::AddCoalesced(const T& item, int priority, std::unique_ptr<Note> note,
                                    bool supersedes) {
  if (!this->coalesce().enabled()) return this->Add(item, priority, std::move(note), supersedes);
  using Windows = detail::CoalesceWindows<T>;
  const TimePoint now = this->clock().Now();
  const std::uint32_t hash = Windows::Hash(item, this);
  bool is_first = false;
  {
    auto waiting = waiting_.Lock();
    if (waiting->stopped) return;
    if (!waiting->windows) waiting->windows = std::make_unique<Windows>(this->coalesce());
    is_first = waiting->windows->Add(item, hash, now, priority, std::move(note), supersedes);
  }
  if (is_first) changed_.notify_one();
}

/// Moves items whose time has come to `due`. Returns false, and moves nothing, without memory.
template <Item T>
bool DelayingQueue<T>::Waiting::PopDue(TimePoint now) noexcept {
  if (next() > now) return true;
  try {  // afterwards, nothing throws
    due.reserve(kBatchSize);
    due_notes.reserve(kBatchSize);
  } catch (const std::bad_alloc&) {
    return false;
  }
  while (heap.next() <= now && due.size() < kBatchSize) {
    std::unique_ptr<Note> note = heap.TakeFrontNote();
    Prioritized<T> front = heap.PopFront();
    AddDue({std::move(front.item), front.priority}, std::move(note));
  }
  while (windows && due.size() < kBatchSize) {
    auto next = windows->Pop(now);
    if (!next) break;
    AddDue({std::move(next->item), next->priority, next->supersedes}, std::move(next->note));
  }
  return true;
}

template <Item T>
void DelayingQueue<T>::Waiting::AddDue(DueItem item, std::unique_ptr<Note> note) {
  due.push_back(std::move(item));
  if (!note) return;
  due_notes.resize(due.size());
  due_notes.back() = std::move(note);
}

/// Returns whether all items were added. Those that were not are still in `due`.
template <Item T>
bool DelayingQueue<T>::AddAllDue(std::vector<DueItem>& due,
                                 std::vector<std::unique_ptr<Note>>& due_notes) noexcept {
  try {
    this->AddAll(due, due_notes);
    return due.empty();
  } catch (...) {
    return false;
  }
}

template <Item T>
void DelayingQueue<T>::Run(const std::stop_token& stop) {
  TimePoint not_before = TimePoint::min();
  TimePoint retry_at = TimePoint::min();
  auto waiting = waiting_.Lock();
  while (!stop.stop_requested()) {
    const TimePoint now = this->clock().Now();
    if (now < retry_at) {
      this->clock().WaitUntil(waiting.lock(), changed_, retry_at);
      continue;
    }
    if (!waiting->PopDue(now)) {
      retry_at = After(now, kRetryInterval);
      continue;
    }
    if (waiting->due.empty()) {
      this->clock().WaitUntil(waiting.lock(), changed_, std::max(waiting->next(), not_before));
      continue;
    }
    auto& due = waiting->due;
    auto& due_notes = waiting->due_notes;
    waiting.lock().unlock();
    if (!AddAllDue(due, due_notes)) retry_at = After(now, kRetryInterval);
    not_before = After(now, kBatchInterval);
    waiting.lock().lock();
  }
}

template <Item T>
void DelayingQueue<T>::Stop() {
  thread_.request_stop();
  auto waiting = waiting_.Lock();
  waiting->stopped = true;
  waiting->heap.Clear();
  waiting->windows.reset();
  changed_.notify_one();
}

template <Item T>
Snapshot<T> DelayingQueue<T>::TakeSnapshot(std::size_t limit) {
  const TimePoint now = this->clock().Now();
  // This is the only place that holds two locks. So the snapshot contains an item exactly once
  // while it moves from waiting to ready.
  auto waiting = waiting_.Lock();
  return this->TakeSnapshotWith(limit, [&](Snapshot<T>& snapshot) {
    const auto add = [&](const T& item, TimePoint ready_at, int priority,
                         std::unique_ptr<Note> note) {
      snapshot.waiting.push_back(
          {.item = item, .priority = priority, .at = ready_at, .note = std::move(note)});
    };
    const auto& due = waiting->due;
    const std::size_t due_count = std::min(limit, due.size());
    for (std::size_t i = 0; i < due_count; ++i) add(due[i].item, now, due[i].priority, {});
    waiting->heap.ForEarliest(limit - due_count, add);
    snapshot.waiting_count = waiting->heap.size() + due.size();
    if (!waiting->windows) return;
    waiting->windows->ForEarliest(limit, add);
    snapshot.waiting_count += waiting->windows->size();
    std::ranges::stable_sort(snapshot.waiting, {}, [](const auto& entry) { return *entry.at; });
    if (snapshot.waiting.size() <= limit) return;
    const auto end = snapshot.waiting.begin() + static_cast<std::ptrdiff_t>(limit);
    snapshot.waiting.erase(end, snapshot.waiting.end());
  });
}

}  // namespace kopp::workqueue
