#pragma once

#include <optional>
#include <string>

#include <kopp/informer/object.hpp>

namespace sample {

/// The custom resource of the sample controller. It requests a Deployment with a given name and a
/// given number of replicas.
struct Foo {
  static constexpr kopp::Kind kKind{"samplecontroller.k8s.io/v1alpha1", "Foo", "foos"};
  struct Spec {
    std::string deploymentName = {};
    std::optional<int> replicas = {};  ///< unset: the Deployment's replicas are not changed
  };
  struct Status {
    std::optional<int> availableReplicas = {};  ///< unset: not written yet
  };
  kopp::ObjectMeta metadata = {};
  Spec spec = {};
  Status status = {};
};
KOPP_FIELDS(Foo::Spec, deploymentName, replicas)
KOPP_FIELDS(Foo::Status, availableReplicas)
KOPP_FIELDS(Foo, metadata, spec, status)

}  // namespace sample
