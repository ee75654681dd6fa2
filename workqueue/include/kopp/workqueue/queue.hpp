#pragma once

#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/detail/queue_metrics.hpp>
#include <kopp/workqueue/detail/queue_state.hpp>
#include <kopp/workqueue/detail/spin_guarded.hpp>
#include <kopp/workqueue/detail/worker_waiter.hpp>
#include <kopp/workqueue/fwd.hpp>
#include <kopp/workqueue/order.hpp>
#include <kopp/workqueue/snapshot.hpp>

namespace kopp::workqueue {

/// Options of a Queue. The queue does not own the clock and the metrics provider.
struct QueueOptions {
  std::string name = {};               ///< the name in the metrics; if empty, `metrics` is ignored
  Clock& clock = Clock::Real();        ///< must outlive the queue
  MetricsProvider* metrics = nullptr;  ///< null: no metrics; must outlive the queue
  Order order = {};                    ///< the default is first in, first out
  bool track_times = false;  ///< whether snapshots contain times; always true with metrics
};

/// Options of the functions that add an item.
///
///     queue.Add(item, {.priority = 10});
template <QueuePayload Payload = NoPayload>
struct AddOptions {
  /// A larger priority is higher. It is ignored unless the order has priorities. The default is 0.
  /// For a delayed add, the default is the priority with which Get returned the item if it is being
  /// processed, otherwise 0.
  std::optional<int> priority = {};
  [[no_unique_address]] Payload payload = {};  ///< data about this add; see QueuePayload
};

/// A queue of items to be processed, for many producers and many workers.
///
/// - **Ordered**: Get returns items in the order in which they were added, or in another Order.
/// - **Deduplicated**: an item that is added several times before Get is returned once.
/// - **Exclusive**: an item is processed by at most one worker at a time. If it is added while it
///   is being processed, Done makes it ready again, behind the items that are already ready. Get
///   then returns it once more.
///
/// Thread-safe. Only Get, GetWithPriority and ShutDownWithDrain wait for other threads. The
/// destructor does not wake blocked calls: call ShutDown and join the workers before you destroy
/// the queue.
///
/// The queue calls user code (the functions of a FairShare, metrics, rate limiters) without holding
/// its lock, so that code may call the queue. It copies, compares and destroys items and reads the
/// clock while it holds its lock. Growing to a million items holds the lock for some milliseconds.
///
/// If copying, hashing or comparing an item throws, the call throws the same exception and the
/// contents of the queue are unchanged. Running out of memory can terminate the process.
///
///     while (const auto item = queue.Get()) {
///       const DoneGuard done{queue, *item};
///       Work(*item);
///     }
///
/// `Payload` is the type of data about the adds of an item; see QueuePayload. By default there is
/// none.
template <Item T, QueuePayload Payload>
class Queue {  // NOLINT(clang-analyzer-optin.performance.Padding): state_ has its own cache lines
 public:
  /// Propagates exceptions of options.metrics. Throws std::invalid_argument if options.order is a
  /// fair order for another type of item.
  explicit Queue(QueueOptions options = {});
  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Adds an item. Does nothing if the queue is shutting down.
  void Add(const T& item) { AddOne(item, 0, Payload{}); }
  void Add(T&& item) { AddOne(std::move(item), 0, Payload{}); }
  void Add(const T& item, AddOptions<Payload> options) {
    AddOne(item, options.priority.value_or(0), std::move(options.payload));
  }
  void Add(T&& item, AddOptions<Payload> options) {
    AddOne(std::move(item), options.priority.value_or(0), std::move(options.payload));
  }

  /// Blocks until an item is ready and returns it; the caller must call Done for it. After ShutDown
  /// or ShutDownWithDrain it does not block: it returns the items that are ready, then nullopt,
  /// even if other items are still being processed.
  [[nodiscard]] std::optional<T> Get() { return Get(std::stop_token{}); }

  /// Like Get(), but returns nullopt as soon as `stop` is requested, even if items are ready.
  [[nodiscard]] std::optional<T> Get(const std::stop_token& stop);

  /// Like Get(stop), but also returns the priority and the payload of the item and how long it
  /// waited.
  [[nodiscard]] std::optional<QueuedItem<T, Payload>> GetWithPriority(
      const std::stop_token& stop = {});

  /// Marks an item from Get as processed. If the item is not being processed, the call has no
  /// effect, except that Snapshot::stray_dones counts it. client-go, in contrast, queues a ready
  /// item a second time, so two workers can process it at once.
  void Done(const T& item);

