"""The kinds and shared types for which generate.py writes headers."""

# Group and version as in the API, and the kinds. The order is that of the pages of documentation.
KINDS = {
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

# Headers with the types that several kinds use: (folder, header, types). A header also has the types of
# its folder that these types use, unless an earlier header has them. So the order is bottom to top.
SHARED = [
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

# Strings for which an empty text means something else than an absent field.
STRINGS_WITH_MEANINGFUL_EMPTY_TEXT = {
    ("core/v1", "PersistentVolumeClaimSpec", "storageClassName"),
    ("core/v1", "PersistentVolumeClaimSpec", "volumeAttributesClassName"),
    ("coordination/v1", "LeaseSpec", "holderIdentity"),
    ("discovery/v1", "EndpointPort", "name"),
}
