#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include <kopp/controller/source.hpp>
#include <kopp/workqueue/item.hpp>

namespace kopp {

/// Passes events from any thread of the program to one controller; see
/// ControllerBuilder::WatchesChannel. `T` is movable: an ObjectKey, a view, or any type of event.
///
///     kopp::Channel<kopp::ObjectKey> channel;
///     manager.AddController<Foo>().WatchesChannel(channel).Reconcile(Reconcile);
///     …
///     channel.Send({"shop", "web"});  // for example in the handler of a webhook
///
/// Holds at most `capacity` events that the controller has not taken. Equal events are merged if
/// `T` has std::hash and ==, as ObjectKey has. A controller takes events as soon as it has started.
/// Before that, for example on a replica that is not the leader, a full channel drops further
/// events: the controller reconciles all its objects when it starts. While it runs, a channel is
/// only full if the mapping function of WatchesChannel is slower than the senders; then Send
/// blocks. Thread-safe. Copies refer to the same channel. controller-runtime: source.Channel, where
/// a sender on such a replica blocks for ever.
template <typename T>
class Channel {
 public:
  static constexpr std::size_t kDefaultCapacity = 1024;

  /// A capacity of 0 means 1.
  explicit Channel(std::size_t capacity = kDefaultCapacity)
      : state_(std::make_shared<State>(capacity == 0 ? 1 : capacity)) {}

  /// Sends an event. Blocks while the channel is open and full, until `stop` is requested. Returns
  /// whether the event was accepted: false if it was dropped, and while the channel is closed.
  bool Send(T event, const std::stop_token& stop = {}) const {
    std::unique_lock lock{state_->mutex};
    const bool may_push = state_->changed.wait(
        lock, stop, [&] { return state_->phase != Phase::kOpen || state_->HasSpaceFor(event); });
    return may_push && Push(std::move(event));
  }
  /// Like Send, but returns false instead of blocking.
  bool TrySend(T event) const {
    const std::lock_guard guard{state_->mutex};
    return Push(std::move(event));
  }

  /// Blocks until there is an event and returns it. Returns nullopt after Close, and as soon as
  /// `stop` is requested.
  [[nodiscard]] std::optional<T> Receive(const std::stop_token& stop = {}) const {
    std::unique_lock lock{state_->mutex};
    state_->changed.wait(
        lock, stop, [&] { return state_->phase == Phase::kClosed || !state_->events.empty(); });
    if (stop.stop_requested() || state_->phase == Phase::kClosed) return std::nullopt;
    std::optional<T> event(std::move(state_->events.front()));
    state_->events.pop_front();
    if constexpr (workqueue::Item<T>) state_->merged.erase(*event);
    state_->changed.notify_all();
    return event;
  }

  /// Makes Send accept events, and block while the channel is full. A controller calls it when it
  /// starts.
  void Open() const {
    const std::lock_guard guard{state_->mutex};
    state_->phase = Phase::kOpen;
  }
  /// Drops the events of the channel, and makes Send ignore events. Unblocks all calls. A
  /// controller calls it when it stops.
  void Close() const {
    const std::lock_guard guard{state_->mutex};
    state_->phase = Phase::kClosed;
    state_->events.clear();
    state_->merged = {};
    state_->changed.notify_all();
  }

 private:
  enum class Phase {
    kNew,   // accepts events until it is full; has no receiver yet
    kOpen,  // a controller receives the events
    kClosed,
  };
  struct Nothing {};

  struct State {
    explicit State(std::size_t max_events) : capacity(max_events) {}

    // Requires: the mutex is held.
    [[nodiscard]] bool HasSpaceFor(const T& event) const {
      if constexpr (workqueue::Item<T>) {
        if (merged.contains(event)) return true;
      }
      return events.size() < capacity;
    }

    const std::size_t capacity;
    std::mutex mutex;  // guards the members below
    std::condition_variable_any changed;
    std::deque<T> events;
    // The same events, if equal ones are merged.
    std::conditional_t<workqueue::Item<T>, std::unordered_set<T>, Nothing> merged;
    Phase phase = Phase::kNew;
  };

  /// Requires: the mutex is held.
  bool Push(T&& event) const {
    if (state_->phase == Phase::kClosed || !state_->HasSpaceFor(event)) return false;
    if constexpr (workqueue::Item<T>) {
      if (!state_->merged.insert(event).second) return true;
    }
    state_->events.push_back(std::move(event));
    state_->changed.notify_all();
    return true;
  }

  std::shared_ptr<State> state_;
};

/// Adds the keys that a function returns for each event of a channel.
template <typename T>
class ChannelSource final : public EventSource {
 public:
  using Keys = std::function<std::vector<ObjectKey>(const T& event)>;

  /// `keys` may block. If it throws, the exception is logged, and the event is lost.
  ChannelSource(Channel<T> channel, Keys keys)
      : channel_(std::move(channel)), keys_(std::move(keys)) {}

  [[nodiscard]] std::string name() const override { return "channel"; }
  void Run(const SourceContext& context, const std::stop_token& stop) override {
    channel_.Open();
    while (const std::optional<T> event = channel_.Receive(stop)) {
      detail::LogExceptions(context.log, "Event lost: its mapping to keys failed", stop, [&] {
        for (const ObjectKey& key : keys_(*event)) context.queue.Add(key);
      });
    }
    channel_.Close();
  }

 private:
  const Channel<T> channel_;
  const Keys keys_;
};

}  // namespace kopp
