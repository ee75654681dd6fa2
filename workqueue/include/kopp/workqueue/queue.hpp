#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/instruments.hpp>
#include <kopp/workqueue/ledger.hpp>
#include <kopp/workqueue/order.hpp>
#include <kopp/workqueue/snapshot.hpp>
#include <kopp/workqueue/wake_chain.hpp>

namespace kopp::workqueue {

struct QueueOptions {
  std::string name = {};               ///< of its metrics; may stay empty
  Clock& clock = Clock::Real();        ///< outlives the queue
  MetricsProvider* metrics = nullptr;  ///< outlives the queue; used if the queue has a name
  Order order = {};                    ///< first come, first served
  bool track_times = false;            ///< a snapshot says since when; metrics do that anyway
};

/// A queue of work to be done, for many producers and many workers.
///
/// - **In order**: items are handed out as they were added, or in another Order.
/// - **Stingy**: an item added several times before it is handed out is handed out once.
/// - **Exclusive**: an item is in one worker's hand at a time. Added while it is in hand, it is
///   handed out once more, after its Done and behind what is queued by then.
///
/// Every member may be called from any thread. Only Get and ShutDownWithDrain block. The queue
/// outlives every call to it. User code (an order's functions, metrics, limiters) is called with no
/// lock held, so it may call the queue; but items are copied, compared and destroyed under it, and
/// the clock is read. A table that grows holds it for some milliseconds a million items.
///
///     while (const auto item = queue.Get()) {
///       const DoneGuard done{queue, *item};
///       Work(*item);
///     }
template <Item T>
class Queue {
 public:
  /// Throws what options.metrics throws, and std::invalid_argument for an order of other items.
  explicit Queue(QueueOptions options = {});
  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Wants `item` worked on. Does nothing once the queue is shutting down. `priority` means
  /// something where the order has priorities.
  void Add(const T& item, int priority = 0) { Put(item, priority); }
  void Add(T&& item, int priority = 0) { Put(std::move(item), priority); }

  /// Blocks until an item is ready and hands it to the caller, who owes a Done for it. After
  /// ShutDown it hands out what is still queued, then answers nullopt.
  [[nodiscard]] std::optional<T> Get() { return Get(std::stop_token{}); }

  /// The same, and nullopt as soon as `stop` asks, whatever is queued.
  [[nodiscard]] std::optional<T> Get(const std::stop_token& stop);

  /// The same, with the priority that the item has.
  [[nodiscard]] std::optional<Prioritized<T>> GetWithPriority(const std::stop_token& stop = {});

  /// Gives back an item from Get. Ignored, but counted, for an item that is not in hand.
  /// client-go: queues such an item a second time, so that two workers can hold it.
  void Done(const T& item);

  /// How many items are ready to be handed out; those in hand do not count.
  [[nodiscard]] std::size_t Len() { return state_.Lock()->ledger.ready(); }

  /// Takes nothing new from now on. What is queued is still handed out; callers of
  /// ShutDownWithDrain are released. May be called again.
  virtual void ShutDown();

  /// Takes nothing new, and blocks until nothing is queued and nothing is in hand, or until
  /// somebody calls ShutDown. Any number of threads may drain at once. An item that never gets its
  /// Done keeps it waiting. client-go: returns while items are still queued, and wakes one of
  /// several callers.
  virtual void ShutDownWithDrain();

  [[nodiscard]] bool ShuttingDown() { return state_.Lock()->shutting_down; }
  [[nodiscard]] const std::string& name() const { return options_.name; }

  /// What is in the queue now, up to `limit` items of each kind. Copies them with the lock held.
  [[nodiscard]] virtual Snapshot<T> TakeSnapshot(
      std::size_t limit = std::numeric_limits<std::size_t>::max());

 protected:
  [[nodiscard]] Clock& clock() const { return options_.clock; }
  [[nodiscard]] Instruments* instruments() { return instruments_ ? &*instruments_ : nullptr; }
  /// Adds all of `items`, with one lock for them, under which it leaves it empty.
  void AddAll(std::vector<Prioritized<T>>& items);
  /// As TakeSnapshot, and calls `add(snapshot)` before it releases the lock.
  template <typename F>
  Snapshot<T> TakeSnapshotAnd(std::size_t limit, F add);
  /// The priority that an item comes back with when nobody says: the one that it was handed out
  /// with, where it is in hand.
  [[nodiscard]] int PriorityOfRequeue(const T& item);

