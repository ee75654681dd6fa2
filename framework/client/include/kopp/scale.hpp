#pragma once

#include <cstdint>
#include <string>

#include <kopp/informer/object.hpp>

namespace kopp {

/// The desired and the current number of replicas of an object: autoscaling/v1 Scale. It is the
/// subresource "scale" of Deployments, StatefulSets, ReplicaSets, and of custom resources that
/// declare it. It has all fields of a Scale, so unlike other views it may be written back.
struct Scale {
  struct Spec {
    std::int32_t replicas = 0;
  };
  struct Status {
    std::int32_t replicas = 0;
    std::string selector = {};  ///< label selector of the Pods: "app=web"
  };
  ObjectMeta metadata = {};  ///< name, namespace, uid and resourceVersion of the scaled object
  Spec spec = {};            ///< desired state
  Status status = {};        ///< current state, which the API server does not let clients change
};
KOPP_DECLARE_FIELDS(Scale::Spec)
KOPP_DECLARE_FIELDS(Scale::Status)
KOPP_DECLARE_FIELDS(Scale)

}  // namespace kopp
