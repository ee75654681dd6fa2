#pragma once

#include <optional>
#include <string>

#include <kopp/informer/object.hpp>
#include <kopp/markers.hpp>

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
KOPP_FIELDS(Foo::Spec, KOPP_FIELD(deploymentName, Optional()),
            KOPP_FIELD(replicas, Minimum(1), Maximum(10)))
KOPP_FIELDS(Foo::Status, availableReplicas)
KOPP_FIELDS(Foo, metadata, KOPP_FIELD(spec, Optional()), status)
// The API server does not serve kinds of the protected groups *.k8s.io without this annotation.
KOPP_CRD(Foo, StatusSubresource(),
         Annotation("api-approved.kubernetes.io",
                    "unapproved, experimental-only; please get an approval from Kubernetes API "
                    "reviewers if you're trying to develop a CRD in the *.k8s.io or "
                    "*.kubernetes.io groups"))

}  // namespace sample
