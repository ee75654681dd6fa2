#include "pod_spec_validation.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

const InvalidPodSpec invalid_volumes[] = {
    {"EmptyDirWithANegativeLimit",
     R"({"volumes": [{"name": "v0", "emptyDir": {"sizeLimit": "-1"}}]})"_json,
     InPodSpec({"FieldValueForbidden volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field "
                "must be a valid resource quantity"})},
    {"HostPath",
     R"({"volumes": [{"name": "v0", "hostPath": {"path": "a/../b"}}, {"name": "v1",
          "hostPath": {"path": "/a", "type": "Odd"}}]})"_json,
     InPodSpec({"FieldValueInvalid volumes[0].hostPath.path: Invalid value: \"a/../b\": must not "
                "contain '..'",
                "FieldValueNotSupported volumes[1].hostPath.type: Unsupported value: \"Odd\": "
                "supported values: \"\", \"BlockDevice\", \"CharDevice\", \"Directory\", "
                "\"DirectoryOrCreate\", \"File\", \"FileOrCreate\", \"Socket\""})},
    {"GitRepo",
     R"({"volumes": [{"name": "v0", "gitRepo": {"repository": "",
          "directory": "/a/../b"}}]})"_json,
     InPodSpec({"FieldValueRequired volumes[0].gitRepo.repository: Required value",
                "FieldValueInvalid volumes[0].gitRepo.directory: Invalid value: \"/a/../b\": must "
                "be a relative path",
                "FieldValueInvalid volumes[0].gitRepo.directory: Invalid value: \"/a/../b\": must "
                "not contain '..'"})},
    {"DisksOfCloudProviders",
     R"({"volumes": [{"name": "v0", "gcePersistentDisk": {"pdName": "",
          "partition": 256}}, {"name": "v1", "awsElasticBlockStore": {"volumeID": "",
          "partition": -1}}, {"name": "v2", "vsphereVolume": {"volumePath": ""}},
          {"name": "v3", "photonPersistentDisk": {"pdID": ""}}, {"name": "v4",
          "portworxVolume": {"volumeID": ""}}, {"name": "v5", "cinder": {"volumeID": "",
          "secretRef": {}}}, {"name": "v6", "azureFile": {"secretName": "",
          "shareName": ""}}]})"_json,
     InPodSpec({"FieldValueRequired volumes[0].persistentDisk.pdName: Required value",
                "FieldValueInvalid volumes[0].persistentDisk.partition: Invalid value: 256: must "
                "be between 1 and 255, inclusive",
                "FieldValueRequired volumes[1].awsElasticBlockStore.volumeID: Required value",
                "FieldValueInvalid volumes[1].awsElasticBlockStore.partition: Invalid value: -1: "
                "must be between 1 and 255, inclusive",
                "FieldValueRequired volumes[2].vsphereVolume.volumePath: Required value",
                "FieldValueRequired volumes[3].photonPersistentDisk.pdID: Required value",
                "FieldValueRequired volumes[4].portworxVolume.volumeID: Required value",
                "FieldValueRequired volumes[5].cinder.volumeID: Required value",
                "FieldValueRequired volumes[5].cinder.secretRef.name: Required value",
                "FieldValueRequired volumes[6].azureFile.secretName: Required value",
                "FieldValueRequired volumes[6].azureFile.shareName: Required value"})},
    {"AzureDisk",
     R"({"volumes": [{"name": "v0", "azureDisk": {"diskName": "", "diskURI": ""}},
          {"name": "v1", "azureDisk": {"diskName": "a", "diskURI": "b",
          "kind": "Managed", "cachingMode": "Odd"}}, {"name": "v2",
          "azureDisk": {"diskName": "a", "diskURI": "https://b", "kind": "Odd"}}]})"_json,
     InPodSpec({"FieldValueRequired volumes[0].azureDisk.diskName: Required value",
                "FieldValueRequired volumes[0].azureDisk.diskURI: Required value",
                "FieldValueNotSupported volumes[0].azureDisk.diskURI: Unsupported value: \"\": "
                "supported values: "
                "\"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd\"",
                "FieldValueNotSupported volumes[1].azureDisk.cachingMode: Unsupported value: "
                "\"Odd\": supported values: \"None\", \"ReadOnly\", \"ReadWrite\"",
                "FieldValueNotSupported volumes[1].azureDisk.diskURI: Unsupported value: \"b\": "
                "supported values: "
                "\"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/"
                "disks/{disk-id}\"",
                "FieldValueNotSupported volumes[2].azureDisk.kind: Unsupported value: \"Odd\": "
                "supported values: \"Dedicated\", \"Managed\", \"Shared\""})},
    {"Secret",
     R"({"volumes": [{"name": "v0", "secret": {"defaultMode": 512,
          "items": [{"key": "", "path": ""}, {"key": "a", "path": "/a", "mode": -1},
          {"key": "a", "path": "../a"}, {"key": "a", "path": "..a"}]}}]})"_json,
     InPodSpec({"FieldValueRequired volumes[0].secret.secretName: Required value",
                "FieldValueInvalid volumes[0].secret.defaultMode: Invalid value: 512: must be a "
                "number between 0 and 0777 (octal), both inclusive",
                "FieldValueRequired volumes[0].secret.items[0].key: Required value",
                "FieldValueRequired volumes[0].secret.items[0].path: Required value",
                "FieldValueInvalid volumes[0].secret.items[1].path: Invalid value: \"/a\": must be "
                "a relative path",
                "FieldValueInvalid volumes[0].secret.items[1].mode: Invalid value: -1: must be a "
                "number between 0 and 0777 (octal), both inclusive",
                "FieldValueInvalid volumes[0].secret.items[2].path: Invalid value: \"../a\": must "
                "not contain '..'",
                "FieldValueInvalid volumes[0].secret.items[3].path: Invalid value: \"..a\": must "
                "not start with '..'"})},
    {"ConfigMap",
     R"({"volumes": [{"name": "v0", "configMap": {"defaultMode": -1,
          "items": [{"key": "a", "path": "b/../c"}]}}]})"_json,
     InPodSpec({"FieldValueRequired volumes[0].configMap.name: Required value",
                "FieldValueInvalid volumes[0].configMap.defaultMode: Invalid value: -1: must be a "
                "number between 0 and 0777 (octal), both inclusive",
                "FieldValueInvalid volumes[0].configMap.items[0].path: Invalid value: \"b/../c\": "
                "must not contain '..'"})},
    {"Nfs",
     R"({"volumes": [{"name": "v0", "nfs": {"server": "", "path": ""}}, {"name": "v1",
          "nfs": {"server": "a", "path": "b"}}]})"_json,
     InPodSpec(
         {"FieldValueRequired volumes[0].nfs.server: Required value",
          "FieldValueRequired volumes[0].nfs.path: Required value",
          "FieldValueInvalid volumes[0].nfs.path: Invalid value: \"\": must be an absolute path",
          "FieldValueInvalid volumes[1].nfs.path: Invalid value: \"b\": must be an absolute "
          "path"})},
    {"Iscsi",
     R"({"volumes": [{"name": "v0", "iscsi": {"targetPortal": "", "iqn": "",
          "lun": 256}}, {"name": "v1", "iscsi": {"targetPortal": "a", "iqn": "odd",
          "lun": -1}}, {"name": "v2", "iscsi": {"targetPortal": "a",
          "iqn": "iqn.2001-04.example", "lun": 0, "chapAuthSession": true}},
          {"name": "v3", "iscsi": {"targetPortal": "a", "iqn": "eui.0", "lun": 0,
          "initiatorName": "naa.0"}}]})"_json,
     InPodSpec(
         {"FieldValueRequired volumes[0].iscsi.targetPortal: Required value",
          "FieldValueRequired volumes[0].iscsi.iqn: Required value",
          "FieldValueInvalid volumes[0].iscsi.lun: Invalid value: 256: must be between 0 and 255, "
          "inclusive",
          "FieldValueInvalid volumes[1].iscsi.iqn: Invalid value: \"odd\": must be valid format "
          "starting with iqn, eui, or naa",
          "FieldValueInvalid volumes[1].iscsi.lun: Invalid value: -1: must be between 0 and 255, "
          "inclusive",
          "FieldValueInvalid volumes[2].iscsi.iqn: Invalid value: \"iqn.2001-04.example\": must be "
          "valid format",
          "FieldValueRequired volumes[2].iscsi.secretRef: Required value",
          "FieldValueInvalid volumes[3].iscsi.iqn: Invalid value: \"eui.0\": must be valid format",
          "FieldValueInvalid volumes[3].iscsi.initiatorname: Invalid value: \"naa.0\": must be "
          "valid format"})},
    {"IscsiWithALongTarget",
     R"({"volumes": [{"name": "v0",
          "iscsi": {"targetPortal": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
          "iqn": "iqn.2001-04.com.example:a", "lun": 0,
          "initiatorName": "iqn.2001-04.com.example:b"}}]})"_json,
     InPodSpec({"FieldValueInvalid volumes[0].name: Invalid value: \"v0\": Total length of <volume "
                "name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is "
                "specified."})},
    {"GlusterfsAndFlocker",
     R"({"volumes": [{"name": "v0", "glusterfs": {"endpoints": "", "path": ""}},
          {"name": "v1", "flocker": {}}, {"name": "v2",
          "flocker": {"datasetName": "a/b", "datasetUUID": "c"}}]})"_json,
     InPodSpec({"FieldValueRequired volumes[0].glusterfs.endpoints: Required value",
                "FieldValueRequired volumes[0].glusterfs.path: Required value",
                "FieldValueRequired volumes[1].flocker: Required value: one of datasetName and "
                "datasetUUID is required",
                "FieldValueInvalid volumes[2].flocker: Invalid value: \"resource\": datasetName "
                "and datasetUUID can not be specified simultaneously",
                "FieldValueInvalid volumes[2].flocker.datasetName: Invalid value: \"a/b\": must "
                "not contain '/'"})},
    {"PersistentVolumeClaim",
     R"({"volumes": [{"name": "v0", "persistentVolumeClaim": {"claimName": ""}}]})"_json,
     InPodSpec({"FieldValueRequired volumes[0].persistentVolumeClaim.claimName: Required value"})},
    {"Ceph",
     R"({"volumes": [{"name": "v0", "rbd": {"monitors": [], "image": ""}},
          {"name": "v1", "cephfs": {"monitors": []}}]})"_json,
     InPodSpec({"FieldValueRequired volumes[0].rbd.monitors: Required value",
                "FieldValueRequired volumes[0].rbd.image: Required value",
                "FieldValueRequired volumes[1].cephfs.monitors: Required value"})},
    {"Quobyte",
     R"({"volumes": [{"name": "v0", "quobyte": {"registry": "", "volume": ""}},
          {"name": "v1", "quobyte": {"registry": "a:1,b", "volume": "v"}},
          {"name": "v2", "quobyte": {"registry": "a:1", "volume": "v",
          "tenant": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}]})"_json,
     InPodSpec({"FieldValueRequired volumes[0].quobyte.registry: Required value: must be a "
                "host:port pair or multiple pairs separated by commas",
                "FieldValueRequired volumes[0].quobyte.volume: Required value",
                "FieldValueInvalid volumes[1].quobyte.registry: Invalid value: \"a:1,b\": must be "
                "a host:port pair or multiple pairs separated by commas",
                "FieldValueRequired volumes[2].quobyte.tenant: Required value: must be a UUID and "
                "may not exceed a length of 64 characters"})},
    {"FibreChannel",
     R"({"volumes": [{"name": "v0", "fc": {}}, {"name": "v1",
          "fc": {"targetWWNs": ["a"]}}, {"name": "v2", "fc": {"targetWWNs": ["a"],
          "lun": 256}}]})"_json,
     InPodSpec({"FieldValueRequired volumes[0].fc.targetWWNs: Required value: must specify either "
                "targetWWNs or wwids, but not both",
                "FieldValueRequired volumes[1].fc.lun: Required value: lun is required if "
                "targetWWNs is specified",
                "FieldValueInvalid volumes[2].fc.lun: Invalid value: 256: must be between 0 and "
                "255, inclusive"})},
    {"FlexVolume",
     R"({"volumes": [{"name": "v0", "flexVolume": {"driver": "",
          "options": {"Kubernetes.io/a": "b"}}}]})"_json,
     InPodSpec({"FieldValueRequired volumes[0].flexVolume.driver: Required value",
                "FieldValueInvalid volumes[0].flexVolume.options[Kubernetes.io/a]: Invalid value: "
                "\"Kubernetes.io/a\": kubernetes.io and k8s.io namespaces are reserved"})},
    {"StorageOsAndScaleIo",
     R"({"volumes": [{"name": "v0", "storageos": {"volumeName": "A",
          "volumeNamespace": "B", "secretRef": {}}}, {"name": "v1",
          "scaleIO": {"gateway": "", "system": "", "secretRef": null}}]})"_json,
     InPodSpec({"FieldValueInvalid volumes[0].storageos.volumeName: Invalid value: \"A\": " +
                    dns1123_label_error,
                "FieldValueInvalid volumes[0].storageos.volumeNamespace: Invalid value: \"B\": " +
                    dns1123_label_error,
                "FieldValueRequired volumes[0].storageos.secretRef.name: Required value",
                "FieldValueRequired volumes[1].scaleIO.gateway: Required value",
                "FieldValueRequired volumes[1].scaleIO.system: Required value",
                "FieldValueRequired volumes[1].scaleIO.volumeName: Required value"})},
    {"Csi",
     R"({"volumes": [{"name": "v0", "csi": {"driver": ""}}, {"name": "v1",
          "csi": {"driver": "a", "nodePublishSecretRef": {}}}, {"name": "v2",
          "csi": {"driver": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
          "nodePublishSecretRef": {"name": "A"}}}]})"_json,
     InPodSpec({"FieldValueRequired volumes[0].csi.driver: Required value",
                "FieldValueInvalid volumes[0].csi.driver: Invalid value: \"\": " +
                    dns1123_subdomain_error,
                "FieldValueRequired volumes[1].csi.nodePublishSecretRef.name: Required value",
                "FieldValueTooLong volumes[2].csi.driver: Too long: may not be more than 63 bytes",
                "FieldValueInvalid volumes[2].csi.name: Invalid value: \"A\": " +
                    dns1123_subdomain_error})},
    {"DownwardApi",
     R"({"volumes": [{"name": "v0", "downwardAPI": {"defaultMode": 512,
          "items": [{"path": ""}, {"path": "a", "mode": 512,
          "fieldRef": {"fieldPath": "spec.nodeName"}}, {"path": "a",
          "fieldRef": {"fieldPath": "metadata.labels['a b']"}}, {"path": "a",
          "fieldRef": {"fieldPath": "spec.x['a']"}}, {"path": "a",
          "fieldRef": {"apiVersion": "v2", "fieldPath": "metadata.name"}}, {"path": "a",
          "fieldRef": {"fieldPath": ""}}]}}]})"_json,
     InPodSpec(
         {"FieldValueInvalid volumes[0].downwardAPI.defaultMode: Invalid value: 512: must be a "
          "number between 0 and 0777 (octal), both inclusive",
          "FieldValueRequired volumes[0].downwardAPI.path: Required value",
          "FieldValueRequired volumes[0].downwardAPI: Required value: one of fieldRef and "
          "resourceFieldRef is required",
          "FieldValueNotSupported volumes[0].downwardAPI.fieldRef.fieldPath: Unsupported value: "
          "\"spec.nodeName\": supported values: \"metadata.annotations\", \"metadata.labels\", "
          "\"metadata.name\", \"metadata.namespace\", \"metadata.uid\"",
          "FieldValueInvalid volumes[0].downwardAPI.mode: Invalid value: 512: must be a number "
          "between 0 and 0777 (octal), both inclusive",
          "FieldValueInvalid volumes[0].downwardAPI.fieldRef: Invalid value: \"a b\": name part " +
              qualified_name_error,
          "FieldValueInvalid volumes[0].downwardAPI.fieldRef.fieldPath: Invalid value: "
          "\"spec.x['a']\": error converting fieldPath: field label does not support subscript: "
          "spec.x['a']",
          "FieldValueInvalid volumes[0].downwardAPI.fieldRef.fieldPath: Invalid value: "
          "\"metadata.name\": error converting fieldPath: unsupported pod version: v2",
          "FieldValueRequired volumes[0].downwardAPI.fieldRef.fieldPath: Required value"})},
    {"DownwardApiOfResources",
     R"({"volumes": [{"name": "v0", "downwardAPI": {"items": [{"path": "a",
          "resourceFieldRef": {"resource": "limits.cpu"}}, {"path": "a",
          "resourceFieldRef": {"containerName": "nginx", "resource": "limits.odd"}},
          {"path": "a", "resourceFieldRef": {"containerName": "nginx",
          "resource": "limits.memory", "divisor": "2Mi"}}, {"path": "a",
          "resourceFieldRef": {"containerName": "nginx",
          "resource": "requests.hugepages-2Mi", "divisor": "1m"}}]}}]})"_json,
     InPodSpec({"FieldValueRequired volumes[0].downwardAPI.resourceFieldRef.containerName: "
                "Required value",
                "FieldValueNotSupported volumes[0].downwardAPI.resourceFieldRef.resource: "
                "Unsupported value: \"limits.odd\": supported values: \"limits.cpu\", "
                "\"limits.ephemeral-storage\", \"limits.memory\", \"requests.cpu\", "
                "\"requests.ephemeral-storage\", \"requests.memory\"",
                "FieldValueInvalid volumes[0].downwardAPI.resourceFieldRef.divisor: Invalid value: "
                "\"limits.memory\": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, "
                "1Gi, 1Ti, 1Pi, 1Ei are supported with the memory resource",
                "FieldValueInvalid volumes[0].downwardAPI.resourceFieldRef.divisor: Invalid value: "
                "\"requests.hugepages-2Mi\": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, "
                "1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the hugepages resource"})},
    {"Projected",
     R"({"volumes": [{"name": "v0", "projected": {"defaultMode": 512,
          "sources": [{"secret": {"items": [{"key": "a", "path": "p"}]}},
          {"configMap": {"name": "c", "items": [{"key": "a", "path": "p"}]}},
          {"downwardAPI": {"items": [{"path": "p"}]}}, {"secret": {"name": "a"},
          "configMap": {"name": "a"}}]}}]})"_json,
     InPodSpec({"FieldValueInvalid volumes[0].projected.defaultMode: Invalid value: 512: must be a "
                "number between 0 and 0777 (octal), both inclusive",
                "FieldValueRequired volumes[0].projected.sources[0].secret.name: Required value",
                "FieldValueInvalid volumes[0].projected: Invalid value: \"c\": conflicting "
                "duplicate paths",
                "FieldValueRequired volumes[0].projected.sources[2].downwardAPI: Required value: "
                "one of fieldRef and resourceFieldRef is required",
                "FieldValueInvalid volumes[0].projected: Invalid value: \"p\": conflicting "
                "duplicate paths",
                "FieldValueForbidden volumes[0].projected.sources[3]: Forbidden: may not specify "
                "more than 1 volume type per source"})},
    {"ProjectedToken",
     R"({"volumes": [{"name": "v0",
          "projected": {"sources": [{"serviceAccountToken": {"path": "",
          "expirationSeconds": 599}}, {"serviceAccountToken": {"path": "../a",
          "expirationSeconds": 4294967297}}]}}]})"_json,
     InPodSpec({"FieldValueInvalid "
                "volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid "
                "value: 599: may not specify a duration less than 10 minutes",
                "FieldValueRequired volumes[0].projected.path: Required value",
                "FieldValueInvalid "
                "volumes[0].projected.sources[1].serviceAccountToken.expirationSeconds: Invalid "
                "value: 4294967297: may not specify a duration larger than 2^32 seconds",
                "FieldValueInvalid volumes[0].projected.path: Invalid value: \"../a\": must not "
                "contain '..'"})},
    {"EphemeralWithoutAccessModes",
     R"({"volumes": [{"name": "v0",
          "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": "-"},
          "name": "b"}, "spec": {"resources": {}}}}}]})"_json,
     InPodSpec(
         {"FieldValueInvalid volumes[0].ephemeral.volumeClaimTemplate.metadata.labels: Invalid "
          "value: \"-\": " +
              label_value_error,
          "FieldValueForbidden volumes[0].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: "
          "cannot be set",
          "FieldValueRequired volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Required "
          "value: at least 1 access mode is required",
          "FieldValueRequired volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: "
          "Required value"})},
    {"EphemeralWithoutTemplate", R"({"volumes": [{"name": "v0", "ephemeral": {}}]})"_json,
     InPodSpec({"FieldValueRequired volumes[0].ephemeral.volumeClaimTemplate: Required value"})},
    {"ManyKinds",
     R"({"volumes": [{"name": "v0", "cephfs": {"monitors": ["a"]}, "downwardAPI": {},
          "hostPath": {"path": "/"}}]})"_json,
     InPodSpec({"FieldValueForbidden volumes[0].cephFS: Forbidden: may not specify more than 1 "
                "volume type",
                "FieldValueForbidden volumes[0].downwarAPI: Forbidden: may not specify more than 1 "
                "volume type"})},
};
INSTANTIATE_TEST_SUITE_P(Volumes, PodSpecValidationTest, ::testing::ValuesIn(invalid_volumes),
                         [](const auto& invalid) { return invalid.param.test_name; });

}  // namespace
}  // namespace kopp::conformance
