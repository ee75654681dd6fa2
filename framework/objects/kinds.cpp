#include <kopp/kinds.hpp>
#include <kopp/scale.hpp>

namespace kopp {

KOPP_DEFINE_FIELDS(Deployment::Spec, replicas, paused)
KOPP_DEFINE_FIELDS(Deployment::Status, observedGeneration, replicas, updatedReplicas, readyReplicas,
                   availableReplicas, unavailableReplicas)
KOPP_DEFINE_FIELDS(Deployment, metadata, spec, status)
KOPP_DEFINE_FIELDS(Pod::Spec, nodeName, serviceAccountName)
KOPP_DEFINE_FIELDS(Pod::Status, phase, reason, podIP, hostIP)
KOPP_DEFINE_FIELDS(Pod, metadata, spec, status)
KOPP_DEFINE_FIELDS(Service::Spec, type, clusterIP, selector)
KOPP_DEFINE_FIELDS(Service, metadata, spec)
KOPP_DEFINE_FIELDS(ConfigMap, metadata, data)
KOPP_DEFINE_FIELDS(Secret, metadata, type, data)
KOPP_DEFINE_FIELDS(Namespace::Status, phase)
KOPP_DEFINE_FIELDS(Namespace, metadata, status)

KOPP_DEFINE_FIELDS(Scale::Spec, replicas)
KOPP_DEFINE_FIELDS(Scale::Status, replicas, selector)
KOPP_DEFINE_FIELDS(Scale, metadata, spec, status)

}  // namespace kopp
