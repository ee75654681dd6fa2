#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <kopp/informer/object.hpp>

namespace kopp {

// Views of common kinds, with the fields that operators read most often. To read other fields,
// define your own view with KOPP_FIELDS; a program may use several views of one kind. The fields
// are the members; kinds.cpp lists them.

struct Deployment {
  static constexpr Kind kKind{"apps/v1", "Deployment", "deployments"};
  struct Spec {
    std::optional<int> replicas = {};
    bool paused = false;
  };
  struct Status {
    std::int64_t observedGeneration = 0;
    int replicas = 0;
    int updatedReplicas = 0;
    int readyReplicas = 0;
    int availableReplicas = 0;
    int unavailableReplicas = 0;
  };
  ObjectMeta metadata = {};
  Spec spec = {};
  Status status = {};
};
KOPP_DECLARE_FIELDS(Deployment::Spec)
KOPP_DECLARE_FIELDS(Deployment::Status)
KOPP_DECLARE_FIELDS(Deployment)

struct Pod {
  static constexpr Kind kKind{"v1", "Pod", "pods"};
  struct Spec {
    std::string nodeName = {};
    std::string serviceAccountName = {};
  };
  struct Status {
    std::string phase = {};  ///< "Pending", "Running", "Succeeded", "Failed" or "Unknown"
    std::string reason = {};
    std::string podIP = {};
    std::string hostIP = {};
  };
  ObjectMeta metadata = {};
  Spec spec = {};
  Status status = {};
};
KOPP_DECLARE_FIELDS(Pod::Spec)
KOPP_DECLARE_FIELDS(Pod::Status)
KOPP_DECLARE_FIELDS(Pod)

struct Service {
  static constexpr Kind kKind{"v1", "Service", "services"};
  struct Spec {
    std::string type = {};
    std::string clusterIP = {};
    std::map<std::string, std::string> selector = {};
  };
  ObjectMeta metadata = {};
  Spec spec = {};
};
KOPP_DECLARE_FIELDS(Service::Spec)
KOPP_DECLARE_FIELDS(Service)

struct ConfigMap {
  static constexpr Kind kKind{"v1", "ConfigMap", "configmaps"};
  ObjectMeta metadata = {};
  std::map<std::string, std::string> data = {};
};
KOPP_DECLARE_FIELDS(ConfigMap)

struct Secret {
  static constexpr Kind kKind{"v1", "Secret", "secrets"};
  ObjectMeta metadata = {};
  std::string type = {};
  std::map<std::string, std::string> data = {};  ///< values are Base64, as in the API
};
KOPP_DECLARE_FIELDS(Secret)

struct Namespace {
  static constexpr Kind kKind{"v1", "Namespace", "namespaces", Scope::kCluster};
  struct Status {
    std::string phase = {};  ///< "Active" or "Terminating"
  };
  ObjectMeta metadata = {};
  Status status = {};
};
KOPP_DECLARE_FIELDS(Namespace::Status)
KOPP_DECLARE_FIELDS(Namespace)

}  // namespace kopp
