#include "pod_spec_validation.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

const InvalidPodSpec invalid_container_fields[] = {
    {"EnvNames",
     R"({"containers": [{"name": "c", "image": "i", "env": [{"name": "A",
          "valueFrom": {"configMapKeyRef": {"name": "B", "key": "a/b"}}}, {"name": "A",
          "valueFrom": {"secretKeyRef": {"name": "", "key": ""}}}, {"name": "A",
          "valueFrom": {"secretKeyRef": {"name": "a", "key": "a"},
          "fieldRef": {"fieldPath": "metadata.name"}}}]}]})"_json,
     InPodSpec(
         {"FieldValueInvalid containers[0].env[0].valueFrom.configMapKeyRef.name: Invalid value: "
          "\"B\": " +
              dns1123_subdomain_error,
          "FieldValueInvalid containers[0].env[0].valueFrom.configMapKeyRef.key: Invalid value: "
          "\"a/b\": " +
              config_key_error,
          "FieldValueInvalid containers[0].env[1].valueFrom.secretKeyRef.name: Invalid value: "
          "\"\": " +
              dns1123_subdomain_error,
          "FieldValueRequired containers[0].env[1].valueFrom.secretKeyRef.key: Required value",
          "FieldValueInvalid containers[0].env[2].valueFrom: Invalid value: \"\": may not have "
          "more than one field specified at a time"})},
    {"EnvFields",
     R"({"containers": [{"name": "c", "image": "i", "env": [{"name": "A",
          "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels"}}}, {"name": "A",
          "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['a b']"}}},
          {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": ""}}},
          {"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu",
          "divisor": "1k"}}}, {"name": "A",
          "valueFrom": {"resourceFieldRef": {"resource": "limits.ephemeral-storage",
          "divisor": "1m"}}}]}]})"_json,
     InPodSpec(
         {"FieldValueNotSupported containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported "
          "value: \"metadata.labels\": supported values: \"metadata.name\", "
          "\"metadata.namespace\", \"metadata.uid\", \"spec.nodeName\", "
          "\"spec.serviceAccountName\", \"status.hostIP\", \"status.hostIPs\", \"status.podIP\", "
          "\"status.podIPs\"",
          "FieldValueInvalid containers[0].env[1].valueFrom.fieldRef: Invalid value: \"a b\": name "
          "part " +
              qualified_name_error,
          "FieldValueRequired containers[0].env[2].valueFrom.resourceFieldRef.resource: Required "
          "value",
          "FieldValueInvalid containers[0].env[3].valueFrom.resourceFieldRef.divisor: Invalid "
          "value: \"limits.cpu\": only divisor's values 1m and 1 are supported with the cpu "
          "resource",
          "FieldValueInvalid containers[0].env[4].valueFrom.resourceFieldRef.divisor: Invalid "
          "value: \"limits.ephemeral-storage\": only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, "
          "1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the local ephemeral storage resource"})},
    {"EnvOfADisabledSource",
     R"({"containers": [{"name": "c", "image": "i", "env": [{"name": "A",
          "valueFrom": {"fileKeyRef": {"volumeName": "v", "path": "p", "key": "k"}}}]}]})"_json,
     InPodSpec(
         {"FieldValueInvalid containers[0].env[0].valueFrom: Invalid value: \"\": must specify one "
          "of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"})},
    {"EnvFrom",
     R"({"containers": [{"name": "c", "image": "i", "envFrom": [{}, {"prefix": "a=",
          "configMapRef": {"name": ""}}, {"secretRef": {"name": "A"}},
          {"configMapRef": {"name": "a"}, "secretRef": {"name": "a"}}]}]})"_json,
     InPodSpec(
         {"FieldValueInvalid containers[0].envFrom: Invalid value: \"\": must specify one of: "
          "`configMapRef` or `secretRef`",
          "FieldValueInvalid containers[0].envFrom[1].prefix: Invalid value: \"a=\": a valid "
          "environment variable name must consist only of printable ASCII characters other than "
          "'='",
          "FieldValueRequired containers[0].envFrom[1].configMapRef.name: Required value",
          "FieldValueInvalid containers[0].envFrom[2].secretRef.name: Invalid value: \"A\": " +
              dns1123_subdomain_error,
          "FieldValueInvalid containers[0].envFrom: Invalid value: \"\": may not have more than "
          "one field specified at a time"})},
    {"LifecycleHandlers",
     R"({"containers": [{"name": "c", "image": "i", "lifecycle": {"postStart": {},
          "preStop": {"exec": {"command": []}, "httpGet": {"port": 80}}}}]})"_json,
     InPodSpec({"FieldValueRequired containers[0].lifecycle.postStart: Required value: must "
                "specify a handler type",
                "FieldValueRequired containers[0].lifecycle.preStop.exec.command: Required value",
                "FieldValueForbidden containers[0].lifecycle.preStop.httpGet: Forbidden: may not "
                "specify more than 1 handler type"})},
    {"LifecycleHttpHandler",
     R"({"containers": [{"name": "c", "image": "i",
          "lifecycle": {"postStart": {"httpGet": {"port": 0, "scheme": "FTP",
          "httpHeaders": [{"name": "a b", "value": ""}]}},
          "preStop": {"tcpSocket": {"port": "UPPER"}}}}]})"_json,
     InPodSpec({"FieldValueInvalid containers[0].lifecycle.postStart.httpGet.port: Invalid value: "
                "0: must be between 1 and 65535, inclusive",
                "FieldValueNotSupported containers[0].lifecycle.postStart.httpGet.scheme: "
                "Unsupported value: \"FTP\": supported values: \"HTTP\", \"HTTPS\"",
                "FieldValueInvalid containers[0].lifecycle.postStart.httpGet.httpHeaders: Invalid "
                "value: \"a b\": a valid HTTP header must consist of alphanumeric characters or "
                "'-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
                "FieldValueInvalid containers[0].lifecycle.preStop.tcpSocket.port: Invalid value: "
                "\"UPPER\": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
                "FieldValueInvalid containers[0].lifecycle.preStop.tcpSocket.port: Invalid value: "
                "\"UPPER\": must contain at least one letter (a-z)"})},
    {"LifecycleSleep",
     R"({"containers": [{"name": "c", "image": "i",
          "lifecycle": {"postStart": {"sleep": {"seconds": -1}},
          "preStop": {"sleep": {"seconds": 31}}}}]})"_json,
     InPodSpec({"FieldValueInvalid containers[0].lifecycle.postStart.sleep: Invalid value: -1: "
                "must be non-negative and less than terminationGracePeriodSeconds (30)",
                "FieldValueInvalid containers[0].lifecycle.preStop.sleep: Invalid value: 31: must "
                "be non-negative and less than terminationGracePeriodSeconds (30)"})},
    {"Probes",
     R"({"containers": [{"name": "c", "image": "i",
          "livenessProbe": {"exec": {"command": []}, "successThreshold": 2,
          "terminationGracePeriodSeconds": 0}, "readinessProbe": {"grpc": {"port": 0},
          "terminationGracePeriodSeconds": 1, "periodSeconds": -1},
          "startupProbe": {"tcpSocket": {"port": 70000}, "successThreshold": 2}}]})"_json,
     InPodSpec({"FieldValueRequired containers[0].livenessProbe.exec.command: Required value",
                "FieldValueInvalid containers[0].livenessProbe.terminationGracePeriodSeconds: "
                "Invalid value: 0: must be greater than 0",
                "FieldValueInvalid containers[0].livenessProbe.successThreshold: Invalid value: 2: "
                "must be 1",
                "FieldValueInvalid containers[0].readinessProbe.grpc.port: Invalid value: 0: must "
                "be between 1 and 65535, inclusive",
                "FieldValueInvalid containers[0].readinessProbe.periodSeconds: Invalid value: -1: "
                "must be greater than or equal to 0",
                "FieldValueInvalid containers[0].readinessProbe.terminationGracePeriodSeconds: "
                "Invalid value: 1: must not be set for readinessProbes",
                "FieldValueInvalid containers[0].startupProbe.tcpSocket.port: Invalid value: "
                "70000: must be between 1 and 65535, inclusive",
                "FieldValueInvalid containers[0].startupProbe.successThreshold: Invalid value: 2: "
                "must be 1"})},
    {"Mounts",
     R"({"containers": [{"name": "c", "image": "i", "volumeMounts": [{"name": "",
          "mountPath": ""}, {"name": "dir", "mountPath": "/a", "subPath": "/b",
          "subPathExpr": "../c"}, {"name": "dir", "mountPath": "/a"}, {"name": "dir",
          "mountPath": "/d", "recursiveReadOnly": "Odd"}, {"name": "dir",
          "mountPath": "/e", "recursiveReadOnly": "Enabled",
          "mountPropagation": "HostToContainer"}]}], "volumes": [{"name": "dir",
          "emptyDir": {}}, {"name": "claim",
          "persistentVolumeClaim": {"claimName": "a"}}, {"name": "scratch",
          "persistentVolumeClaim": {"claimName": "b"}}]})"_json,
     InPodSpec({"FieldValueRequired containers[0].volumeMounts[0].name: Required value",
                "FieldValueNotFound containers[0].volumeMounts[0].name: Not found: \"\"",
                "FieldValueRequired containers[0].volumeMounts[0].mountPath: Required value",
                "FieldValueInvalid containers[0].volumeMounts.subPath: Invalid value: \"/b\": must "
                "be a relative path",
                "FieldValueInvalid containers[0].volumeMounts[1].subPathExpr: Invalid value: "
                "\"../c\": subPathExpr and subPath are mutually exclusive",
                "FieldValueInvalid containers[0].volumeMounts.subPathExpr: Invalid value: "
                "\"../c\": must not contain '..'",
                "FieldValueInvalid containers[0].volumeMounts[2].mountPath: Invalid value: \"/a\": "
                "must be unique",
                "FieldValueNotSupported containers[0].volumeMounts.recursiveReadOnly: Unsupported "
                "value: \"Odd\": supported values: \"Disabled\", \"Enabled\", \"IfPossible\"",
                "FieldValueForbidden containers[0].volumeMounts.recursiveReadOnly: Forbidden: may "
                "only be specified when readOnly is true",
                "FieldValueForbidden containers[0].volumeMounts.recursiveReadOnly: Forbidden: may "
                "only be specified when mountPropagation is None or not specified"})},
    {"Devices",
     R"({"containers": [{"name": "c", "image": "i", "volumeDevices": [{"name": "dir",
          "devicePath": "/a"}, {"name": "claim", "devicePath": "/a"}, {"name": "claim",
          "devicePath": "/b/../c"}, {"name": "scratch", "devicePath": ""}]}],
          "volumes": [{"name": "dir", "emptyDir": {}}, {"name": "claim",
          "persistentVolumeClaim": {"claimName": "a"}}, {"name": "scratch",
          "persistentVolumeClaim": {"claimName": "b"}}]})"_json,
     InPodSpec(
         {"FieldValueInvalid containers[0].volumeDevices[0].name: Invalid value: \"dir\": can only "
          "use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
          "FieldValueInvalid containers[0].volumeDevices[1].devicePath: Invalid value: \"/a\": "
          "must be unique",
          "FieldValueInvalid containers[0].volumeDevices[2].name: Invalid value: \"claim\": must "
          "be unique",
          "FieldValueInvalid containers[0].volumeDevices[2].devicePath: Invalid value: "
          "\"/b/../c\": can not contain backsteps ('..')",
          "FieldValueRequired containers[0].volumeDevices[3].devicePath: Required value"})},
    {"DevicesThatAreMounted",
     R"({"containers": [{"name": "c", "image": "i", "volumeMounts": [{"name": "claim",
          "mountPath": "/a"}, {"name": "dir", "mountPath": "/b"}],
          "volumeDevices": [{"name": "claim", "devicePath": "/b"}]}],
          "volumes": [{"name": "dir", "emptyDir": {}}, {"name": "claim",
          "persistentVolumeClaim": {"claimName": "a"}}, {"name": "scratch",
          "persistentVolumeClaim": {"claimName": "b"}}]})"_json,
     InPodSpec({"FieldValueInvalid containers[0].volumeMounts[0].name: Invalid value: \"claim\": "
                "must not already exist in volumeDevices",
                "FieldValueInvalid containers[0].volumeMounts[1].mountPath: Invalid value: \"/b\": "
                "must not already exist as a path in volumeDevices",
                "FieldValueInvalid containers[0].volumeDevices[0].name: Invalid value: \"claim\": "
                "must not already exist in volumeMounts",
                "FieldValueInvalid containers[0].volumeDevices[0].devicePath: Invalid value: "
                "\"/b\": must not already exist as a path in volumeMounts"})},
    {"ResourceNames",
     R"({"containers": [{"name": "c", "image": "i",
          "resources": {"limits": {"a b": "1"}, "requests": {"odd": "1"}}}]})"_json,
     InPodSpec({"FieldValueInvalid containers[0].resources.limits[a b]: Invalid value: \"a b\": "
                "name part " +
                    qualified_name_error,
                "FieldValueInvalid containers[0].resources.limits[a b]: Invalid value: \"a b\": "
                "must be a standard resource for containers",
                "FieldValueInvalid containers[0].resources.requests[odd]: Invalid value: \"odd\": "
                "must be a standard resource type or fully qualified",
                "FieldValueInvalid containers[0].resources.requests[odd]: Invalid value: \"odd\": "
                "must be a standard resource for containers"})},
    {"ResourceNamesOfOtherObjects",
     R"({"containers": [{"name": "c", "image": "i",
          "resources": {"limits": {"pods": "1500m"},
          "requests": {"requests.example.com/a": "1"}}}]})"_json,
     InPodSpec(
         {"FieldValueInvalid containers[0].resources.limits[pods]: Invalid value: \"pods\": must "
          "be a standard resource for containers",
          "FieldValueInvalid containers[0].resources.limits[pods]: Invalid value: \"1500m\": must "
          "be an integer",
          "FieldValueInvalid containers[0].resources.requests[requests.example.com/a]: Invalid "
          "value: \"requests.example.com/a\": doesn't follow extended resource name standard",
          "FieldValueRequired containers[0].resources.limits: Required value: Limit must be set "
          "for non overcommitable resources"})},
    {"ResourcesWithoutOvercommitment",
     R"({"containers": [{"name": "c", "image": "i",
          "resources": {"limits": {"example.com/gpu": "1500m"},
          "requests": {"example.com/gpu": "1"}}}]})"_json,
     InPodSpec({"FieldValueInvalid containers[0].resources.limits[example.com/gpu]: Invalid value: "
                "\"1500m\": must be an integer",
                "FieldValueInvalid containers[0].resources.requests: Invalid value: \"1\": must be "
                "equal to example.com/gpu limit of 1500m"})},
    {"ResourcesWithoutLimits",
     R"({"containers": [{"name": "c", "image": "i",
          "resources": {"requests": {"example.com/gpu": "1"}}}]})"_json,
     InPodSpec({"FieldValueRequired containers[0].resources.limits: Required value: Limit must be "
                "set for non overcommitable resources"})},
    {"HugePages",
     R"({"containers": [{"name": "c", "image": "i",
          "resources": {"limits": {"hugepages-2Mi": "3Mi"}}}]})"_json,
     InPodSpec({"FieldValueInvalid containers[0].resources.limits[hugepages-2Mi]: Invalid value: "
                "\"3Mi\": 3Mi is not positive integer multiple of hugepages-2Mi",
                "FieldValueForbidden containers[0].resources: Forbidden: HugePages require cpu or "
                "memory"})},
    {"HugePagesOfAnUnknownSize",
     R"({"containers": [{"name": "c", "image": "i",
          "resources": {"limits": {"hugepages-odd": "1"}, "requests": {"cpu": "1"}}}]})"_json,
     InPodSpec({"FieldValueInvalid containers[0].resources.limits[hugepages-odd]: Invalid value: "
                "\"1\": 1 is not positive integer multiple of hugepages-odd"})},
    {"ResourceClaims",
     R"({"containers": [{"name": "c", "image": "i",
          "resources": {"claims": [{"name": ""}, {"name": "a"}, {"name": "a"},
          {"name": "b", "request": "R"}, {"name": "b"}, {"name": "c"}]}}],
          "resourceClaims": [{"name": "a", "resourceClaimName": "A"}, {"name": "a",
          "resourceClaimName": "b"}, {"name": "b", "resourceClaimTemplateName": "C"}]})"_json,
     InPodSpec(
         {"FieldValueInvalid resourceClaims[0].resourceClaimName: Invalid value: \"A\": " +
              dns1123_subdomain_error,
          "FieldValueDuplicate resourceClaims[1].name: Duplicate value: \"a\"",
          "FieldValueInvalid resourceClaims[2].resourceClaimTemplateName: Invalid value: \"C\": " +
              dns1123_subdomain_error,
          "FieldValueRequired containers[0].resources.claims[0]: Required value",
          "FieldValueDuplicate containers[0].resources.claims[2]: Duplicate value: \"a\"",
          "FieldValueInvalid containers[0].resources.claims[3].request: Invalid value: \"R\": " +
              dns1123_label_error,
          "FieldValueDuplicate containers[0].resources.claims[4]: Duplicate value: \"b\"",
          "FieldValueNotFound containers[0].resources.claims[5]: Not found: \"c\": must be one of "
          "the names in pod.spec.resourceClaims: a, b"})},
    {"ResourceClaimsOfAPodWithoutClaims",
     R"({"containers": [{"name": "c", "image": "i",
          "resources": {"claims": [{"name": "a"}]}}]})"_json,
     InPodSpec({"FieldValueNotFound containers[0].resources.claims[0]: Not found: \"a\": must be "
                "one of the names in pod.spec.resourceClaims which is empty"})},
    {"ResizePolicies",
     R"({"containers": [{"name": "c", "image": "i",
          "resizePolicy": [{"resourceName": "odd", "restartPolicy": "Odd"},
          {"resourceName": "", "restartPolicy": ""}, {"resourceName": "cpu",
          "restartPolicy": "NotRequired"}, {"resourceName": "cpu",
          "restartPolicy": "NotRequired"}]}]})"_json,
     InPodSpec({"FieldValueNotSupported containers[0].resizePolicy: Unsupported value: \"odd\": "
                "supported values: \"cpu\", \"memory\"",
                "FieldValueNotSupported containers[0].resizePolicy: Unsupported value: \"Odd\": "
                "supported values: \"NotRequired\", \"RestartContainer\"",
                "FieldValueRequired containers[0].resizePolicy: Required value",
                "FieldValueRequired containers[0].resizePolicy: Required value",
                "FieldValueDuplicate containers[0].resizePolicy[3]: Duplicate value: \"cpu\""})},
    {"InitContainers",
     R"({"initContainers": [{"name": "a", "image": "i", "lifecycle": {},
          "livenessProbe": {"exec": {"command": ["a"]}},
          "startupProbe": {"exec": {"command": ["a"]}}, "ports": [{"containerPort": 1,
          "hostPort": 2}, {"containerPort": 3, "hostPort": 2}]}, {"name": "b",
          "image": "i", "restartPolicy": "Always", "readinessProbe": {},
          "lifecycle": {"preStop": {}}}]})"_json,
     InPodSpec(
         {"FieldValueDuplicate initContainers[0].ports[1].hostPort: Duplicate value: \"TCP//2\"",
          "FieldValueForbidden initContainers[0].lifecycle: Forbidden: may not be set for init "
          "containers without restartPolicy=Always",
          "FieldValueForbidden initContainers[0].livenessProbe: Forbidden: may not be set for init "
          "containers without restartPolicy=Always",
          "FieldValueForbidden initContainers[0].startupProbe: Forbidden: may not be set for init "
          "containers without restartPolicy=Always",
          "FieldValueRequired initContainers[1].lifecycle.preStop: Required value: must specify a "
          "handler type",
          "FieldValueRequired initContainers[1].readinessProbe: Required value: must specify a "
          "handler type"})},
    {"EphemeralContainers",
     R"({"ephemeralContainers": [{"name": "nginx", "image": " i",
          "targetContainerName": "odd", "ports": [{"containerPort": 1}]}]})"_json,
     InPodSpec({"FieldValueInvalid ephemeralContainers[0].image: Invalid value: \" i\": must not "
                "have leading or trailing whitespace",
                "FieldValueDuplicate ephemeralContainers[0].name: Duplicate value: \"nginx\"",
                "FieldValueNotFound ephemeralContainers[0].targetContainerName: Not found: \"odd\"",
                "FieldValueForbidden ephemeralContainers[0].ports: Forbidden: cannot be set for an "
                "Ephemeral Container",
                "FieldValueForbidden ephemeralContainers: Forbidden: ephemeral containers not "
                "allowed in pod template"})},
    {"HostPortsOfInitContainers",
     R"({"containers": [{"name": "c", "image": "i",
          "ports": [{"containerPort": 80}]}], "hostNetwork": true,
          "initContainers": [{"name": "b", "image": "i", "ports": [{"containerPort": 1,
          "hostPort": 70000}]}]})"_json,
     InPodSpec({"FieldValueInvalid initContainers[0].ports[0].hostPort: Invalid value: 70000: must "
                "be between 1 and 65535, inclusive"})},
};
INSTANTIATE_TEST_SUITE_P(Containers, PodSpecValidationTest,
                         ::testing::ValuesIn(invalid_container_fields),
                         [](const auto& invalid) { return invalid.param.test_name; });

}  // namespace
}  // namespace kopp::conformance
