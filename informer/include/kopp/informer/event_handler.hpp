#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <kopp/informer/any_object.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::informer {

namespace detail {
class HandlerRunner;
}

/// Callbacks for changes of objects, type-erased. An empty function is skipped.
///
/// The functions of one handler are called one at a time, after the store has the new state. For
/// one object the order is add, then updates, then delete. HandlerOptions::delivery tells on which
/// thread, and which events are merged while the handler is busy. client-go: ResourceEventHandler.
struct AnyEventHandler {
  /// `in_initial_list` is true for the objects that existed when the handler was added: those of
  /// the first list, or of the store if the handler is added later.
  std::function<void(const AnyObject& object, bool in_initial_list)> on_add = {};
  /// `before` is the state that the handler was called with last. A resync passes the same object
  /// twice.
  std::function<void(const AnyObject& before, const AnyObject& after)> on_update = {};
  /// `final_state_unknown` is true for a tombstone: the deletion event was missed, and `object` is
  /// the last state that the store had. client-go: DeletedFinalStateUnknown.
  std::function<void(const AnyObject& object, bool final_state_unknown)> on_delete = {};
};

/// Callbacks for changes of objects of the view `T`, with the same meaning as in AnyEventHandler.
/// An rvalue converts to AnyEventHandler.
template <ApiObject T>
struct EventHandler {
  using Ptr = std::shared_ptr<const T>;

  std::function<void(const Ptr& object, bool in_initial_list)> on_add = {};
  std::function<void(const Ptr& before, const Ptr& after)> on_update = {};
  std::function<void(const Ptr& object, bool final_state_unknown)> on_delete = {};

  operator AnyEventHandler() && {  // NOLINT: intentionally implicit
    AnyEventHandler any;
    if (on_add) {
      any.on_add = [f = std::move(on_add)](const AnyObject& object, bool in_initial_list) {
        f(object.template As<T>(), in_initial_list);
      };
    }
    if (on_update) {
      any.on_update = [f = std::move(on_update)](const AnyObject& before, const AnyObject& after) {
        f(before.template As<T>(), after.template As<T>());
      };
    }
    if (on_delete) {
      any.on_delete = [f = std::move(on_delete)](const AnyObject& object,
                                                 bool final_state_unknown) {
        f(object.template As<T>(), final_state_unknown);
      };
    }
    return any;
  }
};

/// The thread on which a handler is called.
enum class Delivery {
  /// A thread of the handler. While the handler is busy, its events wait and are merged: of each
  /// object at most the state that the handler knows, the deletion and the newest state are kept. A
  /// slow or blocked handler therefore delays neither the store nor other handlers, and its memory
  /// is limited by the number of objects.
  kOwnThread,
  /// The thread of AnyInformer::Run, without a queue: each event is delivered. Only for handlers
  /// that never block, such as those that add a key to a work queue: they delay everything else.
  /// The initial calls of a handler that is added while the informer runs, and the events that
  /// arrive meanwhile, are delivered on the thread that adds it.
  kInformerThread,
};

/// Options of AnyInformer::AddHandler.
struct HandlerOptions {
  /// The name in logs and metrics. It should be unique in the informer. Default: "handler-1", ….
  std::string name = {};
  /// The handler gets an update for every object in this interval, even without a change; 0: never.
  /// A shorter interval than one second is reported and raised to one second, as in client-go.
  /// For a handler that is added while the informer runs, a resync may start up to one watch
  /// timeout later (see ReflectorState::IdleDeadline).
  Duration resync{};
  Delivery delivery = Delivery::kOwnThread;
};

/// Refers to a handler that was added to an informer. Copies refer to the same handler. Dropping
/// the registration does not remove the handler. It may outlive the informer. Thread-safe.
/// client-go: ResourceEventHandlerRegistration.
class HandlerRegistration {
 public:
  /// Creates a registration that refers to no handler. Other calls than assignment have undefined
  /// behaviour.
  HandlerRegistration() = default;

  [[nodiscard]] const std::string& name() const;

  /// Returns whether the handler has been called for each object of the first list, or, if it was
  /// added later, of the store at that time.
  [[nodiscard]] bool HasSynced() const;
  /// Blocks until HasSynced(), until `stop` is requested, or until the handler was removed or the
  /// informer stopped. Returns HasSynced().
  bool WaitForSync(const std::stop_token& stop) const;

  /// Removes the handler; its pending events are dropped. Blocks until a running call has returned
  /// and the thread of the handler has ended; the handler is then destroyed and never called again.
  /// If the handler or its destructor calls Remove, Remove returns at once, and the handler gets no
  /// further calls. May be called again. Two handlers that remove each other at the same time
  /// deadlock.
  void Remove();

 private:
  friend class AnyInformer;
  explicit HandlerRegistration(std::shared_ptr<detail::HandlerRunner> runner);

  std::shared_ptr<detail::HandlerRunner> runner_;
};

}  // namespace kopp::informer
