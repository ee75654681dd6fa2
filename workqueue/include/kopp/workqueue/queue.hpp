#pragma once

#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::workqueue {

/// What a queue can hold: a small value that names a piece of work, such as a kopp::ObjectKey.
template <typename T>
concept Item = std::copyable<T> && std::equality_comparable<T> && requires(const T& item) {
  { std::hash<T>{}(item) } -> std::convertible_to<std::size_t>;
};

struct QueueOptions {
  std::string name = {};         ///< for logs and metrics; may stay empty
  Clock& clock = Clock::Real();  ///< outlives the queue
};

/// A queue of work to be done, for many producers and many workers.
///
/// - **Fair**: items are handed out in the order in which they were added.
/// - **Stingy**: an item added several times before it is handed out is handed out once.
/// - **Exclusive**: an item is in one worker's hand at a time. Added while it is in hand, it is
///   handed out once more, after its Done and behind what is queued by then.
///
/// Every member may be called from any thread. Only Get and ShutDownWithDrain block. The queue
/// outlives every call to it.
///
///     while (const auto item = queue.Get()) {
///       const DoneGuard done{queue, *item};
///       Work(*item);
///     }
template <Item T>
class Queue {
 public:
  explicit Queue(QueueOptions options = {}) : options_(std::move(options)) {}
  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Wants `item` worked on. Does nothing once the queue is shutting down.
  void Add(const T& item);

  /// Blocks until an item is ready and hands it to the caller, who owes a Done for it. After
  /// ShutDown it hands out what is still queued, then answers nullopt.
  [[nodiscard]] std::optional<T> Get() { return Get(std::stop_token{}); }

  /// The same, and nullopt as soon as `stop` asks, whatever is queued.
  [[nodiscard]] std::optional<T> Get(std::stop_token stop);

  /// Gives back an item from Get. Ignored for an item that is not in hand.
  /// client-go: queues such an item a second time, so that two workers can hold it.
  void Done(const T& item);

  /// How many items are ready to be handed out; those in hand do not count.
  [[nodiscard]] std::size_t Len() { return state_.Lock()->ready; }

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

 protected:
  [[nodiscard]] Clock& clock() const { return options_.clock; }

 private:
  struct Entry {
    bool wanted = false;                        // added, and not handed out since
    bool in_hand = false;                       // handed out, and not done yet
    std::pair<const T, Entry>* next = nullptr;  // behind this one in the list of ready items
  };
  using Table = std::unordered_map<T, Entry>;
  using Node = typename Table::value_type;

  struct State {
    Table table;            // each item that is wanted or in hand: one look-up an operation
    Node* front = nullptr;  // the ready items, oldest first: those wanted and not in hand
    Node* back = nullptr;
    std::size_t ready = 0;
    std::size_t in_hand = 0;
    bool shutting_down = false;
    std::uint64_t shutdowns = 0;  // calls of ShutDown: one releases those who drain by then

    [[nodiscard]] bool Idle() const { return ready == 0 && in_hand == 0; }
    void PushBack(Node& node);
    Node& PopFront();
  };

  QueueOptions options_;
  Guarded<State> state_;
  std::condition_variable ready_;  // an item is ready, or there will be none
  std::condition_variable idle_;   // nothing queued and nothing in hand, or ShutDown
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
void Queue<T>::Add(const T& item) {
  auto state = state_.Lock();
  if (state->shutting_down) return;
  Node& node = *state->table.try_emplace(item).first;
  if (std::exchange(node.second.wanted, true)) return;
  if (node.second.in_hand) return;  // Done puts it back
  state->PushBack(node);
  ready_.notify_one();
}

template <Item T>
std::optional<T> Queue<T>::Get(std::stop_token stop) {
  // Outside the lock, at both ends: the callback takes it, and its destructor waits for the
  // callback.
  const std::stop_callback wake(stop, [this] {
    { auto state = state_.Lock(); }
    ready_.notify_all();
  });
  auto state = state_.Lock();
  state.Wait(ready_,
             [&] { return stop.stop_requested() || state->ready > 0 || state->shutting_down; });
  if (stop.stop_requested()) {
    if (state->ready > 0) ready_.notify_one();  // the notification may have been for an item
    return std::nullopt;
  }
  if (state->ready == 0) return std::nullopt;
  Node& node = state->PopFront();
  node.second.wanted = false;
  node.second.in_hand = true;
  ++state->in_hand;
  return node.first;
}

template <Item T>
void Queue<T>::Done(const T& item) {
  auto state = state_.Lock();
  const auto found = state->table.find(item);
  if (found == state->table.end() || !found->second.in_hand) return;
  found->second.in_hand = false;
  --state->in_hand;
  if (found->second.wanted) {
    state->PushBack(*found);
    ready_.notify_one();
  } else {
    state->table.erase(found);
  }
  if (state->Idle()) idle_.notify_all();
}

template <Item T>
void Queue<T>::ShutDown() {
  auto state = state_.Lock();
  state->shutting_down = true;
  ++state->shutdowns;
  ready_.notify_all();
  idle_.notify_all();
}

template <Item T>
void Queue<T>::ShutDownWithDrain() {
  auto state = state_.Lock();
  state->shutting_down = true;
  ready_.notify_all();
  state.Wait(idle_, [&, before = state->shutdowns] {
    return state->Idle() || state->shutdowns != before;
  });
}

template <Item T>
void Queue<T>::State::PushBack(Node& node) {
  node.second.next = nullptr;
  (back == nullptr ? front : back->second.next) = &node;
  back = &node;
  ++ready;
}

template <Item T>
auto Queue<T>::State::PopFront() -> Node& {
  Node& node = *front;
  front = node.second.next;
  if (front == nullptr) back = nullptr;
  --ready;
  return node;
}

}  // namespace kopp::workqueue
