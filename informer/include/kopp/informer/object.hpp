#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/informer/detail/interned.hpp>
#include <kopp/informer/fields.hpp>
#include <kopp/informer/object_key.hpp>

namespace kopp {

/// The scope of a kind.
enum class Scope {
  kNamespaced,  ///< each object belongs to a namespace
  kCluster,     ///< objects belong to the whole cluster, for example Node
};

/// A kind of object of the Kubernetes API: group, version, kind and plural name. Corresponds to
/// schema.GroupVersionKind and schema.GroupVersionResource in Go. Does not own its strings, which
/// must outlive it: use string literals, or an OwningKind for a kind that is only known at run
/// time.
struct Kind {
  std::string_view api_version = {};  ///< "apps/v1", or "v1" for the core group
  std::string_view kind = {};         ///< "Deployment"
  std::string_view plural = {};       ///< "deployments"
  Scope scope = Scope::kNamespaced;

  /// Returns the API group: "apps", or "" for the core group.
  [[nodiscard]] constexpr std::string_view group() const {
    const auto slash = api_version.find('/');
    return slash == std::string_view::npos ? std::string_view{} : api_version.substr(0, slash);
  }
  /// Returns the version in the group: "v1".
  [[nodiscard]] constexpr std::string_view version() const {
    return api_version.substr(api_version.find('/') + 1);  // npos + 1 is 0
  }
};

/// A reference to an owner of an object: metav1.OwnerReference.
struct OwnerReference {
  std::string apiVersion = {};
  std::string kind = {};
  std::string name = {};
  std::string uid = {};
  bool controller = false;
  bool blockOwnerDeletion = false;
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

using OwnerReferences = Interned<std::vector<OwnerReference>>;

/// The metadata of an object: metav1.ObjectMeta without selfLink, deletionGracePeriodSeconds and
/// managedFields, which are not decoded. Timestamps are RFC 3339 text, as the server sends them.
/// Equal labels, annotations, owner references and finalizers of decoded objects share memory.
struct ObjectMeta {
  std::string name = {};
  std::string generateName = {};
  std::string ns = {};  ///< "namespace" in JSON; empty for cluster-scoped objects
  std::string uid = {};
  std::string resourceVersion = {};
  std::optional<std::int64_t> generation = {};
  std::string creationTimestamp = {};
  std::optional<std::string> deletionTimestamp = {};  ///< set while finalizers delay deletion
  StringMap labels = {};
  StringMap annotations = {};
  OwnerReferences ownerReferences = {};
  StringList finalizers = {};
  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;
};

KOPP_DECLARE_FIELDS(OwnerReference)
KOPP_DECLARE_FIELDS(ObjectMeta)

/// A struct of a kind: all fields of it, as the types of kopp::k8s have, or a view with the fields
/// that a program reads. They are listed with KOPP_FIELDS. Fields that are not listed are neither
/// decoded nor stored. Client::Create, Apply and Replace take no views; see IsView.
///
/// The struct is default-constructible and has a static `kKind` and a member `metadata`:
///
///     struct FooSpec {
///       std::int32_t replicas = 0;
///     };
///     KOPP_FIELDS(FooSpec, replicas)
///     struct Foo {
///       static constexpr kopp::Kind kKind{"samplecontroller.k8s.io/v1alpha1", "Foo", "foos"};
///       kopp::ObjectMeta metadata;
///       FooSpec spec;
///     };
///     KOPP_FIELDS(Foo, metadata, spec)
///
/// A view of a kind that kopp has:
///
///     struct PodPhase {
///       static constexpr kopp::Kind kKind = kopp::Pod::kKind;
///       struct Status {
///         std::string phase;
///       };
///       kopp::ObjectMeta metadata;
///       Status status;
///     };
///     KOPP_FIELDS(PodPhase::Status, phase)
///     KOPP_FIELDS(PodPhase, metadata, status)
///
/// Whole and MetadataOnly make other forms of the object from a view.
template <typename T>
concept ApiObject = std::default_initializable<T> &&
                    (detail::HasFieldList<T> || detail::DecodesItself<T>)&&requires(T object) {
                      { T::kKind } -> std::convertible_to<const Kind&>;
                      { object.metadata } -> std::same_as<ObjectMeta&>;
                    };

namespace detail {

template <typename T>
constexpr bool kHasKind = requires {
  { T::kKind } -> std::convertible_to<const Kind&>;
};
template <typename T>
constexpr bool kHasMetadata = requires(T object) {
  { object.metadata } -> std::same_as<ObjectMeta&>;
};

/// Fails to compile unless `T` is an ApiObject, with one message that says what `T` lacks.
template <typename T>
constexpr bool RequireObject() {
  static_assert(kHasKind<T>,
                "this type is not a kind of object: add to the struct `static constexpr kopp::Kind "
                "kKind{\"GROUP/VERSION\", \"KIND\", \"PLURAL\"};`");
  if constexpr (kHasKind<T>) {
    static_assert(kHasMetadata<T>,
                  "this kind has no metadata: add to the struct `kopp::ObjectMeta metadata;`");
    if constexpr (kHasMetadata<T>) {
      static_assert(HasFieldList<T> || DecodesItself<T>,
                    "this kind has no field list: write KOPP_FIELDS(TYPE, metadata, …) below the "
                    "struct, in its namespace");
    }
  }
  return true;
}

}  // namespace detail

/// Returns the namespace and name of `object`.
template <ApiObject T>
[[nodiscard]] ObjectKey KeyOf(const T& object) {
  return {object.metadata.ns, object.metadata.name};
}

/// Returns the first owner reference with `controller: true`, or null if there is none. The API
/// server allows at most one. The pointer is valid until `metadata` is changed or destroyed. Go:
/// metav1.GetControllerOfNoCopy.
[[nodiscard]] const OwnerReference* ControllerOf(const ObjectMeta& metadata);

/// Returns whether resource version `a` is older than `b`. Both must belong to the same kind.
/// Compares positive decimal numbers of any length. Returns false if `a` or `b` is anything else
/// ("", "0", a leading zero, other text), because such versions can only be compared for equality.
[[nodiscard]] bool IsOlderResourceVersion(std::string_view a, std::string_view b);

}  // namespace kopp
