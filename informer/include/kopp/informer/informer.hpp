#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kopp/informer/reflector.hpp>
#include <kopp/informer/store.hpp>

namespace kopp::informer {

/// What to do about changes of objects; an empty function does nothing.
///
/// The functions are called on the informer's thread, one at a time and in order, after the store
/// has the new state. For one object they come as add, update…, delete. They must not block: what
/// takes time belongs behind a queue.
struct AnyHandler {
  std::function<void(const AnyObject& object, bool in_initial_list)> on_add = {};
  /// Also called with one object twice, at each resync.
  std::function<void(const AnyObject& before, const AnyObject& after)> on_update = {};
  /// `final_state_unknown`: the deletion itself was missed, so this may not be the last state.
  std::function<void(const AnyObject& object, bool final_state_unknown)> on_delete = {};
};

/// An AnyHandler for objects of the view `T`.
template <Object T>
struct EventHandler {
  using Ptr = std::shared_ptr<const T>;

  std::function<void(const Ptr& object, bool in_initial_list)> on_add = {};
  std::function<void(const Ptr& before, const Ptr& after)> on_update = {};
  std::function<void(const Ptr& object, bool final_state_unknown)> on_delete = {};

  operator AnyHandler() && {  // NOLINT: meant to convert
    AnyHandler any;
    if (on_add) {
      any.on_add = [f = std::move(on_add)](const AnyObject& object, bool initial) {
        f(object.template As<T>(), initial);
      };
    }
    if (on_update) {
      any.on_update = [f = std::move(on_update)](const AnyObject& before, const AnyObject& after) {
        f(before.template As<T>(), after.template As<T>());
      };
    }
    if (on_delete) {
      any.on_delete = [f = std::move(on_delete)](const AnyObject& object, bool unknown) {
        f(object.template As<T>(), unknown);
      };
    }
    return any;
  }
};

struct InformerOptions {
  Clock& clock = Clock::Real();

  std::uint64_t seed = std::random_device{}();  ///< of the jitter
  /// As in ReflectorOptions; also gets what handlers throw.
  std::function<void(const std::string& problem, bool minor)> on_problem = {};
};

/// Follows all objects of a kind: keeps a store of them and tells handlers of changes.
///
/// Handlers are added before Run. `store`, HasSynced and WaitForSync may be used from any thread.
/// client-go: SharedIndexInformer. There, a handler that throws ends the program, and an object
/// that was deleted and made anew unseen is told as an update; here the handler's throw is reported
/// and the others get the event, and such an object is told as delete and add.
class AnyInformer : private AnyReflector::Sink {
 public:
  /// `source` outlives the informer.
  explicit AnyInformer(AnySource& source, InformerOptions options = {})
      : source_(source), options_(std::move(options)) {}
  ~AnyInformer() override = default;
  AnyInformer(const AnyInformer&) = delete;
  AnyInformer& operator=(const AnyInformer&) = delete;

  /// `resync`: how often the handler gets an update for each object though nothing changed; 0:
  /// never. Throws std::logic_error once Run was called.
  void AddHandler(AnyHandler handler, Duration resync = {});

  /// Blocks until `stop` asks. Called once; what it kept stays readable.
  void Run(const std::stop_token& stop);

  [[nodiscard]] const AnyStore& store() const { return store_; }

  /// Whether the first list is in the store and has been told to each handler.
  [[nodiscard]] bool HasSynced() const { return *synced_.Lock(); }

  /// Blocks until HasSynced or until `stop` asks; returns HasSynced.
  bool WaitForSync(const std::stop_token& stop) const;

 private:
  void Replace(std::vector<AnyObject> objects, const std::vector<ObjectKey>& unusable) override;
  void Apply(EventType type, AnyObject object) override;
  TimePoint Tick(TimePoint now) override;

  struct Registration {
    AnyHandler handler;
    Duration resync{};
    TimePoint next_resync = TimePoint::max();  // from the first list on
  };

  void TellChange(const AnyObject& before, const AnyObject& after, bool initial) const;
  template <typename Function, typename... Args>
  void TellAll(Function AnyHandler::*function, const Args&... args) const;
  template <typename Function, typename... Args>
  void Tell(const std::function<Function>& function, const Args&... args) const;

  AnySource& source_;
  InformerOptions options_;
  std::vector<Registration> handlers_;
  bool running_ = false;
  AnyStore store_;

  mutable Guarded<bool> synced_{false};
  mutable std::condition_variable has_synced_;
};

/// An AnyInformer of objects of the view `T`.
template <Object T>
class Informer final : public AnyInformer {
 public:
  explicit Informer(Source<T>& source, InformerOptions options = {})
      : AnyInformer(source, std::move(options)) {}

  [[nodiscard]] Store<T> store() const { return Store<T>(AnyInformer::store()); }
};

}  // namespace kopp::informer
