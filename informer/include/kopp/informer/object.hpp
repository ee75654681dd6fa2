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

enum class Scope {
  kNamespaced,
  kCluster,
};

/// What the API server serves under one path. The views outlive the Kind: literals, mostly.
struct Kind {
  std::string_view api_version = {};  ///< "apps/v1", or "v1" for the core group
  std::string_view kind = {};         ///< "Deployment"
  std::string_view plural = {};       ///< "deployments"
  Scope scope = Scope::kNamespaced;

  /// "apps", or "" for the core group.
  [[nodiscard]] constexpr std::string_view group() const {
    const auto slash = api_version.find('/');
    return slash == std::string_view::npos ? std::string_view{} : api_version.substr(0, slash);
  }
};

struct OwnerReference {
  std::string apiVersion = {};
  std::string kind = {};
  std::string name = {};
  std::string uid = {};
  bool controller = false;
  bool blockOwnerDeletion = false;
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

/// The metadata that every object bears. Timestamps are RFC 3339 text, as the server gives them.
struct ObjectMeta {
  std::string name = {};
  std::string generateName = {};
  std::string ns = {};
  std::string uid = {};
  std::string resourceVersion = {};
  std::optional<std::int64_t> generation = {};
  std::string creationTimestamp = {};
  std::optional<std::string> deletionTimestamp = {};  ///< set: the object waits for its finalizers
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

/// A struct that views objects of one kind: it names the fields that it reads, nothing else is
/// kept.
///
///     struct Foo {
///       static constexpr kopp::Kind kKind{"samplecontroller.k8s.io/v1alpha1", "Foo", "foos"};
///       kopp::ObjectMeta metadata;
///       Spec spec;
///     };
///     KOPP_FIELDS(Foo, metadata, spec)
template <typename T>
concept Object = std::default_initializable<T> && detail::Listed<T> && requires(T object) {
  { T::kKind } -> std::convertible_to<const Kind&>;
  { object.metadata } -> std::same_as<ObjectMeta&>;
};

template <Object T>
[[nodiscard]] ObjectKey KeyOf(const T& object) {
  return {object.metadata.ns, object.metadata.name};
}

/// The owner that manages the object, or null: of all owners at most one is the controller.
[[nodiscard]] const OwnerReference* ControllerOf(const ObjectMeta& metadata);

/// Whether version `a` is older than `b`. Resource versions of one kind are decimal numbers of any
/// length; of others nothing is known but equality, and the answer is no.
[[nodiscard]] bool IsOlderVersion(std::string_view a, std::string_view b);

}  // namespace kopp
