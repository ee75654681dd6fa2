#include "cache/cache_impl.hpp"

#include <kopp/cache.hpp>

namespace kopp {
namespace detail {

WatchedView WatchedView::Of(const OwningKind& kind, ObjectForm form) {
  const WatchedViewRef view = WatchedViewRef::Of(kind, form);
  return view.describe(view.key);
}

WatchedViewRef WatchedViewRef::Of(const OwningKind& kind, ObjectForm form) {
  const CacheKey key = CacheKey::Of(kind, form);
  if (form == ObjectForm::kMetadataOnly) {
    return {key, [](const CacheKey& of) {
              return WatchedView{
                  of, of.kind, ObjectForm::kMetadataOnly,
                  [](const JsonObject& text, const OwningKind&, const CacheTransform& transform) {
                    return Transformed(text.Decode<PartialObjectMetadata>(), transform);
                  },
                  of};
            }};
  }
  return {key, [](const CacheKey& of) {
            return WatchedView{
                of, of.kind, ObjectForm::kComplete,
                [](const JsonObject& text, const OwningKind& own, const CacheTransform& transform) {
                  return Transformed(Unstructured::FromJson(text, own), transform);
                },
                of};
          }};
}

}  // namespace detail

Cache::Cache(Transport& transport, CacheOptions options, Logger log, Clock& clock)
    : impl_(std::make_unique<Impl>(transport, std::move(options), std::move(log), clock)) {}
Cache::~Cache() = default;

std::shared_ptr<const Unstructured> Cache::Get(const OwningKind& kind, const ObjectKey& key,
                                               const ReadOptions& read) const {
  return GetAny(ViewRef::Of(kind, ObjectForm::kComplete), key, read).As<Unstructured>();
}

std::vector<std::shared_ptr<const Unstructured>> Cache::List(const OwningKind& kind,
                                                             std::string_view ns,
                                                             const ReadOptions& read) const {
  return detail::Typed<Unstructured>(
      ListAny(ViewRef::Of(kind, ObjectForm::kComplete), {.ns = std::string(ns)}, read));
}

std::shared_ptr<const PartialObjectMetadata> Cache::GetMetadata(const OwningKind& kind,
                                                                const ObjectKey& key,
                                                                const ReadOptions& read) const {
  return GetAny(ViewRef::Of(kind, ObjectForm::kMetadataOnly), key, read)
      .As<PartialObjectMetadata>();
}

std::vector<std::shared_ptr<const PartialObjectMetadata>> Cache::ListMetadata(
    const OwningKind& kind, std::string_view ns, const ReadOptions& read) const {
  return detail::Typed<PartialObjectMetadata>(
      ListAny(ViewRef::Of(kind, ObjectForm::kMetadataOnly), {.ns = std::string(ns)}, read));
}

informer::AnyObject Cache::GetAny(const ViewRef& view, const ObjectKey& key,
                                  const ReadOptions& read) const {
  return impl_->ForRead(view, key, read)->Get(key);
}

Cache::AnyObjects Cache::ListAny(const ViewRef& view, const Selector& selector,
                                 const ReadOptions& read) const {
  return impl_->ForRead(view, selector.ns, read)->List(selector, read.order);
}

Cache::AnyObjects Cache::ByIndexAny(const ViewRef& view, std::string_view index,
                                    std::string_view value, const ReadOptions& read) const {
  return impl_->ForRead(view, "", read)->ByIndex(index, value);
}

InformerSet& Cache::InformersFor(const View& view) { return impl_->InformersFor(view); }
InformerSet& Cache::InformerFor(const OwningKind& kind, ObjectForm form) {
  return InformersFor(View::Of(kind, form));
}
std::shared_ptr<InformerSet> Cache::Acquire(const View& view) { return impl_->Acquire(view); }
void Cache::AddIndex(const View& view, const std::string& name,
                     const informer::AnyIndexFunc& values_of) {
  InformersFor(view).AddIndex(name, values_of);
}
void Cache::AddOwnerIndex(const View& view) { InformersFor(view).AddOwnerIndex(); }
bool Cache::Remove(const detail::CacheKey& view) { return impl_->Remove(view); }

std::vector<OwningKind> Cache::Kinds() const { return impl_->Kinds(); }
bool Cache::WaitForSync(const std::stop_token& stop) const { return impl_->WaitForSync(stop); }
std::vector<UnsyncedInformer> Cache::NotSynced() const { return impl_->NotSynced(); }
std::vector<informer::InformerStatus> Cache::Statuses() const { return impl_->Statuses(); }

}  // namespace kopp