 private:
  struct State {
    State(bool by_priority, bool track_times) : ledger(by_priority, track_times) {}

    Ledger<T> ledger;
    bool shutting_down = false;
    std::uint64_t shutdowns = 0;  // calls of ShutDown: one releases those who drain by then
  };
  using Locked = typename Guarded<State>::Locked;

  [[nodiscard]] bool Measured() const {
    return options_.metrics != nullptr && !options_.name.empty();
  }
  template <typename U>
  void Put(U&& item, int priority);
  void Tell(const typename Ledger<T>::Added& added, int priority);
  [[nodiscard]] std::optional<Place> PlaceOf(const T& item, int priority) const;
  [[nodiscard]] TimePoint Now() const { return times_ ? clock().Now() : TimePoint{}; }
  static bool Due(const State& state, const std::stop_token& stop);
  std::optional<Prioritized<T>> Take(Locked& state, const std::stop_token& stop);

  const QueueOptions options_;
  const FairShare<T> share_;  // where the order is a fair one
  const bool times_;
  alignas(64) Guarded<State> state_;        // apart from what is read without the lock
  WakeChain workers_;                       // with state_ held
  std::condition_variable idle_;            // nothing queued and nothing in hand, or ShutDown
  std::optional<Instruments> instruments_;  // last: metrics are read until they are gone
};

/// Calls Done on every way out of a scope, a throw included. The queue and the item outlive it.
template <Item T>
class [[nodiscard]] DoneGuard {
 public:
  DoneGuard(Queue<T>& queue, const T& item) : queue_(queue), item_(item) {}
  ~DoneGuard() { queue_.Done(item_); }
  DoneGuard(const DoneGuard&) = delete;
  DoneGuard& operator=(const DoneGuard&) = delete;

