#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <kopp/informer/any_object.hpp>
#include <kopp/informer/event_handler.hpp>
#include <kopp/informer/selector.hpp>

namespace kopp {

/// Decides which events of a watched kind are handled, type-erased. An event passes if the function
/// for it is empty or returns true. The functions may be called by several threads at once, and
/// must not block. controller-runtime: predicate.Predicate.
///
///     manager.AddController<Foo>()
///         .Where(kopp::GenerationChanged() && kopp::NotPaused("example.com/paused"))
///         .Reconcile(Reconcile);
struct AnyPredicate {
  std::function<bool(const informer::AnyObject& object)> on_add = {};
  /// A resync passes the same object twice.
  std::function<bool(const informer::AnyObject& before, const informer::AnyObject& after)>
      on_update = {};
  std::function<bool(const informer::AnyObject& object)> on_delete = {};
  /// The view of the objects that the functions accept; null: all views.
  const std::type_info* view = nullptr;
};

/// An AnyPredicate for objects of the view `T`. An rvalue converts to AnyPredicate.
template <ApiObject T>
struct Predicate {
  std::function<bool(const T& object)> on_add = {};
  std::function<bool(const T& before, const T& after)> on_update = {};
  std::function<bool(const T& object)> on_delete = {};

  operator AnyPredicate() && {  // NOLINT: intentionally implicit
    const auto any = [](std::function<bool(const T&)> f) {
      return [f = std::move(f)](const informer::AnyObject& object) { return f(*object.As<T>()); };
    };
    AnyPredicate predicate{.view = &typeid(T)};
    if (on_add) predicate.on_add = any(std::move(on_add));
    if (on_update) {
      predicate.on_update = [f = std::move(on_update)](const informer::AnyObject& before,
                                                       const informer::AnyObject& after) {
        return f(*before.As<T>(), *after.As<T>());
      };
    }
    if (on_delete) predicate.on_delete = any(std::move(on_delete));
    return predicate;
  }
};

// The predicates of the following four functions let all adds and deletes pass.

/// Returns a predicate for updates that change metadata.generation: the API server increments it
/// when the spec changes, not when labels, annotations or the status change. An operator that
/// writes only the status of its objects is therefore not called for its own writes. Objects
/// without a generation, such as ConfigMaps and Pods of older clusters, pass if their resource
/// version changes.
///
/// A resync passes, so that ControllerOptions::sync_period keeps its meaning; in controller-runtime
/// it does not pass. To exclude resyncs, use `GenerationChanged() && ResourceVersionChanged()`.
[[nodiscard]] AnyPredicate GenerationChanged();
/// Returns a predicate for updates that change metadata.labels, and for resyncs.
[[nodiscard]] AnyPredicate LabelsChanged();
/// Returns a predicate for updates that change metadata.annotations, and for resyncs.
[[nodiscard]] AnyPredicate AnnotationsChanged();
/// Returns a predicate for updates that change metadata.resourceVersion: all updates except resyncs
/// and objects that a new list shows unchanged.
[[nodiscard]] AnyPredicate ResourceVersionChanged();

/// Returns a predicate for events of objects whose labels match `selector`. An update passes if the
/// old or the new state matches, so that an object which leaves the selection is handled once more;
/// in controller-runtime only the new state counts.
[[nodiscard]] AnyPredicate MatchesSelector(LabelSelector selector);

/// Returns a predicate for all deletes, and for adds, updates and resyncs of objects that do not
/// have `annotation` with the value "true". Removing the annotation is an update that passes. It
/// does not change the generation: write `(GenerationChanged() || AnnotationsChanged()) &&
/// NotPaused(…)`. Keys that are already queued or requeued are not affected.
[[nodiscard]] AnyPredicate NotPaused(std::string annotation);

/// Returns a predicate for events of objects for which `matches` returns true. It gets the new
/// state of an update, and the last state of a deleted object. controller-runtime:
/// predicate.NewPredicateFuncs.
template <ApiObject T, typename F>
[[nodiscard]] AnyPredicate PredicateOf(F matches) {
  static_assert(std::is_invocable_r_v<bool, F&, const T&>,
                "PredicateOf<T>: the function must take const T& and return bool");
  return Predicate<T>{.on_add = matches,
                      .on_update = [matches](const T&, const T& after) { return matches(after); },
                      .on_delete = matches};
}

// Combine predicates. They throw std::logic_error if `a` and `b` are for different views.

/// Returns a predicate for events that pass both. `b` is not called if `a` returns false.
[[nodiscard]] AnyPredicate operator&&(AnyPredicate a, AnyPredicate b);
/// Returns a predicate for events that pass at least one. `b` is not called if `a` returns true.
[[nodiscard]] AnyPredicate operator||(AnyPredicate a, AnyPredicate b);
/// Returns a predicate for events that do not pass. This includes adds and deletes:
/// `!LabelsChanged()` passes only updates.
[[nodiscard]] AnyPredicate operator!(AnyPredicate predicate);

/// Returns a && b && ….
template <typename... Predicates>
[[nodiscard]] AnyPredicate And(Predicates... predicates) {
  return (AnyPredicate(std::move(predicates)) && ...);
}
/// Returns a || b || ….
template <typename... Predicates>
[[nodiscard]] AnyPredicate Or(Predicates... predicates) {
  return (AnyPredicate(std::move(predicates)) || ...);
}
/// Returns !predicate.
[[nodiscard]] AnyPredicate Not(AnyPredicate predicate);

namespace informer {

/// Returns a handler that calls `handler` only for the events that pass `predicate`. If a predicate
/// throws, this counts as an exception of the handler.
[[nodiscard]] AnyEventHandler WithPredicate(const std::shared_ptr<const AnyPredicate>& predicate,
                                            AnyEventHandler handler);

}  // namespace informer
}  // namespace kopp
