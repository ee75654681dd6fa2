#include "kube_catalog.hpp"

#include "crd/server_catalog.hpp"
#include "kinds/admission_policy_validation.hpp"
#include "kinds/autoscaling_validation.hpp"
#include "kinds/certificate_validation.hpp"
#include "kinds/cluster_validation.hpp"
#include "kinds/config_validation.hpp"
#include "kinds/endpoints_validation.hpp"
#include "kinds/event_validation.hpp"
#include "kinds/job_validation.hpp"
#include "kinds/other_validation.hpp"
#include "kinds/rbac_validation.hpp"
#include "kinds/service_validation.hpp"
#include "kinds/storage_validation.hpp"
#include "kinds/volume_validation.hpp"
#include "kinds/webhook_validation.hpp"
#include "kinds/workload_validation.hpp"
#include "pods/container_validation.hpp"
#include "pods/pod_validation.hpp"
#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {
namespace {

/// Kinds whose updates validate metadata.generateName again.
constexpr const char* kValidatingGenerateName[] = {
    "configmaps",
    "controllerrevisions.apps",
    "endpoints",
    "endpointslices.discovery.k8s.io",
    "ingressclasses.networking.k8s.io",
    "ingresses.networking.k8s.io",
    "jobs.batch",
    "limitranges",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "namespaces",
    "networkpolicies.networking.k8s.io",
    "nodes",
    "persistentvolumeclaims",
    "persistentvolumes",
    "pods",
    "replicationcontrollers",
    "runtimeclasses.node.k8s.io",
    "secrets",
    "serviceaccounts",
    "storageclasses.storage.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
};

/// Kinds whose deletion returns the object, in place of a Status.
constexpr const char* kReturningDeletedObject[] = {
    "persistentvolumeclaims", "persistentvolumes", "pods",     "podtemplates",
    "resourcequotas",         "serviceaccounts",   "services",
};

/// Like kReturningDeletedObject, without the time of the deletion.
constexpr const char* kReturningObjectWithoutDeletionTime[] = {
    "csidrivers.storage.k8s.io",
    "csinodes.storage.k8s.io",
    "storageclasses.storage.k8s.io",
    "volumeattachments.storage.k8s.io",
    "volumeattributesclasses.storage.k8s.io",
};

StrategiesByKind MakeStrategies() {
  using DeleteResponse = KindStrategy::DeleteResponse;
  StrategiesByKind strategies;
  AddConfigStrategies(strategies);
  AddEventStrategies(strategies);
  AddJobStrategies(strategies);
  AddAutoscalingStrategies(strategies);
  AddOtherStrategies(strategies);
  AddPodStrategies(strategies);
  AddPodSubresourceStrategies(strategies);
  AddRbacStrategies(strategies);
  AddServiceStrategies(strategies);
  AddVolumeStrategies(strategies);
  AddWorkloadStrategies(strategies);
  AddWorkloadStatusStrategies(strategies);
  AddEndpointsStrategies(strategies);
  AddEndpointSliceStrategies(strategies);
  AddWebhookStrategies(strategies);
  AddAdmissionPolicyStrategies(strategies);
  AddStorageStrategies(strategies);
  AddCertificateStrategies(strategies);
  AddClusterStrategies(strategies);
  for (const char* kind : kValidatingGenerateName)
    strategies[kind].validates_generate_name_on_update = true;
  for (const char* kind : kReturningDeletedObject)
    strategies[kind].delete_response = DeleteResponse::kObject;
  for (const char* kind : kReturningObjectWithoutDeletionTime)
    strategies[kind].delete_response = DeleteResponse::kObjectWithoutDeletionTime;
  return strategies;
}

}  // namespace

const std::shared_ptr<const Catalog>& KubeCatalog() {
  static const std::shared_ptr<const Catalog> catalog = ServerCatalog(MakeStrategies());
  return catalog;
}

}  // namespace kopp::apiserver
