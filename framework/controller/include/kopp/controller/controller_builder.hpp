#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <kopp/cluster.hpp>
#include <kopp/controller.hpp>
#include <kopp/controller/channel.hpp>
#include <kopp/controller/detail/reconciler_of.hpp>
#include <kopp/controller/handler_functions.hpp>
#include <kopp/controller/source.hpp>
#include <kopp/informer/event_handler.hpp>
#include <kopp/informer/handlers.hpp>
#include <kopp/informer/metadata_only.hpp>
#include <kopp/informer/predicates.hpp>
#include <kopp/informer/unstructured.hpp>
#include <kopp/reconcile.hpp>

namespace kopp {

/// Options of ControllerBuilder::Owns.
struct OwnsOptions {
  /// Whether to reconcile every owner of the kind. Default: only the owner reference with
  /// `controller: true`. controller-runtime: MatchEveryOwner.
  bool match_every_owner = false;
};

/// The part of a ControllerBuilder that does not depend on the view. It is compiled once.
class ControllerBuilderBase {
 public:
  ControllerBuilderBase(const ControllerBuilderBase&) = delete;
  ControllerBuilderBase& operator=(const ControllerBuilderBase&) = delete;

 protected:
  ControllerBuilderBase(Controller& controller, InformerSet& informers)
      : controller_(controller), informers_(informers) {}
  ControllerBuilderBase(ControllerBuilderBase&&) = default;
  ~ControllerBuilderBase() = default;

  /// Makes the controller reconcile the objects of `informers_`, which have the type `view`.
  /// `find` returns an object of the cache, or an empty AnyObject.
  void Init(const std::type_info& view, std::function<informer::AnyObject(const ObjectKey&)> find);
  /// Returns a function that adds keys to the queue because of an event of an object of `kind`.
  [[nodiscard]] informer::EnqueueFunction Enqueue(const Kind& kind) const;
  /// Returns a function that returns the keys of all objects of `informers_` in the cache.
  [[nodiscard]] std::function<std::vector<ObjectKey>()> AllKeys() const;
  void AddHandler(InformerSet& informers, const std::type_info& view,
                  informer::AnyEventHandler handler, informer::HandlerOptions options);
  /// For handlers that only add keys to the queue. They need no thread.
  static informer::HandlerOptions NonBlocking(Duration resync = {});
  /// Adds a source of events, which runs on a thread of its own.
  void AddSource(std::shared_ptr<EventSource> source);
  void SetReconciler(Reconciler reconcile);
  /// Adds a predicate to predicate_.
  void Restrict(AnyPredicate predicate);

  /// A form of a kind, which is not watched before `informers` is called.
  struct Form {
    std::function<InformerSet&()> informers;
    const std::type_info* view;
  };
  /// Watches the owned `kind` in the form `metadata`, or in `complete` if CacheOwned follows.
  void AddOwned(const Kind& kind, const OwnsOptions& options, Form metadata, Form complete);
  void CacheOwned();

  Controller& controller_;
  InformerSet& informers_;                   // of the reconciled objects
  std::shared_ptr<AnyPredicate> predicate_;  // of the kind that was named last

 private:
  struct Owned {
    Form form;
    Form complete;
    informer::AnyEventHandler handler;
    bool has_predicate = false;
  };
  void WatchOwned();
  void AddHandlerTo(InformerSet& informers, informer::AnyEventHandler handler,
                    informer::HandlerOptions options);

  bool is_complete_ = false;    // whether Reconcile was called
  std::optional<Owned> owned_;  // if Owns was called last: its handler, which is not yet added
};

/// Configures a controller for objects of `T`: which other kinds it watches, and its reconcile
/// function. Every object of `T` that is added, changed or deleted is reconciled.
///
/// Call Reconcile last. Not copyable, not thread-safe. The Manager must outlive the builder.
///
///     manager.AddController<Foo>({.name = "foo", .workers = 2})
///         .Where(kopp::GenerationChanged())  // applies to Foo
///         .Owns<Deployment>()
///         .Reconcile(f);
///
/// `T` is Unstructured for a kind that is only known at run time.
template <typename T>
class [[nodiscard]] ControllerBuilder : private ControllerBuilderBase {
 public:
  explicit ControllerBuilder(Controller& controller)
    requires ApiObject<T>
      : ControllerBuilderBase(controller, controller.cache().template InformerFor<T>()) {
    Init(typeid(T), [&cache = std::as_const(controller_.cache())](const ObjectKey& key) {
      return detail::PrimaryRead::Get<T>(cache, key, {.await_own_writes = false});
    });
  }
  ControllerBuilder(Controller& controller, const OwningKind& kind)
    requires std::same_as<T, Unstructured>
      : ControllerBuilderBase(controller, controller.cache().InformerFor(kind)) {
    Init(typeid(T), [&cache = std::as_const(controller_.cache()), kind](const ObjectKey& key) {
      return informer::AnyObject(cache.Get(kind, key, {.await_own_writes = false}));
    });
  }

