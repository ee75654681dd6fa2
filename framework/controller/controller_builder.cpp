#include "controller/controller_impl.hpp"

#include <stdexcept>
#include <utility>

#include <kopp/controller/controller_builder.hpp>
#include <kopp/informer_set.hpp>

namespace kopp {

void ControllerBuilderBase::Init(const std::type_info& view,
                                 std::function<informer::AnyObject(const ObjectKey&)> find) {
  Controller::Impl::Of(controller_).SetPrimaryInformers(informers_, std::move(find));
  AddHandler(informers_, view, informer::EnqueueKey(Enqueue(controller_.kind())),
             NonBlocking(Controller::Impl::Of(controller_).sync_period()));
}

informer::EnqueueFunction ControllerBuilderBase::Enqueue(const Kind& kind) const {
  return controller_.EventsOf(std::string(kind.kind)).Enqueue();
}

std::function<std::vector<ObjectKey>()> ControllerBuilderBase::AllKeys() const {
  return [informers = &informers_] {
    std::vector<ObjectKey> keys;
    for (const informer::AnyObject& object : informers->List()) keys.push_back(object.key());
    return keys;
  };
}

void ControllerBuilderBase::AddHandler(InformerSet& informers, const std::type_info& view,
                                       informer::AnyEventHandler handler,
                                       informer::HandlerOptions options) {
  WatchOwned();
  predicate_ = std::make_shared<AnyPredicate>(AnyPredicate{.view = &view});
  AddHandlerTo(informers, std::move(handler), std::move(options));
}

void ControllerBuilderBase::AddHandlerTo(InformerSet& informers, informer::AnyEventHandler handler,
                                         informer::HandlerOptions options) {
  options.name = controller_.name();
  Controller::Impl::Of(controller_).AddInformers(informers);
  informers.AddHandler(informer::WithPredicate(predicate_, std::move(handler)), options);
}

void ControllerBuilderBase::AddOwned(const Kind& kind, const OwnsOptions& options, Form metadata,
                                     Form complete) {
  if (is_complete_) throw std::logic_error("Owns was called after Reconcile, which must be last");
  WatchOwned();
  Controller::Impl::Of(controller_).AddOwnedKind(kind);
  auto handler =
      informer::EnqueueOwner(Enqueue(kind), controller_.kind(),
                             options.match_every_owner ? informer::OwnerMatch::kEveryOwner
                                                       : informer::OwnerMatch::kController);
  predicate_ = std::make_shared<AnyPredicate>(AnyPredicate{.view = metadata.view});
  owned_ = {std::move(metadata), std::move(complete), std::move(handler)};
}

void ControllerBuilderBase::CacheOwned() {
  if (!owned_ || owned_->has_predicate)
    throw std::logic_error("Cached() must follow Owns directly: write .Owns<KIND>().Cached()");
  if (*owned_->form.view == *owned_->complete.view) {
    throw std::logic_error(
        "Cached() changes nothing: it is there twice, or the kind of Owns has only metadata; write "
        ".Owns<KIND>().Cached(), not .Owns<MetadataOnly<KIND>>()");
  }
  owned_->form = owned_->complete;
  predicate_->view = owned_->form.view;
}

/// Adds the handler of the last Owns, whose form is known now.
void ControllerBuilderBase::WatchOwned() {
  if (!owned_) return;
  Owned owned = *std::exchange(owned_, std::nullopt);
  AddHandlerTo(owned.form.informers(), std::move(owned.handler), NonBlocking());
}

void ControllerBuilderBase::AddSource(std::shared_ptr<EventSource> source) {
  WatchOwned();
  Controller::Impl::Of(controller_).AddSource(std::move(source));
}

void ControllerBuilderBase::SetReconciler(Reconciler reconcile) {
  WatchOwned();
  is_complete_ = true;
  Controller::Impl::Of(controller_).SetReconciler(std::move(reconcile));
}

void ControllerBuilderBase::Restrict(AnyPredicate predicate) {
  if (owned_ && predicate.view != nullptr && *predicate.view != *owned_->form.view &&
      *predicate.view == *owned_->complete.view) {
    throw std::logic_error(
        "the predicate needs the fields of the owned objects: write "
        ".Owns<KIND>().Cached().Where(…)");
  }
  if (owned_) owned_->has_predicate = true;
  *predicate_ = *predicate_ && std::move(predicate);
}

informer::HandlerOptions ControllerBuilderBase::NonBlocking(Duration resync) {
  return {.resync = resync, .delivery = informer::Delivery::kInformerThread};
}

}  // namespace kopp
