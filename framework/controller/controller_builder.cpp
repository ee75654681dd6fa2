#include "controller/controller_impl.hpp"

#include <kopp/controller/controller_builder.hpp>
#include <kopp/informer_set.hpp>

namespace kopp {

void ControllerBuilderBase::Init(const std::type_info& view,
                                 std::function<informer::AnyObject(const ObjectKey&)> find) {
  Controller::Impl::Of(controller_).SetPrimaryInformers(informers_, std::move(find));
  AddHandler(informers_, view, informer::EnqueueKey(Enqueue(controller_.kind())),
             NonBlocking(Controller::Impl::Of(controller_).resync()));
}

informer::EnqueueFunction ControllerBuilderBase::Enqueue(const Kind& kind) const {
  return controller_.EventsOf(std::string(kind.kind)).Enqueue();
}

informer::AnyEventHandler ControllerBuilderBase::EnqueueOwner(const Kind& kind,
                                                              const OwnsOptions& options) const {
  Controller::Impl::Of(controller_).AddOwnedKind(kind);
  return informer::EnqueueOwner(Enqueue(kind), controller_.kind(),
                                options.match_every_owner ? informer::OwnerMatch::kEveryOwner
                                                          : informer::OwnerMatch::kController);
}

std::function<std::vector<ObjectKey>()> ControllerBuilderBase::AllKeys() const {
  return [informers = &informers_] {
    std::vector<ObjectKey> keys;
    for (const informer::AnyObject& object : informers->List()) keys.push_back(object.key());
    return keys;
  };
}

void ControllerBuilderBase::AddInformers(const InformerSet& informers) {
  Controller::Impl::Of(controller_).AddInformers(informers);
}

void ControllerBuilderBase::AddHandler(InformerSet& informers, const std::type_info& view,
                                       informer::AnyEventHandler handler,
                                       informer::HandlerOptions options) {
  options.name = controller_.name();
  AddInformers(informers);
  predicate_ = std::make_shared<AnyPredicate>(AnyPredicate{.view = &view});
  informers.AddHandler(informer::WithPredicate(predicate_, std::move(handler)), options);
}

void ControllerBuilderBase::AddSource(std::shared_ptr<EventSource> source) {
  Controller::Impl::Of(controller_).AddSource(std::move(source));
}

void ControllerBuilderBase::SetReconciler(Reconciler reconcile) {
  Controller::Impl::Of(controller_).SetReconciler(std::move(reconcile));
}

void ControllerBuilderBase::Restrict(AnyPredicate predicate) {
  *predicate_ = *predicate_ && std::move(predicate);
}

informer::HandlerOptions ControllerBuilderBase::NonBlocking(Duration resync) {
  return {.resync = resync, .delivery = informer::Delivery::kInformerThread};
}

}  // namespace kopp
