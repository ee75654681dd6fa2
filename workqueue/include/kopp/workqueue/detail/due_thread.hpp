#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <new>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/detail/spin_guarded.hpp>
#include <kopp/workqueue/item.hpp>
#include <kopp/workqueue/snapshot.hpp>

namespace kopp::workqueue::detail {

/// Items that wait in a Schedule, which is a DelayHeap or CoalesceWindows, and the thread that adds
/// them to the queue when their time has come. Thread-safe. If adding an item throws on this
/// thread, or there is no memory, it is added about a second later. The destructor blocks until the
/// thread has ended.
template <Item T, QueuePayload Payload, typename Schedule>
class DueThread {
 public:
  using Items = std::vector<QueuedItem<T, Payload>>;
  /// Adds items to the queue and removes them from the vector. Those that remain are added again.
  using AddAll = std::function<void(Items&)>;

  struct Waiting {
    template <typename... Args>
    explicit Waiting(const Args&... args) : schedule(args...) {}

    [[nodiscard]] std::size_t size() const { return schedule.size() + due.size(); }
    /// Appends the first `limit` items to snapshot.waiting, the earliest first.
    void FillSnapshot(Snapshot<T, Payload>& snapshot, std::size_t limit, TimePoint now) const;
    [[nodiscard]] bool PopDue(TimePoint now) noexcept;

    Schedule schedule;
    // Items that were removed from the schedule and not added yet. AddAll changes the vector while
    // it holds the lock of the queue.
    Items due;
    bool stopped = false;
  };

  /// `clock` must outlive this object. Calls `add_all` on the thread, without holding its lock. The
  /// schedule is constructed from `args`.
  template <typename... Args>
  DueThread(Clock& clock, AddAll add_all, const Args&... args)
      : clock_(clock),
        add_all_(std::move(add_all)),
        waiting_(args...),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}
  ~DueThread() { Stop(); }
  DueThread(const DueThread&) = delete;
  DueThread& operator=(const DueThread&) = delete;

  /// Calls `add(schedule)` while it holds the lock; it returns whether the earliest time of the
  /// schedule has changed. Does nothing after Stop.
  template <typename F>
  void Add(F add) {
    bool is_first = false;
    {
      auto waiting = waiting_.Lock();
      if (waiting->stopped) return;
      is_first = add(waiting->schedule);
    }
    if (is_first) changed_.notify_one();
  }

  /// Makes the thread end, and removes all items. Does not block.
  void Stop();

  [[nodiscard]] typename kopp::detail::Guarded<Waiting>::Locked Lock() { return waiting_.Lock(); }

 private:
  // The minimum time between two batches of due items. Batches are cheaper, because waking a worker
  // costs more than adding an item.
  static constexpr Duration kBatchInterval = std::chrono::microseconds(250);
  static constexpr std::size_t kBatchSize = 64;
  // The time after which the thread tries again what has thrown.
  static constexpr Duration kRetryInterval = std::chrono::seconds(1);

  void Run(const std::stop_token& stop);
  [[nodiscard]] bool AddAllDue(Items& due) noexcept;

  Clock& clock_;
  const AddAll add_all_;
  SpinGuarded<Waiting> waiting_;
  std::condition_variable changed_;  // signals: the earliest time changed, or Stop was called
  std::jthread thread_;              // declared last, because it uses all other members
};

/// Moves items whose time has come to `due`. Returns false, and moves nothing, without memory.
template <Item T, QueuePayload Payload, typename Schedule>
bool DueThread<T, Payload, Schedule>::Waiting::PopDue(TimePoint now) noexcept {
  if (schedule.next() > now) return true;
  try {  // afterwards, nothing throws
    due.reserve(kBatchSize);
  } catch (const std::bad_alloc&) {
    return false;
  }
  while (due.size() < kBatchSize) {
    auto next = schedule.Pop(now);
    if (!next) break;
    due.push_back(std::move(*next));
  }
  return true;
}

template <Item T, QueuePayload Payload, typename Schedule>
void DueThread<T, Payload, Schedule>::Waiting::FillSnapshot(Snapshot<T, Payload>& snapshot,
                                                            std::size_t limit,
                                                            TimePoint now) const {
  const auto add = [&](const T& item, TimePoint ready_at, int priority, const Payload& payload) {
    snapshot.waiting.push_back(
        {.item = item, .priority = priority, .at = ready_at, .payload = payload});
  };
  const std::size_t due_count = std::min(limit, due.size());
  for (std::size_t i = 0; i < due_count; ++i) {
    add(due[i].item, now, due[i].priority, due[i].payload);
  }
  schedule.ForEarliest(limit - due_count, add);
}

/// Returns whether all items were added. Those that were not are still in `due`.
template <Item T, QueuePayload Payload, typename Schedule>
bool DueThread<T, Payload, Schedule>::AddAllDue(Items& due) noexcept {
  try {
    add_all_(due);
    return due.empty();
  } catch (...) {
    return false;
  }
}

template <Item T, QueuePayload Payload, typename Schedule>
void DueThread<T, Payload, Schedule>::Run(const std::stop_token& stop) {
  TimePoint not_before = TimePoint::min();
  TimePoint retry_at = TimePoint::min();
  auto waiting = waiting_.Lock();
  while (!stop.stop_requested()) {
    const TimePoint now = clock_.Now();
    if (now < retry_at) {
      clock_.WaitUntil(waiting.lock(), changed_, retry_at);
      continue;
    }
    if (!waiting->PopDue(now)) {
      retry_at = SaturatingAdd(now, kRetryInterval);
      continue;
    }
    if (waiting->due.empty()) {
      clock_.WaitUntil(waiting.lock(), changed_, std::max(waiting->schedule.next(), not_before));
      continue;
    }
    auto& due = waiting->due;
    waiting.lock().unlock();
    if (!AddAllDue(due)) retry_at = SaturatingAdd(now, kRetryInterval);
    not_before = SaturatingAdd(now, kBatchInterval);
    waiting.lock().lock();
  }
}

template <Item T, QueuePayload Payload, typename Schedule>
void DueThread<T, Payload, Schedule>::Stop() {
  thread_.request_stop();
  auto waiting = waiting_.Lock();
  waiting->stopped = true;
  waiting->schedule.Clear();
  changed_.notify_one();
}

}  // namespace kopp::workqueue::detail