  /// Returns whether an item in processing was added again, so that Get will return it once more,
  /// and `matches(payload)` is true for the payload of these adds. Returns false for an item that
  /// is not in processing. Calls `matches` while it holds the lock.
  template <std::predicate<const Payload&> F>
  [[nodiscard]] bool WasAddedAgain(const T& item, F matches) {
    const std::uint32_t hash = Items::Hash(item, this);
    auto state = state_.Lock();
    const Payload* payload = state->items.PayloadInProcessing(item, hash);
    return payload != nullptr && matches(*payload);
  }
  /// Sets a function that is called after each add of an item in processing, on the thread that
  /// adds it, without holding a lock. Its call may be late: the item may be done or returned once
  /// more by then; see WasAddedAgain. Call it before the first Add. The function must not throw. It
  /// must not block, because it delays the thread that adds the item.
  void OnAddedAgain(std::function<void(const T&)> function) {
    on_added_again_ = std::move(function);
  }

  /// Returns the number of ready items; items in processing are not counted.
  [[nodiscard]] std::size_t Len() { return state_.Lock()->items.ready(); }

  /// Makes the queue ignore new items, and unblocks all calls of Get and ShutDownWithDrain. Get
  /// still returns the queued items. You can call it several times.
  virtual void ShutDown();

  /// Makes the queue ignore new items, and blocks until no item is queued or in processing, or
  /// until ShutDown is called. It blocks until ShutDown if a worker never calls Done for an item.
  /// Any number of threads may drain concurrently. client-go, in contrast, can return while items
  /// are still queued, and wakes only one of several callers.
  virtual void ShutDownWithDrain();

  /// Returns whether ShutDown or ShutDownWithDrain has been called.
  [[nodiscard]] bool ShuttingDown() { return state_.Lock()->shutting_down; }
  [[nodiscard]] const std::string& name() const { return options_.name; }

  /// Returns a copy of the contents of the queue: at most `limit` entries in each list of the
  /// Snapshot. Holds the lock while it copies the entries.
  [[nodiscard]] virtual Snapshot<T, Payload> TakeSnapshot(
      std::size_t limit = std::numeric_limits<std::size_t>::max());

 protected:
  [[nodiscard]] Clock& clock() const { return options_.clock; }
  [[nodiscard]] detail::QueueMetrics& metrics() { return metrics_; }
  /// Adds all `items` in one critical section, and removes them from `items` before it releases the
  /// lock. Those whose hash or comparison throws, or that do not fit into memory, remain.
  void AddAll(std::vector<QueuedItem<T, Payload>>& items);
  /// Like TakeSnapshot, but calls `add_entries(snapshot)` before it releases the lock.
  template <typename F>
  Snapshot<T, Payload> TakeSnapshotWith(std::size_t limit, F add_entries);
  /// Returns the default priority for adding `item` again: if the item is being processed, the
  /// priority with which Get returned it; otherwise 0.
  [[nodiscard]] int RequeuePriority(const T& item);

 private:
  using Items = detail::QueueState<T, Payload>;
  struct State {
    State(bool by_priority, bool track_times) : items(by_priority, track_times) {}

    bool shutting_down = false;
    Items items;
    // The number of ShutDown calls. Each call unblocks the current callers of ShutDownWithDrain.
    std::uint64_t shutdowns = 0;
  };
  using LockedState = typename kopp::detail::Guarded<State>::Locked;

  // The state of one Add. PrepareAdd computes the hash and the rank without the lock,
  // QueueState::Add runs with the lock, and UpdateAddMetrics runs without the lock.
  struct AddOperation {
    std::uint32_t hash;
    int priority;
    std::optional<detail::Rank> rank;  // nullopt if the order has no priorities
    typename Items::AddResult result = Items::AddResult::kAlreadyReady;
    int raised_from = 0;  // the previous priority if the result is kRaised

    [[nodiscard]] bool is_processing() const {
      return result == Items::AddResult::kBecameDirty || result == Items::AddResult::kAlreadyDirty;
    }
  };
  [[nodiscard]] AddOperation PrepareAdd(const T& item, int priority) const {
    return {Items::Hash(item, this), priority, RankOf(item, priority)};
  }
  [[nodiscard]] std::optional<AddOperation> TryPrepareAdd(
      const QueuedItem<T, Payload>& item) const noexcept {
    try {
      return PrepareAdd(item.item, item.priority);
    } catch (...) {
      return std::nullopt;
    }
  }
  void UpdateAddMetrics(const AddOperation& operation);

  static QueueOptions Normalized(QueueOptions options) {
    if (options.name.empty()) options.metrics = nullptr;
    if (options.metrics != nullptr) options.track_times = true;
    return options;
  }
  template <typename U>
  void AddOne(U&& item, int priority, Payload&& payload);
  [[nodiscard]] std::optional<detail::Rank> RankOf(const T& item, int priority) const {
    return options_.order.by_priority() ? std::optional(RankByPriority(item, priority))
                                        : std::nullopt;
  }
  [[nodiscard]] detail::Rank RankByPriority(const T& item, int priority) const;
  [[nodiscard]] TimePoint Now() const { return options_.track_times ? clock().Now() : TimePoint{}; }
  static bool GetMayReturn(const State& state, const std::stop_token& stop) {
    return state.items.ready() > 0 || state.shutting_down || stop.stop_requested();
  }
  std::optional<QueuedItem<T, Payload>> GetAndUnlock(LockedState& state,
                                                     const std::stop_token& stop);
  void UnlockAndWakeWorker(LockedState& state);

