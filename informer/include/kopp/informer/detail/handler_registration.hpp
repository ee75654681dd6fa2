#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include <kopp/workqueue/clock.hpp>

namespace kopp::informer {

namespace detail {
class HandlerRunner;
}

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