  /// Returns the controller, for example to call Controller::Watch while the program runs.
  [[nodiscard]] Controller& controller() const { return controller_; }

  /// Watches `U`, and reconciles the owning `T` when a `U` with a `T` as its controller (see
  /// OwnedBy) changes. The cache has only the metadata of the objects, as `MetadataOnly<U>`, unless
  /// Cached() follows. controller-runtime: Owns with builder.OnlyMetadata.
  template <typename U>
  ControllerBuilder& Owns(const OwnsOptions& options = {}) {
    static_assert(detail::RequireObject<U>());
    AddOwned(U::kKind, options, FormOf<typename detail::ViewsOf<U>::Metadata>(), FormOf<U>());
    return *this;
  }
  /// Makes the cache have the objects of the Owns before it as `U`, for a reconciler that reads
  /// them, for a predicate of `U`, or because `U` is watched anyway. Throws std::logic_error unless
  /// it follows Owns directly.
  ControllerBuilder& Cached() {
    CacheOwned();
    return *this;
  }

  /// Watches `U`, and reconciles the objects that `keys` returns when a `U` changes. `keys` is
  /// called on a thread of its own, one call at a time (if several namespaces are watched: one for
  /// each); while it is busy, the events of each `U` are merged. It may block, for example to call
  /// the API server. Manager::Run documents what happens if it does not return after a stop.
  ///
  /// It may read the cache; these reads do not wait for own writes (see ReadOptions). If it throws,
  /// the error is logged and no key is enqueued for this event.
  template <typename U, typename F>
  ControllerBuilder& Watches(F keys) {
    static_assert(detail::RequireObject<U>());
    static_assert(std::is_invocable_r_v<std::vector<ObjectKey>, F&, const U&>,
                  "Watches<U>: the function must take const U& and return "
                  "std::vector<kopp::ObjectKey>");
    AddHandler<U>(informer::EnqueueMapped<U>(Enqueue(U::kKind), std::move(keys)), {});
    return *this;
  }

  /// Watches `U` in another cluster, which must outlive the manager or belong to it. `keys` returns
  /// keys of objects in the cluster of the controller.
  template <ApiObject U>
  ControllerBuilder& Watches(Cluster& cluster,
                             std::function<std::vector<ObjectKey>(const U&)> keys) {
    AddHandler(cluster.cache().InformerFor<U>(), typeid(U),
               informer::EnqueueMapped<U>(Enqueue(U::kKind), std::move(keys)), {});
    return *this;
  }

  /// Watches `U` with own functions, which add keys to the queue. They are called as `keys` above.
  template <ApiObject U>
  ControllerBuilder& Watches(HandlerFunctions<U> functions) {
    AddHandler<U>(
        HandlerOf<U>(std::move(functions), controller_.EventsOf(std::string(U::kKind.kind))), {});
    return *this;
  }