 private:
  Queue<T>& queue_;
  const T& item_;
};

template <Item T>
Queue<T>::Queue(QueueOptions options)
    : options_(std::move(options)),
      share_(options_.order.template ShareFor<T>()),
      times_(options_.track_times || Measured()),
      state_(options_.order.by_priority(), times_) {
  if (!Measured()) return;
  instruments_.emplace(
      *options_.metrics, options_.name, options_.order.by_priority(),
      Instruments::InHand{
          .unfinished = [this] { return state_.Lock()->ledger.watches().Unfinished(Now()); },
          .longest = [this] { return state_.Lock()->ledger.watches().Longest(Now()); }});
}

template <Item T>
template <typename U>
void Queue<T>::Put(U&& item, int priority) {
  const std::uint32_t hash = Ledger<T>::Hash(item, this);
  const std::optional<Place> place = PlaceOf(item, priority);
  const TimePoint now = Now();
  typename Ledger<T>::Added added;
  bool wake = false;
  {
    auto state = state_.Lock();
    if (state->shutting_down) return;
    added = state->ledger.Add(std::forward<U>(item), hash, place ? &*place : nullptr, now);
    if (added.ready) wake = workers_.WakeNext(state->ledger.ready());
  }
  if (wake) workers_.Notify();
  if (instruments_) Tell(added, priority);
}

template <Item T>
void Queue<T>::AddAll(std::vector<Prioritized<T>>& items) {
  struct Prepared {
    std::uint32_t hash;
    int priority;
    std::optional<Place> place;
    typename Ledger<T>::Added added = {};
  };
  std::vector<Prepared> prepared;
  prepared.reserve(items.size());
  for (const auto& [item, priority] : items) {
    prepared.push_back({Ledger<T>::Hash(item, this), priority, PlaceOf(item, priority)});
  }
  const TimePoint now = Now();
  bool wake = false;
  {
    auto state = state_.Lock();
    for (std::size_t i = 0; i < items.size() && !state->shutting_down; ++i) {
      auto& [hash, priority, place, added] = prepared[i];
      added = state->ledger.Add(std::move(items[i].item), hash, place ? &*place : nullptr, now);
    }
    items.clear();
    wake = workers_.WakeNext(state->ledger.ready());
  }
  if (wake) workers_.Notify();
  if (!instruments_) return;
  for (const Prepared& one : prepared) Tell(one.added, one.priority);
}

template <Item T>
void Queue<T>::Tell(const typename Ledger<T>::Added& added, int priority) {
  if (added.wanted) instruments_->Added();
  if (added.lower) instruments_->NotReady(*added.lower);
  if (added.ready || added.lower) instruments_->Ready(priority);
}

template <Item T>
std::optional<T> Queue<T>::Get(const std::stop_token& stop) {
  std::optional<Prioritized<T>> handed = GetWithPriority(stop);
  if (!handed) return std::nullopt;
  return std::move(handed->item);
}

template <Item T>
std::optional<Prioritized<T>> Queue<T>::GetWithPriority(const std::stop_token& stop) {
  {
    auto state = state_.Lock();
    if (Due(*state, stop)) return Take(state, stop);
  }
  // Outside the lock, at both ends: the callback takes it, and its destructor waits for the
  // callback.
  const std::stop_callback wake(stop, [this] {
    { auto state = state_.Lock(); }
    workers_.NotifyAll();
  });
  auto state = state_.Lock();
  workers_.Await(state.lock(), [&] { return Due(*state, stop); });
  return Take(state, stop);
}

template <Item T>
bool Queue<T>::Due(const State& state, const std::stop_token& stop) {
  return state.ledger.ready() > 0 || state.shutting_down || stop.stop_requested();
}

template <Item T>
std::optional<Prioritized<T>> Queue<T>::Take(Locked& state, const std::stop_token& stop) {
  std::optional<typename Ledger<T>::Taken> taken;
  std::exception_ptr failure;  // of a copy: the item is still ready, for this worker or the next
  try {
    if (!stop.stop_requested() && state->ledger.ready() > 0) taken = state->ledger.Take(Now());
  } catch (...) {
    failure = std::current_exception();
  }
  const bool wake = workers_.WakeNext(state->ledger.ready());
  state.lock().unlock();
  if (wake) workers_.Notify();
  if (failure) std::rethrow_exception(failure);
  if (!taken) return std::nullopt;
  if (instruments_) {
    instruments_->NotReady(taken->handed.priority);
    instruments_->Waited(taken->waited);
  }
  return std::move(taken->handed);
}

template <Item T>
void Queue<T>::Done(const T& item) {
  const std::uint32_t hash = Ledger<T>::Hash(item, this);
  const TimePoint now = Now();
  typename Ledger<T>::Finished finished;
  bool wake = false;
  {
    auto state = state_.Lock();
    finished = state->ledger.Done(item, hash, now);
    if (finished.stray) return;
    if (finished.ready) wake = workers_.WakeNext(state->ledger.ready());
    if (state->shutting_down && state->ledger.idle()) idle_.notify_all();
  }
  if (wake) workers_.Notify();
  if (!instruments_) return;
  instruments_->Worked(finished.worked);
  if (finished.ready) instruments_->Ready(finished.priority);
}

template <Item T>
void Queue<T>::ShutDown() {
  auto state = state_.Lock();
  state->shutting_down = true;
  ++state->shutdowns;
  workers_.NotifyAll();
  idle_.notify_all();
}

template <Item T>
void Queue<T>::ShutDownWithDrain() {
  auto state = state_.Lock();
  state->shutting_down = true;
  workers_.NotifyAll();
  state.Wait(idle_, [&, before = state->shutdowns] {
    return state->ledger.idle() || state->shutdowns != before;
  });
}

template <Item T>
Snapshot<T> Queue<T>::TakeSnapshot(std::size_t limit) {
  return TakeSnapshotAnd(limit, [](Snapshot<T>&) {});
}

template <Item T>
template <typename F>
Snapshot<T> Queue<T>::TakeSnapshotAnd(std::size_t limit, F add) {
  Snapshot<T> snapshot;
  auto state = state_.Lock();
  state->ledger.Describe(snapshot, limit);
  snapshot.shutting_down = state->shutting_down;
  add(snapshot);
  return snapshot;
}

template <Item T>
std::optional<Place> Queue<T>::PlaceOf(const T& item, int priority) const {
  if (!options_.order.by_priority()) return std::nullopt;
  try {
    Place place{.priority = priority};
    if (share_.tenant) place.tenant = share_.tenant(item);
    if (share_.weight) place.weight = share_.weight(place.tenant);
    return place;
  } catch (...) {  // see FairShare
    return Place{.priority = priority};
  }
}

template <Item T>
int Queue<T>::PriorityOfRequeue(const T& item) {
  if (!options_.order.by_priority()) return 0;
  const std::uint32_t hash = Ledger<T>::Hash(item, this);
  return state_.Lock()->ledger.PriorityInHand(item, hash);
}

}  // namespace kopp::workqueue
