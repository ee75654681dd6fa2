#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kopp/informer/reflector.hpp>
#include <kopp/informer/store.hpp>

namespace kopp::informer {

/// What to do about changes of objects of a kind; an empty function does nothing.
///
/// The functions are called on the informer's thread, one at a time and in order, after the store
/// has the new state. For one object they come as add, update…, delete. They must not block: what
/// takes time belongs behind a queue.
template <Object T>
struct EventHandler {
  using Ptr = std::shared_ptr<const T>;

  std::function<void(const Ptr& object, bool in_initial_list)> on_add = {};
  /// Also called with one object twice, at each resync.
  std::function<void(const Ptr& before, const Ptr& after)> on_update = {};
  /// `final_state_unknown`: the deletion itself was missed, so this may not be the last state.
  std::function<void(const Ptr& object, bool final_state_unknown)> on_delete = {};
};

struct InformerOptions {
  Clock& clock = Clock::Real();
  Duration resync{};  ///< how often handlers get an update for each object anyway; 0: never
  std::uint64_t seed = std::random_device{}();  ///< of the jitter
  /// As in ReflectorOptions; also gets what handlers throw.
  std::function<void(const std::string& problem, bool minor)> on_problem = {};
};

/// Follows all objects of a kind: keeps a store of them and tells handlers of changes.
///
/// Handlers are added before Run. `store`, HasSynced and WaitForSync may be used from any thread.
/// client-go: SharedIndexInformer. A handler that throws is reported, and the others get the event.
/// An object that was deleted and made anew unseen is told as delete and add, not as an update.
template <Object T>
class Informer final : private Reflector<T>::Sink {
 public:
  using Ptr = std::shared_ptr<const T>;

  /// `source` outlives the informer.
  explicit Informer(Source<T>& source, InformerOptions options = {})
      : source_(source), options_(std::move(options)) {}
  Informer(const Informer&) = delete;
  Informer& operator=(const Informer&) = delete;

  /// Throws std::logic_error once Run was called.
  void AddHandler(EventHandler<T> handler) {
    if (running_) throw std::logic_error("add handlers before the informer runs");
    handlers_.push_back(std::move(handler));
  }

  /// Handlers get an update for each object at least this often; 0 asks for nothing. Before Run.
  void ResyncEvery(Duration period) {
    if (period <= Duration::zero()) return;
    const bool none = options_.resync <= Duration::zero();
    options_.resync = none ? period : std::min(options_.resync, period);
  }

  /// Blocks until `stop` asks. Called once; what it kept stays readable.
  void Run(const std::stop_token& stop) {
    running_ = true;
    Reflector<T> reflector(source_, *this, {options_.clock, options_.seed, options_.on_problem});
    reflector.Run(stop);
  }

  [[nodiscard]] const Store<T>& store() const { return store_; }

  /// Whether the first list is in the store and has been told to each handler.
  [[nodiscard]] bool HasSynced() const { return *synced_.Lock(); }

  /// Blocks until HasSynced or until `stop` asks; returns HasSynced.
  bool WaitForSync(const std::stop_token& stop) const {
    const std::stop_callback wake(stop, [this] {
      { auto synced = synced_.Lock(); }
      has_synced_.notify_all();
    });
    auto synced = synced_.Lock();
    synced.Wait(has_synced_, [&] { return *synced || stop.stop_requested(); });
    return *synced;
  }

 private:
  void Replace(std::vector<Ptr> objects) override;
  void Apply(EventType type, Ptr object) override;
  TimePoint Tick(TimePoint now) override;

  void TellChange(const Ptr& before, const Ptr& after, bool initial);
  void TellDelete(const Ptr& object, bool final_state_unknown);
  template <typename... Args, typename Function>
  void Tell(Function EventHandler<T>::*function, const Args&... args);

  Source<T>& source_;
  InformerOptions options_;
  std::vector<EventHandler<T>> handlers_;
  bool running_ = false;
  Store<T> store_;
  TimePoint next_resync_ = TimePoint::max();
  mutable Guarded<bool> synced_{false};
  mutable std::condition_variable has_synced_;
};

template <Object T>
void Informer<T>::Replace(std::vector<Ptr> objects) {
  const bool initial = !HasSynced();
  auto before = store_.Replace(objects);
  std::vector<std::pair<Ptr, Ptr>> changes;
  for (Ptr& object : objects) {
    auto known = before.extract(KeyOf(*object));
    changes.emplace_back(known ? std::move(known.mapped()) : nullptr, std::move(object));
  }
  for (const auto& [key, missing] : before) TellDelete(missing, true);
  for (const auto& [old, now] : changes) TellChange(old, now, initial);
  if (!initial) return;

  if (options_.resync > Duration::zero()) {
    next_resync_ = After(options_.clock.Now(), options_.resync);
  }
  *synced_.Lock() = true;
  has_synced_.notify_all();
}

template <Object T>
void Informer<T>::Apply(EventType type, Ptr object) {
  const Ptr known = store_.Get(KeyOf(*object));
  const bool same = known && known->metadata.uid == object->metadata.uid;
  if (same && IsOlderVersion(object->metadata.resourceVersion, known->metadata.resourceVersion)) {
    return;  // a server that lags behind the one asked before
  }
  if (type == EventType::kDeleted) {
    store_.Erase(KeyOf(*object));
    if (known) TellDelete(same ? object : known, !same);
  } else {
    store_.Set(object);
    TellChange(known, object, false);
  }
}

template <Object T>
TimePoint Informer<T>::Tick(TimePoint now) {
  if (now >= next_resync_) {
    for (const Ptr& object : store_.List()) Tell(&EventHandler<T>::on_update, object, object);
    next_resync_ = After(options_.clock.Now(), options_.resync);
  }
  return next_resync_;
}

template <Object T>
void Informer<T>::TellChange(const Ptr& before, const Ptr& after, bool initial) {
  if (before && before->metadata.uid == after->metadata.uid) {
    return Tell(&EventHandler<T>::on_update, before, after);
  }
  if (before) TellDelete(before, true);
  Tell(&EventHandler<T>::on_add, after, initial);
}

template <Object T>
void Informer<T>::TellDelete(const Ptr& object, bool final_state_unknown) {
  Tell(&EventHandler<T>::on_delete, object, final_state_unknown);
}

template <Object T>
template <typename... Args, typename Function>
void Informer<T>::Tell(Function EventHandler<T>::*function, const Args&... args) {
  for (const EventHandler<T>& handler : handlers_) {
    if (!(handler.*function)) continue;
    std::string problem;
    try {
      (handler.*function)(args...);
      continue;
    } catch (const std::exception& error) {
      problem = error.what();
    } catch (...) {
      problem = "something that is no std::exception";
    }
    if (options_.on_problem) options_.on_problem("an event handler threw: " + problem, false);
  }
}

}  // namespace kopp::informer
