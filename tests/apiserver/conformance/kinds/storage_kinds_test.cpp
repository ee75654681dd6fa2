// The kinds of storage.k8s.io: defaults, Tables and validation.
#include "kinds/kinds.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

const StoredObject stored_storage_objects[] = {
    {"StorageClassHasDefaults", "storage.k8s.io/v1", "storageclasses",
     R"({"provisioner": "a.b/c"})",
     R"({"provisioner": "a.b/c", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"})",
     R"(["NAME", "a.b/c", "Delete", "Immediate", false, "AGE"])"},
    {"DefaultStorageClass", "storage.k8s.io/v1", "storageclasses",
     R"({"metadata": {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": "p", "parameters": {"a": "b"}, "reclaimPolicy": "Retain", "mountOptions":
        ["ro"], "allowVolumeExpansion": false, "volumeBindingMode": "WaitForFirstConsumer",
        "allowedTopologies": [{"matchLabelExpressions": [{"key": "k", "values": ["v"]}]}]})",
     R"({"provisioner": "p", "parameters": {"a": "b"}, "reclaimPolicy": "Retain", "mountOptions":
        ["ro"], "allowVolumeExpansion": false, "volumeBindingMode": "WaitForFirstConsumer",
        "allowedTopologies": [{"matchLabelExpressions": [{"key": "k", "values": ["v"]}]}]})",
     R"json(["NAME (default)", "p", "Retain", "WaitForFirstConsumer", false, "AGE"])json"},
    {"CsiDriverHasDefaults", "storage.k8s.io/v1", "csidrivers", R"({})",
     R"({"spec": {"attachRequired": true, "podInfoOnMount": false, "volumeLifecycleModes":
        ["Persistent"], "storageCapacity": false, "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "requiresRepublish": false, "seLinuxMount": false}})",
     R"(["NAME", true, false, false, "<unset>", false, "Persistent", "AGE"])"},
    {"CsiDriverWithTokenRequests", "storage.k8s.io/v1", "csidrivers",
     R"({"spec": {"attachRequired": false, "fsGroupPolicy": "File", "volumeLifecycleModes":
        ["Ephemeral", "Persistent"], "tokenRequests": [{"audience": "a", "expirationSeconds":
        1000}, {"audience": ""}]}})",
     R"({"spec": {"attachRequired": false, "podInfoOnMount": false, "volumeLifecycleModes":
        ["Ephemeral", "Persistent"], "storageCapacity": false, "fsGroupPolicy": "File",
        "tokenRequests": [{"audience": "a", "expirationSeconds": 1000}, {"audience": ""}],
        "requiresRepublish": false, "seLinuxMount": false}})",
     R"(["NAME", false, false, false, "a,", false, "Ephemeral,Persistent", "AGE"])"},
    {"CsiNodeWithoutDrivers", "storage.k8s.io/v1", "csinodes", R"({})",
     R"({"spec": {"drivers": null}})", R"(["NAME", 0, "AGE"])"},
    {"CsiNodeWithADriver", "storage.k8s.io/v1", "csinodes",
     R"({"spec": {"drivers": [{"name": "a.b", "nodeID": "n", "topologyKeys": ["k"], "allocatable":
        {"count": 1}}]}})",
     R"({"spec": {"drivers": [{"name": "a.b", "nodeID": "n", "topologyKeys": ["k"], "allocatable":
        {"count": 1}}]}})",
     R"(["NAME", 1, "AGE"])"},
    {"VolumeAttachment", "storage.k8s.io/v1", "volumeattachments",
     R"({"spec": {"attacher": "a.b", "nodeName": "n", "source": {"persistentVolumeName": "p"}}})",
     R"({"spec": {"attacher": "a.b", "source": {"persistentVolumeName": "p"}, "nodeName": "n"},
        "status": {"attached": false}})",
     R"(["NAME", "a.b", "p", "n", false, "AGE"])"},
    {"CsiStorageCapacity", "storage.k8s.io/v1", "csistoragecapacities",
     R"({"storageClassName": "s", "capacity": "1Gi", "maximumVolumeSize": "1000", "nodeTopology":
        {"matchLabels": {"a": "b"}}})",
     R"({"nodeTopology": {"matchLabels": {"a": "b"}}, "storageClassName": "s", "capacity": "1Gi",
        "maximumVolumeSize": "1k"})",
     R"(["NAME", "TIME"])"},
};
INSTANTIATE_TEST_SUITE_P(Storage, StoredObjectTest, ::testing::ValuesIn(stored_storage_objects),
                         StoredObjectTestName);

