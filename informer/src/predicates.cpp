#include <stdexcept>

#include <kopp/informer/predicates.hpp>

namespace kopp {
namespace {

using informer::AnyObject;

template <typename Function, typename... Objects>
bool Passes(const Function& function, const Objects&... objects) {
  return !function || function(objects...);
}

/// Applies a boolean operation to the results of each function of two predicates. `combine` gets
/// two functions without parameters, so that it need not call the second.
template <typename Combine>
AnyPredicate CombinePredicates(AnyPredicate a, AnyPredicate b, Combine combine) {
  if (a.view != nullptr && b.view != nullptr && *a.view != *b.view) {
    throw std::logic_error(
        "predicates for different views cannot be combined: use each for its "
        "own kind");
  }
  const auto both = [combine](auto f, auto g) {
    return [combine, f = std::move(f), g = std::move(g)](const auto&... objects) {
      return combine([&] { return Passes(f, objects...); }, [&] { return Passes(g, objects...); });
    };
  };
  return {.on_add = both(std::move(a.on_add), std::move(b.on_add)),
          .on_update = both(std::move(a.on_update), std::move(b.on_update)),
          .on_delete = both(std::move(a.on_delete), std::move(b.on_delete)),
          .view = a.view != nullptr ? a.view : b.view};
}

AnyPredicate ResyncOr(std::function<bool(const ObjectMeta&, const ObjectMeta&)> changed) {
  return {
      .on_update = [changed = std::move(changed)](const AnyObject& before, const AnyObject& after) {
        return before == after || changed(before.metadata(), after.metadata());
      }};
}

}  // namespace

AnyPredicate GenerationChanged() {
  return ResyncOr([](const ObjectMeta& before, const ObjectMeta& after) {
    if (!after.generation) return before.resourceVersion != after.resourceVersion;
    return before.generation != after.generation;
  });
}

AnyPredicate LabelsChanged() {
  return ResyncOr([](const ObjectMeta& before, const ObjectMeta& after) {
    return before.labels != after.labels;
  });
}

AnyPredicate AnnotationsChanged() {
  return ResyncOr([](const ObjectMeta& before, const ObjectMeta& after) {
    return before.annotations != after.annotations;
  });
}

AnyPredicate ResourceVersionChanged() {
  return {.on_update = [](const AnyObject& before, const AnyObject& after) {
    return before.metadata().resourceVersion != after.metadata().resourceVersion;
  }};
}

AnyPredicate MatchesSelector(LabelSelector selector) {
  const auto matches = [selector = std::move(selector)](const AnyObject& object) {
    return selector.Matches(object.metadata().labels);
  };
  return {
      .on_add = matches,
      .on_update = [matches](const AnyObject& before,
                             const AnyObject& after) { return matches(before) || matches(after); },
      .on_delete = matches};
}

AnyPredicate NotPaused(std::string annotation) {
  const auto is_active = [annotation = std::move(annotation)](const AnyObject& object) {
    const auto& annotations = object.metadata().annotations;
    const auto found = annotations.find(annotation);
    return found == annotations.end() || found->second != "true";
  };
  return {.on_add = is_active, .on_update = [is_active](const AnyObject&, const AnyObject& after) {
            return is_active(after);
          }};
}

AnyPredicate operator&&(AnyPredicate a, AnyPredicate b) {
  return CombinePredicates(std::move(a), std::move(b),
                           [](const auto& f, const auto& g) { return f() && g(); });
}

AnyPredicate operator||(AnyPredicate a, AnyPredicate b) {
  return CombinePredicates(std::move(a), std::move(b),
                           [](const auto& f, const auto& g) { return f() || g(); });
}

AnyPredicate operator!(AnyPredicate predicate) {
  return CombinePredicates(std::move(predicate), {},
                           [](const auto& f, const auto&) { return !f(); });
}

AnyPredicate Not(AnyPredicate predicate) { return !std::move(predicate); }

namespace informer {

AnyEventHandler WithPredicate(const std::shared_ptr<const AnyPredicate>& predicate,
                              AnyEventHandler handler) {
  AnyEventHandler filtered;
  if (handler.on_add) {
    filtered.on_add = [predicate, f = std::move(handler.on_add)](const AnyObject& object,
                                                                 bool in_initial_list) {
      if (Passes(predicate->on_add, object)) f(object, in_initial_list);
    };
  }
  if (handler.on_update) {
    filtered.on_update = [predicate, f = std::move(handler.on_update)](const AnyObject& before,
                                                                       const AnyObject& after) {
      if (Passes(predicate->on_update, before, after)) f(before, after);
    };
  }
  if (handler.on_delete) {
    filtered.on_delete = [predicate, f = std::move(handler.on_delete)](const AnyObject& object,
                                                                       bool final_state_unknown) {
      if (Passes(predicate->on_delete, object)) f(object, final_state_unknown);
    };
  }
  return filtered;
}

}  // namespace informer
}  // namespace kopp
