#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include <kopp/cache.hpp>
#include <kopp/controller/event_queue.hpp>
#include <kopp/controller/handler_functions.hpp>
#include <kopp/controller/watch_handle.hpp>
#include <kopp/informer/any_object.hpp>
#include <kopp/informer/handlers.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/informer/predicates.hpp>

namespace kopp {

/// A workqueue of object keys and the workers that reconcile them. Manager::AddController creates
/// it, and Manager::Run runs it. The manager owns it. Thread-safe.
class Controller {
 public:
  class Impl;  // not for users: what the manager calls

  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  [[nodiscard]] const std::string& name() const;
  /// Returns the kind of the reconciled objects. The reference is valid as long as the controller.
  [[nodiscard]] const OwningKind& kind() const;
  [[nodiscard]] Cache& cache();
  /// Returns the queue for handlers and sources. `source` is the name in reasons, and must be the
  /// kind of the events if EventQueue::Enqueue is used.
  [[nodiscard]] EventQueue EventsOf(std::string source);

  /// Changes the number of workers, also while they run. A surplus worker ends after its current
  /// reconcile. Does not block; may be called by a reconcile function. Throws
  /// std::invalid_argument if `workers` < 1, and std::runtime_error if a thread cannot be started.
  void SetWorkers(int workers);
  [[nodiscard]] int workers() const;

  /// Returns the number of reconciles since the start, with any result.
  [[nodiscard]] std::uint64_t CompletedReconciles() const;

  // Watches of further kinds while the program runs, for example because a
  // CustomResourceDefinition was installed. Each watch ends with its handle. The functions are
  // called as those of ControllerBuilder::Watches, first for each existing object. Only events that
  // pass `predicate` are handled. They throw std::logic_error if `predicate` is for another view;
  // then nothing is watched. Also reconcile functions may call them.

  /// Watches `U`, and reconciles the objects that `keys` returns when a `U` changes.
  template <ApiObject U>
  WatchHandle Watch(std::function<std::vector<ObjectKey>(const U&)> keys,
                    AnyPredicate predicate = {}) {
    AnyPredicate of_view = AnyPredicate{.view = &typeid(U)} && std::move(predicate);
    auto handler =
        informer::EnqueueMapped<U>(EventsOf(std::string(U::kKind.kind)).Enqueue(), std::move(keys));
    return Watch(cache().Acquire<U>(), std::move(handler), std::move(of_view));
  }
  /// Watches `U` with own functions.
  template <ApiObject U>
  WatchHandle Watch(HandlerFunctions<U> functions, AnyPredicate predicate = {}) {
    AnyPredicate of_view = AnyPredicate{.view = &typeid(U)} && std::move(predicate);
    auto handler = HandlerOf<U>(std::move(functions), EventsOf(std::string(U::kKind.kind)));
    return Watch(cache().Acquire<U>(), std::move(handler), std::move(of_view));
  }
  /// Watches a kind that is only known at run time.
  WatchHandle Watch(const OwningKind& kind,
                    std::function<std::vector<ObjectKey>(const Unstructured&)> keys,
                    AnyPredicate predicate = {});

 private:
  explicit Controller(Impl& impl) : impl_(impl) {}
  WatchHandle Watch(std::shared_ptr<InformerSet> informers, informer::AnyEventHandler handler,
                    AnyPredicate predicate) const;

  Impl& impl_;  // owns this object
};

}  // namespace kopp