const InvalidKind invalid_storage_objects[] = {
    {"PersistentVolumeWithoutFields",
     "v1",
     "persistentvolumes",
     R"({"spec": {}})",
     {"FieldValueRequired spec.accessModes: Required value",
      "FieldValueRequired spec.capacity: Required value",
      R"(FieldValueNotSupported spec.capacity: Unsupported value: null: supported values: "storage")",
      "FieldValueRequired spec: Required value: must specify a volume type"}},
    {"PersistentVolumeWithInvalidFields",
     "v1",
     "persistentvolumes",
     R"({"spec": {"accessModes": ["Odd"], "capacity": {"storage": "0"}, "volumeMode": "Odd",
        "persistentVolumeReclaimPolicy": "Odd", "storageClassName": "a b",
        "csi": {"driver": "a b", "volumeHandle": ""}}})",
     {R"(FieldValueNotSupported spec.accessModes: Unsupported value: "Odd": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")",
      R"(FieldValueInvalid spec.capacity[storage]: Invalid value: "0": must be greater than zero)",
      R"(FieldValueNotSupported spec.persistentVolumeReclaimPolicy: Unsupported value: "Odd": supported values: "Delete", "Recycle", "Retain")",
      R"(FieldValueInvalid spec.csi.driver: Invalid value: "a b": )" + dns1123_subdomain_error,
      "FieldValueRequired spec.csi.volumeHandle: Required value",
      R"(FieldValueInvalid spec.storageClassName: Invalid value: "a b": )" +
          dns1123_subdomain_error,
      R"(FieldValueNotSupported spec.volumeMode: Unsupported value: "Odd": supported values: "Block", "Filesystem")"}},
    {"EmptyIngressClass",
     "networking.k8s.io/v1",
     "ingressclasses",
     R"({})",
     {"FieldValueRequired spec.controller: Required value"}},
    {"IngressClassWithInvalidParameters",
     "networking.k8s.io/v1",
     "ingressclasses",
     R"({"spec": {"controller": "nginx", "parameters": {"apiGroup": "A", "name": "a/b",
        "scope": "Namespace"}}})",
     {R"(FieldValueInvalid spec.controller: Invalid value: "nginx": must be a domain-prefixed path (such as "acme.io/foo"))",
      R"(FieldValueInvalid spec.parameters.apiGroup: Invalid value: "A": )" +
          dns1123_subdomain_error,
      "FieldValueRequired spec.parameters.kind: Required value",
      R"(FieldValueInvalid spec.parameters.name: Invalid value: "a/b": may not contain '/')",
      R"(FieldValueRequired spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace')"}},
    {"ClusterRoleWithoutSelectors",
     "rbac.authorization.k8s.io/v1",
     "clusterroles",
     R"({"aggregationRule": {}})",
     {"FieldValueRequired aggregationRule.clusterRoleSelectors: Required value: at least one "
      "clusterRoleSelector required if aggregationRule is non-nil"}},
    {"EmptyStorageClass",
     "storage.k8s.io/v1",
     "storageclasses",
     R"({})",
     {"FieldValueRequired provisioner: Required value"}},
    {"StorageClassWithInvalidFields",
     "storage.k8s.io/v1",
     "storageclasses",
     R"({"provisioner": "a b", "parameters": {"": "x"}, "reclaimPolicy": "Recycle",
        "volumeBindingMode": "x", "allowedTopologies": [{"matchLabelExpressions": [{"key": "a b",
        "values": []}, {"key": "k", "values": ["v", "v"]}, {"key": "k", "values": ["v w"]}]}]})",
     {R"(FieldValueInvalid provisioner: Invalid value: "a b": name part )" + qualified_name_error,
      R"(FieldValueInvalid parameters: Invalid value: "": field can not be empty.)",
      R"(FieldValueNotSupported reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain")",
      R"(FieldValueNotSupported volumeBindingMode: Unsupported value: "x": supported values: "Immediate", "WaitForFirstConsumer")",
      "FieldValueRequired allowedTopologies[0].matchLabelExpressions[0].values: Required value",
      R"(FieldValueInvalid allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: "a b": name part )" +
          qualified_name_error,
      R"(FieldValueDuplicate allowedTopologies[0].matchLabelExpressions[1].values[1]: Duplicate value: "v")",
      R"(FieldValueDuplicate allowedTopologies[0].matchLabelExpressions[2].key: Duplicate value: "k")"}},
    {"CsiDriverWithInvalidFields",
     "storage.k8s.io/v1",
     "csidrivers",
     R"({"spec": {"fsGroupPolicy": "x", "volumeLifecycleModes": ["x"], "tokenRequests":
        [{"audience": "a", "expirationSeconds": 1}, {"audience": "a"}],
        "nodeAllocatableUpdatePeriodSeconds": 1}})",
     {R"(FieldValueNotSupported spec.fsGroupPolicy: Unsupported value: "x": supported values: "File", "None", "ReadWriteOnceWithFSType")",
      ("FieldValueInvalid spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not "
       "specify a duration less than 10 minutes"),
      R"(FieldValueDuplicate spec.tokenRequests[1].audience: Duplicate value: "a")",
      R"(FieldValueNotSupported spec.volumeLifecycleModes: Unsupported value: "x": supported values: "Persistent", "Ephemeral")"}},
    {"CsiNodeWithInvalidDrivers",
     "storage.k8s.io/v1",
     "csinodes",
     R"({"spec": {"drivers": [{"name": "a b", "nodeID": "", "topologyKeys": ["k", "k", "a b", ""],
        "allocatable": {"count": -1}}, {"name": "x", "nodeID": "a"}, {"name": "x", "nodeID":
        "b"}]}})",
     {R"(FieldValueInvalid spec.drivers[0].name: Invalid value: "a b": )" + dns1123_subdomain_error,
      "FieldValueRequired spec.drivers[0].nodeID: Required value",
      ("FieldValueInvalid spec.drivers[0].allocatable.count: Invalid value: -1: must be greater "
       "than or equal to 0"),
      R"(FieldValueDuplicate spec.drivers[0]: Duplicate value: "k")",
      R"(FieldValueInvalid spec.drivers[0]: Invalid value: "a b": name part )" +
          qualified_name_error,
      "FieldValueRequired spec.drivers[0]: Required value",
      R"(FieldValueInvalid spec.drivers[0]: Invalid value: "": name part must be non-empty)",
      R"(FieldValueInvalid spec.drivers[0]: Invalid value: "": name part )" + qualified_name_error,
      R"(FieldValueDuplicate spec.drivers[2].name: Duplicate value: "x")"}},
    {"EmptyVolumeAttachment",
     "storage.k8s.io/v1",
     "volumeattachments",
     R"({})",
     {"FieldValueRequired spec.attacher: Required value",
      ("FieldValueRequired spec.source: Required value: must specify exactly one of "
       "inlineVolumeSpec and persistentVolumeName"),
      R"(FieldValueInvalid spec.nodeName: Invalid value: "": )" + dns1123_subdomain_error,
      "FieldValueRequired spec.attacher: Required value",
      R"(FieldValueInvalid spec.attacher: Invalid value: "": )" + dns1123_subdomain_error}},
    {"VolumeAttachmentWithInvalidNames",
     "storage.k8s.io/v1",
     "volumeattachments",
     R"({"spec": {"attacher": "a b", "nodeName": "N", "source": {"persistentVolumeName": "P"}}})",
     {R"(FieldValueInvalid spec.nodeName: Invalid value: "N": )" + dns1123_subdomain_error,
      R"(FieldValueInvalid spec.attacher: Invalid value: "a b": )" + dns1123_subdomain_error,
      R"(FieldValueInvalid spec.source.persistentVolumeName: Invalid value: "P": )" +
          dns1123_subdomain_error}},
    {"EmptyVolumeAttributesClass",
     "storage.k8s.io/v1",
     "volumeattributesclasses",
     R"({})",
     {"FieldValueRequired driverName: Required value",
      "FieldValueRequired parameters: Required value: must contain at least one key/value pair"}},
    {"VolumeAttributesClassWithInvalidFields",
     "storage.k8s.io/v1",
     "volumeattributesclasses",
     R"({"driverName": "a b", "parameters": {"": "b"}})",
     {R"(FieldValueInvalid driverName: Invalid value: "a b": name part )" + qualified_name_error,
      R"(FieldValueInvalid parameters: Invalid value: "": field can not be empty.)"}},
    {"CsiStorageCapacityWithInvalidFields",
     "storage.k8s.io/v1",
     "csistoragecapacities",
     R"({"storageClassName": "S", "capacity": "-1", "maximumVolumeSize": "-1", "nodeTopology":
        {"matchLabels": {"a b": "b"}}})",
     {R"(FieldValueInvalid nodeTopology.matchLabels: Invalid value: "a b": name part )" +
          qualified_name_error,
      R"(FieldValueInvalid storageClassName: Invalid value: "S": )" + dns1123_subdomain_error,
      R"(FieldValueInvalid capacity: Invalid value: "-1": must be greater than or equal to 0)"}},
};
INSTANTIATE_TEST_SUITE_P(Storage, InvalidKindTest, ::testing::ValuesIn(invalid_storage_objects),
                         InvalidKindTestName);

}  // namespace
}  // namespace kopp::conformance
