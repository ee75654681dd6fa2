#include "manager_impl.hpp"

#include <utility>

namespace kopp {

void SkippedObjectEvents::OnSkipped(const SkippedObject& object) {
  Event event{SubjectOf(object), object.problem};
  if (event.object.name.empty()) return;
  auto state = state_.Lock();
  const std::string version = object.metadata.uid + '/' + object.metadata.resourceVersion;
  if (state->seen.Find(version) != nullptr) return;
  state->seen.GetOr(version, [] { return true; });
  if (state->events != nullptr) {
    Record(*state->events, event);
  } else if (state->pending.size() < kMaxPending) {
    state->pending.push_back(std::move(event));
  }
}

void SkippedObjectEvents::Start(EventRecorder& events) {
  std::vector<Event> pending;
  {
    auto state = state_.Lock();
    state->events = &events;
    pending.swap(state->pending);
  }
  for (const Event& event : pending) Record(events, event);
}

/// Returns the object that the Event is about: the skipped object, or its controller owner. The
/// name is empty if no controller of this manager reconciles either of them.
ObjectReference SkippedObjectEvents::SubjectOf(const SkippedObject& object) const {
  const Kind kind = object.kind;
  if (find_kind_(kind.group(), kind.kind) != nullptr) return ReferenceTo(kind, object.metadata);
  for (const OwnerReference& owner : object.metadata.ownerReferences.get()) {
    if (!owner.controller) continue;
    const OwningKind* const found = find_kind_(Kind{owner.apiVersion}.group(), owner.kind);
    if (found == nullptr) continue;
    return {.apiVersion = owner.apiVersion,
            .kind = owner.kind,
            .ns = found->scope == Scope::kCluster ? "" : object.metadata.ns,
            .name = owner.name,
            .uid = owner.uid};
  }
  return {};
}

void SkippedObjectEvents::Record(EventRecorder& events, const Event& event) {
  events.Warning(event.object, "DecodeError", event.message, {.action = "Decode"});
}

/// Makes the cache with these options record Events for the objects that it skips. Sets skipped_.
void Manager::Impl::ReportSkippedObjects(CacheOptions& cache) {
  skipped_ = std::make_unique<SkippedObjectEvents>(
      [this](std::string_view group, std::string_view kind) -> const OwningKind* {
        for (const Controller::Impl* controller : Controllers()) {
          const OwningKind& own = controller->kind();
          if (own.kind == kind && own.group() == group) return &own;
        }
        return nullptr;
      });
  cache.on_skipped = [events = skipped_.get(),
                      next = cache.on_skipped](const SkippedObject& object) {
    events->OnSkipped(object);
    if (next) next(object);
  };
}

}  // namespace kopp
