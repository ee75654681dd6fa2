#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

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

  /// Adds `item` once `delay` has passed: at once where it is zero or less. For an item that waits
  /// already the earlier moment stands. Does nothing once the queue is shutting down.
  ///
  /// An Add in between cancels nothing: a wake-up that was asked for comes, and a run too many does
  /// no harm.
  void AddAfter(const T& item, Duration delay);

  void ShutDown() override {
    StopWaiting();
    Queue<T>::ShutDown();
  }
  void ShutDownWithDrain() override {
    StopWaiting();
    Queue<T>::ShutDownWithDrain();
  }

 private:
  struct Moment {
    TimePoint at;
    std::uint64_t order = 0;  // among equals, first asked is first added
    auto operator<=>(const Moment&) const = default;
  };
  struct Waiting {
    std::unordered_map<T, Moment> moments;
    std::map<Moment, const T*> by_time;  // exactly the items of `moments`
    std::uint64_t orders = 0;
    bool stopped = false;
  };

  void Wait(const std::stop_token& stop);
  static std::vector<T> TakeReady(Waiting& waiting, TimePoint now);
  void StopWaiting();

  Guarded<Waiting> waiting_;
  std::condition_variable changed_;  // an earlier moment, or the end
  std::jthread waiter_;              // last: it uses everything above
};

template <Item T>
void DelayingQueue<T>::AddAfter(const T& item, Duration delay) {
  if (delay <= Duration::zero()) return this->Add(item);
  const TimePoint at = After(this->clock().Now(), delay);

  auto waiting = waiting_.Lock();
  if (waiting->stopped) return;
  const Moment moment{at, waiting->orders++};
  const auto [known, is_new] = waiting->moments.try_emplace(item, moment);
  if (!is_new) {
    if (known->second.at <= at) return;
    waiting->by_time.erase(known->second);
    known->second = moment;
  }
  waiting->by_time.emplace(moment, &known->first);
  if (waiting->by_time.begin()->first == moment) changed_.notify_one();
}

template <Item T>
void DelayingQueue<T>::Wait(const std::stop_token& stop) {
  auto waiting = waiting_.Lock();
  while (!stop.stop_requested()) {
    const std::vector<T> ready = TakeReady(*waiting, this->clock().Now());
    if (!ready.empty()) {
      waiting.lock().unlock();
      for (const T& item : ready) this->Add(item);
      waiting.lock().lock();
      continue;
    }
    const auto& by_time = waiting->by_time;
    const TimePoint next = by_time.empty() ? TimePoint::max() : by_time.begin()->first.at;
    this->clock().WaitUntil(waiting.lock(), changed_, next);
  }
}

template <Item T>
std::vector<T> DelayingQueue<T>::TakeReady(Waiting& waiting, TimePoint now) {
  std::vector<T> ready;
  while (!waiting.by_time.empty() && waiting.by_time.begin()->first.at <= now) {
    const auto earliest = waiting.by_time.begin();
    ready.push_back(*earliest->second);
    waiting.moments.erase(ready.back());
    waiting.by_time.erase(earliest);
  }
  return ready;
}

template <Item T>
void DelayingQueue<T>::StopWaiting() {
  waiter_.request_stop();
  auto waiting = waiting_.Lock();
  waiting->stopped = true;
  waiting->by_time.clear();
  waiting->moments.clear();
  changed_.notify_one();
}

}  // namespace kopp::workqueue