  const QueueOptions options_;
  const FairShare<T> share_;  // empty unless the order is fair
  std::function<void(const T&)> on_added_again_;
  alignas(64) detail::SpinGuarded<State> state_;  // not in cache lines of members without a lock
  detail::WorkerWaiter workers_;                  // guarded by state_
  std::condition_variable drained_;  // signals: no item is queued or in processing, or ShutDown
  // Declared last, so that it is destroyed first: the metrics read state_ until then.
  detail::QueueMetrics metrics_;
};

/// Calls Done at the end of its scope, also if an exception leaves the scope. The queue and the
/// item must outlive the guard.
template <Item T, QueuePayload Payload = NoPayload>
class [[nodiscard]] DoneGuard {
 public:
  DoneGuard(Queue<T, Payload>& queue, const T& item) : queue_(queue), item_(item) {}
  ~DoneGuard() { queue_.Done(item_); }
  DoneGuard(const DoneGuard&) = delete;
  DoneGuard& operator=(const DoneGuard&) = delete;

 private:
  Queue<T, Payload>& queue_;
  const T& item_;
};

template <Item T, QueuePayload Payload>
Queue<T, Payload>::Queue(QueueOptions options)
    : options_(Normalized(std::move(options))),
      share_(options_.order.template ShareFor<T>()),
      state_(options_.order.by_priority(), options_.track_times),
      metrics_(
          options_.metrics, options_.name, options_.order.by_priority(),
          [this] { return state_.Lock()->items.times().UnfinishedSeconds(Now()); },
          [this] { return state_.Lock()->items.times().LongestSeconds(Now()); }) {}

template <Item T, QueuePayload Payload>
template <typename U>
void Queue<T, Payload>::AddOne(U&& item, int priority, Payload&& payload) {
  AddOperation operation = PrepareAdd(item, priority);
  const TimePoint now = Now();
  {
    auto state = state_.Lock();
    if (state->shutting_down) return;
    operation.result = state->items.Add(std::forward<U>(item), operation.hash, operation.rank, now,
                                        std::move(payload), operation.raised_from);
    if (operation.result == Items::AddResult::kBecameReady) UnlockAndWakeWorker(state);
  }
  UpdateAddMetrics(operation);
  // The queue had the item, so Add has not moved from it.
  if (operation.is_processing() && on_added_again_) on_added_again_(item);  // NOLINT
}

template <Item T, QueuePayload Payload>
void Queue<T, Payload>::AddAll(std::vector<QueuedItem<T, Payload>>& items) {
  std::vector<std::optional<AddOperation>> operations;  // nullopt: the item remains
  operations.reserve(items.size());
  for (const auto& each : items) operations.push_back(TryPrepareAdd(each));
  const TimePoint now = Now();
  std::vector<T> added_again;
  if (on_added_again_) added_again.reserve(items.size());
  {
    auto state = state_.Lock();
    for (std::size_t i = 0; i < items.size() && !state->shutting_down; ++i) {
      if (!operations[i]) continue;
      AddOperation& operation = *operations[i];
      T& item = items[i].item;
      try {
        operation.result = state->items.Add(std::move(item), operation.hash, operation.rank, now,
                                            std::move(items[i].payload), operation.raised_from);
      } catch (...) {
        operations[i].reset();
        continue;
      }
      // The queue had the item, so Add has not moved from it.
      if (!operation.is_processing() || !on_added_again_) continue;
      added_again.push_back(std::move(item));  // NOLINT(bugprone-use-after-move)
    }
    if (state->shutting_down) items.clear();
    auto operation = operations.begin();
    std::erase_if(items, [&](const auto&) { return (operation++)->has_value(); });
    UnlockAndWakeWorker(state);
  }
  for (const auto& operation : operations) {
    if (operation) UpdateAddMetrics(*operation);
  }
  for (const T& item : added_again) on_added_again_(item);
}

template <Item T, QueuePayload Payload>
void Queue<T, Payload>::UpdateAddMetrics(const AddOperation& operation) {
  using Result = typename Items::AddResult;
  if (!metrics_.enabled()) return;
  const Result result = operation.result;
  if (result == Result::kBecameReady || result == Result::kBecameDirty) metrics_.IncAdds();
  if (result == Result::kRaised) metrics_.DecDepth(operation.raised_from);
  if (result == Result::kBecameReady || result == Result::kRaised) {
    metrics_.IncDepth(operation.priority);
  }
}

template <Item T, QueuePayload Payload>
std::optional<T> Queue<T, Payload>::Get(const std::stop_token& stop) {
  auto next = GetWithPriority(stop);
  if (!next) return std::nullopt;
  return std::move(next->item);
}

template <Item T, QueuePayload Payload>
std::optional<QueuedItem<T, Payload>> Queue<T, Payload>::GetWithPriority(
    const std::stop_token& stop) {
  {
    auto state = state_.Lock();
    if (GetMayReturn(*state, stop)) return GetAndUnlock(state, stop);
  }
  // Construct and destroy `wake` without the lock: the callback acquires the lock, and the
  // destructor blocks until the callback has returned.
  const std::stop_callback wake(stop, [this] {
    // After this, a worker that checked the stop token too early is waiting, so NotifyAll wakes it.
    { auto state = state_.Lock(); }
    workers_.NotifyAll();
  });
  auto state = state_.Lock();
  workers_.Wait(state.lock(), [&] { return GetMayReturn(*state, stop); });
  return GetAndUnlock(state, stop);
}

template <Item T, QueuePayload Payload>
std::optional<QueuedItem<T, Payload>> Queue<T, Payload>::GetAndUnlock(LockedState& state,
                                                                      const std::stop_token& stop) {
  std::optional<QueuedItem<T, Payload>> next;
  try {
    if (!stop.stop_requested() && state->items.ready() > 0) next = state->items.Get(Now());
  } catch (...) {  // copying the item has thrown; another worker may succeed
    UnlockAndWakeWorker(state);
    throw;
  }
  UnlockAndWakeWorker(state);
  if (next && metrics_.enabled()) {
    metrics_.DecDepth(next->priority);
    metrics_.ObserveLatency(next->waited);
  }
  return next;
}

template <Item T, QueuePayload Payload>
void Queue<T, Payload>::UnlockAndWakeWorker(LockedState& state) {
  const bool notify = workers_.StartWakeUp(state->items.ready());
  state.lock().unlock();
  if (notify) workers_.NotifyOne();
}

template <Item T, QueuePayload Payload>
void Queue<T, Payload>::Done(const T& item) {
  const std::uint32_t hash = Items::Hash(item, this);
  const TimePoint now = Now();
  typename Items::DoneResult result;
  {
    auto state = state_.Lock();
    result = state->items.Done(item, hash, now);
    if (!result.was_processing) return;
    if (state->shutting_down && state->items.idle()) drained_.notify_all();
    if (result.became_ready) UnlockAndWakeWorker(state);
  }
  if (!metrics_.enabled()) return;
  metrics_.ObserveWorkDuration(result.worked);
  if (result.became_ready) metrics_.IncDepth(result.priority);
}

template <Item T, QueuePayload Payload>
void Queue<T, Payload>::ShutDown() {
  auto state = state_.Lock();
  state->shutting_down = true;
  ++state->shutdowns;
  workers_.NotifyAll();
  drained_.notify_all();
}

template <Item T, QueuePayload Payload>
void Queue<T, Payload>::ShutDownWithDrain() {
  auto state = state_.Lock();
  state->shutting_down = true;
  workers_.NotifyAll();
  state.Wait(drained_, [&, before = state->shutdowns] {
    return state->items.idle() || state->shutdowns != before;
  });
}

template <Item T, QueuePayload Payload>
Snapshot<T, Payload> Queue<T, Payload>::TakeSnapshot(std::size_t limit) {
  return TakeSnapshotWith(limit, [](Snapshot<T, Payload>&) {});
}

template <Item T, QueuePayload Payload>
template <typename F>
Snapshot<T, Payload> Queue<T, Payload>::TakeSnapshotWith(std::size_t limit, F add_entries) {
  Snapshot<T, Payload> snapshot;
  auto state = state_.Lock();
  state->items.FillSnapshot(snapshot, limit);
  snapshot.shutting_down = state->shutting_down;
  add_entries(snapshot);
  return snapshot;
}

template <Item T, QueuePayload Payload>
detail::Rank Queue<T, Payload>::RankByPriority(const T& item, int priority) const {
  detail::Rank rank{.priority = priority};
  if (!share_.tenant) return rank;
  try {
    rank.tenant = share_.tenant(item);
    if (share_.weight) rank.weight = share_.weight(rank.tenant);
    return rank;
  } catch (...) {  // see FairShare
    return {.priority = priority};
  }
}

template <Item T, QueuePayload Payload>
int Queue<T, Payload>::RequeuePriority(const T& item) {
  if (!options_.order.by_priority()) return 0;
  const std::uint32_t hash = Items::Hash(item, this);
  return state_.Lock()->items.PriorityInProcessing(item, hash);
}

}  // namespace kopp::workqueue
