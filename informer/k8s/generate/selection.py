"""The hand-written input of the generator: what kopp has of the Kubernetes API."""

# The kinds with a C++ struct, by group version. The order is that of the pages of documentation.
TYPED_KINDS = {
    "v1": ["ConfigMap", "Endpoints", "Event", "LimitRange", "Namespace", "Node", "PersistentVolume",
           "PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicationController", "ResourceQuota", "Secret",
           "Service", "ServiceAccount"],
    "apps/v1": ["ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"],
    "batch/v1": ["CronJob", "Job"],
    "networking.k8s.io/v1": ["Ingress", "IngressClass", "IPAddress", "NetworkPolicy", "ServiceCIDR"],
    "rbac.authorization.k8s.io/v1": ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
    "policy/v1": ["PodDisruptionBudget"],
    "autoscaling/v1": ["HorizontalPodAutoscaler"],
    "autoscaling/v2": ["HorizontalPodAutoscaler"],
    "storage.k8s.io/v1": ["CSIDriver", "CSINode", "CSIStorageCapacity", "StorageClass", "VolumeAttachment",
                          "VolumeAttributesClass"],
    "coordination.k8s.io/v1": ["Lease"],
    "apiextensions.k8s.io/v1": ["CustomResourceDefinition"],
    "admissionregistration.k8s.io/v1": ["MutatingWebhookConfiguration", "ValidatingAdmissionPolicy",
                                        "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"],
    "discovery.k8s.io/v1": ["EndpointSlice"],
    "events.k8s.io/v1": ["Event"],
    "scheduling.k8s.io/v1": ["PriorityClass"],
    "node.k8s.io/v1": ["RuntimeClass"],
    "certificates.k8s.io/v1": ["CertificateSigningRequest"],
    "apiregistration.k8s.io/v1": ["APIService"],
    "flowcontrol.apiserver.k8s.io/v1": ["FlowSchema", "PriorityLevelConfiguration"],
}

# Plural and scope of the typed kinds that kopp-apiserver does not serve, and that resources.txt does not list.
UNSERVED_KINDS = {
    ("autoscaling/v1", "HorizontalPodAutoscaler"): ("horizontalpodautoscalers", "Namespaced"),
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"): ("flowschemas", "Cluster"),
    ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration"): ("prioritylevelconfigurations", "Cluster"),
    ("networking.k8s.io/v1", "IPAddress"): ("ipaddresses", "Cluster"),
    ("networking.k8s.io/v1", "ServiceCIDR"): ("servicecidrs", "Cluster"),
}

# Optional lists whose Go fields have no "omitempty": (message, field). They can be empty; after they are stored they
# are null.
UNOMITTED_LISTS = {
    ("autoscaling.v2.HorizontalPodAutoscalerStatus", "currentMetrics"),
    ("core.v1.ProjectedVolumeSource", "sources"),
    ("discovery.v1.EndpointSlice", "ports"),
    ("rbac.v1.ClusterRole", "rules"),
    ("rbac.v1.Role", "rules"),
}

# Headers with the structs that several kinds use: (folder, header, types). A header also has the types of
# its folder that these types use, unless an earlier header has them. So the order is bottom to top.
SHARED_HEADERS = [
    ("meta/v1", "label_selector", ["LabelSelector"]),
    ("meta/v1", "condition", ["Condition"]),
    ("core/v1", "references", ["LocalObjectReference", "ObjectReference", "SecretReference",
                               "TypedLocalObjectReference"]),
    ("core/v1", "node_selector", ["NodeSelector"]),
    ("core/v1", "toleration", ["Toleration"]),
    ("core/v1", "topology_selector", ["TopologySelectorTerm"]),
    ("core/v1", "event_source", ["EventSource"]),
    ("core/v1", "load_balancer_status", ["LoadBalancerStatus"]),
    ("core/v1", "persistent_volume_claim_spec", ["PersistentVolumeClaimSpec"]),
    ("core/v1", "pod_template_spec", ["PodTemplateSpec"]),
    ("core/v1", "persistent_volume_spec", ["PersistentVolumeSpec"]),
    ("batch/v1", "job_spec", ["JobSpec"]),
    ("rbac/v1", "rules", ["PolicyRule", "RoleRef", "Subject"]),
    ("admissionregistration/v1", "rules", ["MatchCondition", "MatchResources", "RuleWithOperations"]),
    ("admissionregistration/v1", "webhook_client_config", ["WebhookClientConfig"]),
]

# Strings for which an empty text means something else than an absent field: (folder, type, field).
STRINGS_WITH_MEANINGFUL_EMPTY_TEXT = {
    ("core/v1", "PersistentVolumeClaimSpec", "storageClassName"),
    ("core/v1", "PersistentVolumeClaimSpec", "volumeAttributesClassName"),
    ("coordination/v1", "LeaseSpec", "holderIdentity"),
    ("discovery/v1", "EndpointPort", "name"),
}

# The group versions that kopp-apiserver serves, in the order of resources.txt.
SERVED_GROUP_VERSIONS = [
    "v1", "apps/v1", "batch/v1", "coordination.k8s.io/v1", "events.k8s.io/v1", "rbac.authorization.k8s.io/v1",
    "networking.k8s.io/v1", "policy/v1", "apiextensions.k8s.io/v1", "admissionregistration.k8s.io/v1",
    "apiregistration.k8s.io/v1", "autoscaling/v2", "certificates.k8s.io/v1", "discovery.k8s.io/v1", "node.k8s.io/v1",
    "scheduling.k8s.io/v1", "storage.k8s.io/v1"]
# Resources of these group versions that need a component that kopp-apiserver does not have, or that are not objects.
EXCLUDED_RESOURCES = {"bindings", "componentstatuses", "ipaddresses", "servicecidrs"}
# The kinds that kopp-apiserver serves without storing them: api/virtual_resources.cpp and kubectl/virtual.
VIRTUAL_KINDS = [
    ("authentication.k8s.io/v1", "SelfSubjectReview"), ("authentication.k8s.io/v1", "TokenRequest"),
    ("authentication.k8s.io/v1", "TokenReview"), ("authorization.k8s.io/v1", "LocalSubjectAccessReview"),
    ("authorization.k8s.io/v1", "SelfSubjectAccessReview"), ("authorization.k8s.io/v1", "SelfSubjectRulesReview"),
    ("authorization.k8s.io/v1", "SubjectAccessReview"), ("policy/v1", "Eviction"), ("v1", "Binding")]

# Protobuf messages that no resource in resources.txt has.
FURTHER_MESSAGES = [
    "autoscaling.v1.Scale", "core.v1.Binding", "policy.v1.Eviction", "runtime.Unknown",
    "authentication.v1.SelfSubjectReview", "authentication.v1.TokenRequest", "authentication.v1.TokenReview",
    "authorization.v1.LocalSubjectAccessReview", "authorization.v1.SelfSubjectAccessReview",
    "authorization.v1.SelfSubjectRulesReview", "authorization.v1.SubjectAccessReview",
    "meta.v1.APIGroup", "meta.v1.APIGroupList", "meta.v1.APIResourceList", "meta.v1.APIVersions",
    "meta.v1.DeleteOptions", "meta.v1.PartialObjectMetadata", "meta.v1.PartialObjectMetadataList", "meta.v1.Status",
    "meta.v1.WatchEvent"]
