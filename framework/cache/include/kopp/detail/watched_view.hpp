#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <kopp/cache_options.hpp>
#include <kopp/http_source.hpp>
#include <kopp/informer/any_object.hpp>
#include <kopp/informer/json_object.hpp>
#include <kopp/informer/metadata_only.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/informer/owning_kind.hpp>

namespace kopp::detail {

/// Changes an object before it is stored. Empty: the object remains as it is.
using CacheTransform = std::function<void(void* object, ObjectMeta& metadata)>;

/// Returns `decoded` for the store of a cache, after `transform`.
template <typename T>
informer::AnyObject Transformed(T decoded, const CacheTransform& transform) {
  auto object = std::make_shared<T>(std::move(decoded));
  if (transform) transform(object.get(), object->metadata);
  return std::shared_ptr<const T>(std::move(object));
}

/// Returns objects of the view `T` with their type.
template <typename T>
std::vector<std::shared_ptr<const T>> Typed(const std::vector<informer::AnyObject>& objects) {
  std::vector<std::shared_ptr<const T>> typed;
  typed.reserve(objects.size());
  for (const informer::AnyObject& object : objects) typed.push_back(object.template As<T>());
  return typed;
}

/// How a Cache watches the objects of a view, and decodes them.
struct WatchedView {
  using Decode = informer::AnyObject (*)(const JsonObject& text, const OwningKind& kind,
                                         const CacheTransform& transform);

  template <ApiObject T>
  static WatchedView Of() {
    return {.key = CacheKey::Of<T>(),
            .kind = T::kKind,
            .form = kIsMetadataOnly<T> ? ObjectForm::kMetadataOnly : ObjectForm::kComplete,
            .decode =
                [](const JsonObject& text, const OwningKind&, const CacheTransform& transform) {
                  return Transformed(text.Decode<T>(), transform);
                },
            .complete = CacheKey::Of<typename ViewsOf<T>::Complete>()};
  }
  static WatchedView Of(const OwningKind& kind, ObjectForm form);

  CacheKey key;
  OwningKind kind;
  ObjectForm form;
  Decode decode;
  CacheKey complete;  // the view whose options apply if `key` has none
};

/// Refers to a WatchedView, which is only created if the view is not watched yet.
struct WatchedViewRef {
  template <ApiObject T>
  static WatchedViewRef Of() {
    return {CacheKey::Of<T>(), [](const CacheKey&) { return WatchedView::Of<T>(); }};
  }
  static WatchedViewRef Of(const OwningKind& kind, ObjectForm form);

  CacheKey key;
  WatchedView (*describe)(const CacheKey& key);
};

/// Returns the views that the program, anywhere, reads from a cache as a C++ type. Thread-safe.
[[nodiscard]] std::vector<WatchedViewRef> ReadViews();
/// Adds a view to ReadViews. Returns true.
bool AddReadView(WatchedViewRef view);

/// Instantiated by each typed read of a cache, so that its initialization, before main, adds the
/// view to ReadViews.
template <ApiObject T>
inline const bool read_view = AddReadView(WatchedViewRef::Of<T>());

}  // namespace kopp::detail