  /// Reconciles the objects whose keys `source` adds. No predicate applies.
  ControllerBuilder& Watches(std::shared_ptr<EventSource> source) {
    AddSource(std::move(source));
    return *this;
  }
  /// Reconciles the objects that `keys` returns for each event of `channel`. `keys` is called on a
  /// thread of its own, and may block. A channel belongs to one controller.
  template <typename Event>
  ControllerBuilder& WatchesChannel(const Channel<Event>& channel,
                                    std::function<std::vector<ObjectKey>(const Event&)> keys) {
    return Watches(std::make_shared<ChannelSource<Event>>(channel, std::move(keys)));
  }
  /// Reconciles the objects whose keys are sent to `channel`.
  ControllerBuilder& WatchesChannel(const Channel<ObjectKey>& channel) {
    return WatchesChannel<ObjectKey>(channel,
                                     [](const ObjectKey& key) { return std::vector{key}; });
  }
  /// Reconciles all objects of `T` at each event of `channel`, for example when a configuration
  /// that concerns all of them has changed. kube-rs: reconcile_all_on.
  template <typename Event>
  ControllerBuilder& ReconcileAllOn(const Channel<Event>& channel) {
    return WatchesChannel<Event>(channel, [all = AllKeys()](const Event&) { return all(); });
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // TimerSource
  /// Reconciles all objects of `T` each `interval`, also if nothing has changed.
  [[deprecated(
      "set ControllerOptions::sync_period, or send to the channel of "
      "ReconcileAllOn")]] ControllerBuilder&
  ReconcileAllEvery(Duration interval) {
    return Watches(std::make_shared<TimerSource>(interval, AllKeys()));
  }
#pragma GCC diagnostic pop

  /// Owns() for a kind that is only known at run time. The objects are PartialObjectMetadata, or
  /// Unstructured if Cached() follows.
  ControllerBuilder& Owns(const OwningKind& kind, const OwnsOptions& options = {}) {
    const auto form = [&](ObjectForm of_object, const std::type_info& view) {
      return Form{[&cache = controller_.cache(), kind, of_object]() -> InformerSet& {
                    return cache.InformerFor(kind, of_object);
                  },
                  &view};
    };
    AddOwned(kind, options, form(ObjectForm::kMetadataOnly, typeid(PartialObjectMetadata)),
             form(ObjectForm::kComplete, typeid(Unstructured)));
    return *this;
  }
  /// Watches() for a kind that is only known at run time.
  ControllerBuilder& Watches(const OwningKind& kind,
                             std::function<std::vector<ObjectKey>(const Unstructured&)> keys) {
    const auto keys_of_any = [keys = std::move(keys)](const informer::AnyObject& object) {
      return keys(*object.As<Unstructured>());
    };
    AddHandler(controller_.cache().InformerFor(kind), typeid(Unstructured),
               informer::EnqueueAnyMapped(Enqueue(kind), keys_of_any), {});
    return *this;
  }

  /// Ignores the events that do not pass `predicate`, of the kind that was named last: by Owns or
  /// Watches, or else by AddController. Several predicates for one kind must all pass. Throws
  /// std::logic_error if the predicate is for another view. See predicates.hpp.
  /// controller-runtime: builder.WithPredicates.
  ControllerBuilder& Where(AnyPredicate predicate) {
    Restrict(std::move(predicate));
    return *this;
  }

  /// Sets the reconcile function. It is called by several threads at once if `workers` > 1. It has
  /// one of two signatures. This one gets the object from the cache, and is not called if the
  /// object does not exist:
  ///
  ///     Result Reconcile(const Foo& foo, Context& context);
  ///
  /// This one gets the key, and is also called after the object was deleted:
  ///
  ///     Result Reconcile(const ObjectKey& key, Context& context);
  ///
  /// An exception is logged, and the reconcile is retried with back-off; see Result and
  /// TerminalError. Returns the controller, for example for Controller::SetWorkers; it is valid
  /// until the manager is destroyed.
  template <typename F>
  Controller& Reconcile(F reconcile) {
    if constexpr (ApiObject<T>) {
      SetReconciler(ReconcilerOf<T>(std::move(reconcile)));
    } else {
      SetReconciler(ReconcilerOf(controller_.kind(), std::move(reconcile)));
    }
    return controller_;
  }

 private:
  using ControllerBuilderBase::AddHandler;
  template <ApiObject U>
  [[nodiscard]] Form FormOf() {
    return {[&cache = controller_.cache()]() -> InformerSet& {
              return cache.template InformerFor<U>();
            },
            &typeid(U)};
  }
  template <ApiObject U>
  void AddHandler(informer::AnyEventHandler handler, informer::HandlerOptions options) {
    AddHandler(controller_.cache().template InformerFor<U>(), typeid(U), std::move(handler),
               std::move(options));
  }
};

}  // namespace kopp
