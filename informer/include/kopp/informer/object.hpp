#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/informer/fields.hpp>
#include <kopp/informer/object_key.hpp>

namespace kopp {

/// Whether the objects of a kind live in namespaces.
enum class Scope {
  kNamespaced,
  kCluster,
};

/// A resource of the Kubernetes API: group, version, kind and plural name. It does not own its
/// strings; use string literals.
struct Kind {
  std::string_view api_version = {};  ///< "apps/v1", or "v1" for the core group
  std::string_view kind = {};         ///< "Deployment"
  std::string_view plural = {};       ///< "deployments"
  Scope scope = Scope::kNamespaced;

  /// The API group: "apps", or "" for the core group.
  [[nodiscard]] constexpr std::string_view group() const {
    const auto slash = api_version.find('/');
    return slash == std::string_view::npos ? std::string_view{} : api_version.substr(0, slash);
  }
};

/// metav1.OwnerReference.
struct OwnerReference {
  std::string apiVersion = {};
  std::string kind = {};
  std::string name = {};
  std::string uid = {};
  bool controller = false;
  bool blockOwnerDeletion = false;
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

/// metav1.ObjectMeta: the metadata of every object. Timestamps are RFC 3339 text, as the server
/// sends them.
struct ObjectMeta {
  std::string name = {};
  std::string generateName = {};
  std::string ns = {};  ///< "namespace" in JSON; empty for cluster-scoped objects
  std::string uid = {};
  std::string resourceVersion = {};
  std::optional<std::int64_t> generation = {};
  std::string creationTimestamp = {};
  std::optional<std::string> deletionTimestamp = {};  ///< set while finalizers delay deletion
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> annotations = {};
  std::vector<OwnerReference> ownerReferences = {};
  std::vector<std::string> finalizers = {};
  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;
};

KOPP_FIELDS(OwnerReference, apiVersion, kind, name, uid, controller, blockOwnerDeletion)
KOPP_FIELDS(ObjectMeta, name, generateName, KOPP_FIELD(ns, "namespace"), uid, resourceVersion,
            generation, creationTimestamp, deletionTimestamp, labels, annotations, ownerReferences,
            finalizers)

/// A view: a struct with the fields of a kind that a program reads. Fields that the struct does not
/// list are not decoded and not stored.
///
///     struct Foo {
///       static constexpr kopp::Kind kKind{"samplecontroller.k8s.io/v1alpha1", "Foo", "foos"};
///       kopp::ObjectMeta metadata;
///       Spec spec;
///     };
///     KOPP_FIELDS(Foo, metadata, spec)
template <typename T>
concept Object = std::default_initializable<T> && detail::HasFieldList<T> && requires(T object) {
  { T::kKind } -> std::convertible_to<const Kind&>;
  { object.metadata } -> std::same_as<ObjectMeta&>;
};

/// Returns the namespace and name of `object`.
template <Object T>
[[nodiscard]] ObjectKey KeyOf(const T& object) {
  return {object.metadata.ns, object.metadata.name};
}

/// Returns the owner reference with `controller: true`, or null if there is none; at most one owner
/// is the controller. The pointer is valid as long as `metadata` is unchanged. client-go:
/// metav1.GetControllerOf.
[[nodiscard]] const OwnerReference* ControllerOf(const ObjectMeta& metadata);

/// Returns whether resource version `a` is older than `b`, for two objects of one kind. Compares
/// decimal numbers of any length. Returns false if one of them is not a decimal number, because
/// such versions can only be compared for equality.
[[nodiscard]] bool IsOlderResourceVersion(std::string_view a, std::string_view b);

}  // namespace kopp
