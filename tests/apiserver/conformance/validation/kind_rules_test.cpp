// Rules for new objects and for updates of several kinds, with the order of the errors.
#include "rule.hpp"

#include <cctype>
#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class KindRuleTest : public ConformanceTest, public ::testing::WithParamInterface<Rule> {
 protected:
  /// Returns the path of the collection that contains an object.
  std::string CollectionOf(const json& object) {
    std::string plural = object.at("kind").get<std::string>();
    for (char& c : plural) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    plural += plural.ends_with('s') ? "es" : "s";
    const std::string version = object.at("apiVersion").get<std::string>();
    return version == "v1" ? Path(plural) : Path(version, plural);
  }
  /// Returns an object with the name "a" and these fields. An Event is about a Pod.
  json MakeObject(const json& fields) {
    json object = MakeObjectWithName("a");
    object.update(fields);
    if (object["kind"] == "Event")
      object["regarding"] = {{"kind", "Pod"}, {"name", "a"}, {"namespace", ns()}};
    return object;
  }
};

class CreateRuleTest : public KindRuleTest {};

TEST_P(CreateRuleTest, TheErrorsAreThoseOfTheRule) {
  const json object = MakeObject(json::parse(GetParam().value));
  ExpectErrors(Post(CollectionOf(object) + "?dryRun=All", object), GetParam());
}

const Rule create_rules[] =
    {
        {"DockerSecretWithNumberAfterAJsonValue",
         R"({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "MjAyNi0wMi0zMA=="}})",
         R"(data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character '-' after top-level value)"},
        {"DockerSecretWithMinusWithoutANumber",
         R"({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "LWQ="}})",
         R"(data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 'd' in numeric literal)"},
        {"DockerSecretWithPointWithoutADigit",
         R"({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "MS54"}})",
         R"(data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 'x' after decimal point in numeric literal)"},
        {"DockerSecretWithExponentWithoutADigit",
         R"({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "MWUreA=="}})",
         R"(data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 'x' in exponent of numeric literal)"},
        {"DockerSecretWithUnknownLiteral",
         R"({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "bnVsIA=="}})",
         R"(data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character ' ' in literal null (expecting 'l'))"},
        {"DockerSecretWithInvalidEscape",
         R"({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "Ilx4Ig=="}})",
         R"(data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 'x' in string escape code)"},
        {"DockerSecretWithInvalidHexadecimalEscape",
         R"({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "Ilx1MTJnNCI="}})",
         R"(data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 'g' in \u hexadecimal character escape)"},
        {"DockerSecretWithControlCharacterInAText",
         R"({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "ImEJYiI="}})",
         R"(data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character '\t' in string literal)"},
        {"DockerSecretWithObjectKeyWithoutQuotes",
         R"({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "e2E6IDF9"}})",
         R"(data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 'a' looking for beginning of object key string)"},
        {"DockerSecretWithObjectKeyWithoutAColon",
         R"({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "eyJhIiAxfQ=="}})",
         R"(data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character '1' after object key)"},
        {"DockerSecretWithFieldsWithoutAComma",
         R"({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "eyJhIjogMSAiYiI6IDJ9"}})",
         R"(data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character '"' after object key:value pair)"},
        {"DockerSecretWithItemsWithoutAComma",
         R"({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "WzEgMl0="}})",
         R"(data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character '2' after array element)"},
        {"DockerSecretWithCharacterZero",
         R"({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/dockerconfigjson", "data": {".dockerconfigjson": "AA=="}})",
         R"(data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character '\x00' looking for beginning of value)"},
        {"NodePortTwiceWithTheSameNumber",
         R"({"apiVersion": "v1", "kind": "Service", "spec": {"type": "NodePort", "ports": [{"name": "a", "port": 80, "nodePort": 30280}, {"name": "b", "port": 80, "nodePort": 30280}]}})",
         R"([spec.ports[1].nodePort: Duplicate value: 30280, spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}])"},
        {"NodePortTwiceWithDifferentNumbers",
         R"({"apiVersion": "v1", "kind": "Service", "spec": {"type": "NodePort", "ports": [{"name": "a", "port": 80, "nodePort": 30280}, {"name": "b", "port": 81, "nodePort": 30280}]}})",
         R"(spec.ports[1].nodePort: Invalid value: 30280: provided port is already allocated)"},
        {"RequestedNodePortsOfALoadBalancerWithoutOthers",
         R"({"apiVersion": "v1", "kind": "Service", "spec": {"type": "LoadBalancer", "allocateLoadBalancerNodePorts": false, "ports": [{"name": "a", "port": 80, "nodePort": 30280}, {"name": "b", "port": 81, "nodePort": 30280}]}})",
         R"(spec.ports[1].nodePort: Invalid value: 30280: provided port is already allocated)"},
        {"UnknownTrafficDistribution",
         R"({"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 80}], "trafficDistribution": "a\u0001"}})",
         R"(spec.trafficDistribution: Unsupported value: "a\x01": supported values: "PreferClose", "PreferSameZone", "PreferSameNode")"},
        {"JobWithInvalidIndexesAndACount", R"({"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}}, "completionMode": "Indexed", "completions": 3, "successPolicy": {"rules": [{"succeededIndexes": "x", "succeededCount": 1}]}}})", R"([spec.successPolicy.rules[0].succeededIndexes: Invalid value: "x": error parsing succeededIndexes: cannot convert string to integer for index: "x", spec.successPolicy.rules[0].succeededCount: Invalid value: 1: must be less than or equal to 0 (the number of indexes in the specified succeededIndexes field)])"},
        {"AutoscalerWithAnUnknownResource",
         R"({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "spec": {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}, "metrics": [{"type": "ContainerResource", "containerResource": {"name": "gpu", "container": "a", "target": {"type": "Utilization", "averageUtilization": 50}}}]}})",
         R"([spec.metrics[0].containerResource.name: Invalid value: "gpu": must be a standard resource type or fully qualified, spec.metrics[0].containerResource.name: Invalid value: "gpu": must be a standard resource for containers])"},
        {"AutoscalerWithAnInvalidResource",
         R"({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "spec": {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}, "metrics": [{"type": "ContainerResource", "containerResource": {"name": "a b", "container": "a", "target": {"type": "Utilization", "averageUtilization": 50}}}]}})",
         R"([spec.metrics[0].containerResource.name: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), spec.metrics[0].containerResource.name: Invalid value: "a b": must be a standard resource for containers])"},
        {"AutoscalerWithAnExtendedResource",
         R"({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "spec": {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}, "metrics": [{"type": "ContainerResource", "containerResource": {"name": "example.com/gpu", "container": "a", "target": {"type": "Utilization", "averageUtilization": 50}}}]}})",
         ""},
        {"IngressWithAnAmbiguousRelativePath", R"({"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "spec": {"rules": [{"http": {"paths": [{"path": "a//b", "pathType": "Prefix", "backend": {"service": {"name": "a", "port": {"number": 80}}}}]}}]}})",
         R"([spec.rules[0].http.paths[0].path: Invalid value: "a//b": must be an absolute path, spec.rules[0].http.paths[0].path: Invalid value: "a//b": must not contain '//'])"},
        {"JobWithAnotherNameInItsLabels",
         R"({"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"metadata": {"labels": {"job-name": "x"}}, "spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}}}})",
         R"(spec.template.metadata.labels[job-name]: Invalid value: {)"},
        {"JobWithASelectorThatIsNotGenerated",
         R"({"apiVersion": "batch/v1", "kind": "Job", "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}}}})",
         R"(spec.selector: Invalid value: {"matchLabels":{"a":"b","batch.kubernetes.io/controller-uid":")"},
        {"JobWithAnInvalidSelector",
         R"({"apiVersion": "batch/v1", "kind": "Job", "spec": {"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}, "template": {"metadata": {}, "spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}}}})",
         R"(spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn')"},
        {"JobWithAManualSelector",
         R"({"apiVersion": "batch/v1", "kind": "Job", "spec": {"manualSelector": true, "selector": {"matchLabels": {"job-name": "x"}}, "template": {"metadata": {"labels": {"job-name": "x"}}, "spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}}}})",
         ""},
        {"SubjectOfAnUnprintableKind",
         R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}, "subjects": [{"kind": "\u0001", "name": "a"}]})",
         R"(subjects[0].kind: Unsupported value: "\x01": supported values: "ServiceAccount", "User", "Group")"},
        {"SubjectOfAnUnknownGroup",
         R"({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}, "subjects": [{"kind": "User", "name": "a", "apiGroup": "\u0001"}]})",
         R"(subjects[0].apiGroup: Unsupported value: "\x01": supported values: "rbac.authorization.k8s.io")"},
        {"DaemonSetWithAnInvalidPercentage",
         R"({"apiVersion": "apps/v1", "kind": "DaemonSet", "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "1x"}}}})",
         R"([spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "1x": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%'), spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0])"},
        {"DaemonSetWithAnUnprintablePercentage",
         R"({"apiVersion": "apps/v1", "kind": "DaemonSet", "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "\u0001"}}}})", R"([spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "\u0001": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%'), spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0])"},
        {"DeploymentWithAnInvalidPercentage",
         R"({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}, "strategy": {"rollingUpdate": {"maxUnavailable": "1x", "maxSurge": 0}}}})",
         R"([spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "1x": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%'), spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "1x": may not be 0 when `maxSurge` is 0])"},
};
INSTANTIATE_TEST_SUITE_P(, CreateRuleTest, ::testing::ValuesIn(create_rules), &NameOf);

/// The values are pairs: an object before and after an update.
class UpdateRuleTest : public KindRuleTest {};

TEST_P(UpdateRuleTest, TheErrorsAreThoseOfTheRule) {
  const json objects = json::parse(GetParam().value);
  const std::string collection = CollectionOf(objects[0]);
  EXPECT_EQ(Post(collection, MakeObject(objects[0])).status, 201);

  const JsonResponse updated = Put(collection + "/a?dryRun=All", MakeObject(objects[1]));

  const std::string& errors = GetParam().errors;
  EXPECT_EQ(updated.status, errors.empty() ? 200 : 422) << updated.text;
  if (!errors.empty()) {
    EXPECT_THAT(updated.message(), HasSubstr(" is invalid: " + errors));
  }
  Delete(collection + "/a");  // another test may need its node ports
}

const Rule update_rules[] = {
    {"PortOfAnUpdateTwice",
     R"([{"apiVersion": "v1", "kind": "Service", "spec": {"type": "NodePort", "ports": [{"name": "a", "port": 80, "nodePort": 30290}, {"name": "b", "port": 81, "nodePort": 30291}]}}, {"apiVersion": "v1", "kind": "Service", "spec": {"type": "NodePort", "ports": [{"name": "a", "port": 80, "nodePort": 30290}, {"name": "b", "port": 80, "nodePort": 30291}]}}])",
     R"(spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0})"},
    {"InvalidServiceNameOfAStatefulSet",
     R"([{"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {"selector": {"matchLabels": {"a": "b"}}, "serviceName": "a", "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}}}, {"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {"selector": {"matchLabels": {"a": "b"}}, "serviceName": "a b", "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}}}])",
     R"(spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden)"},
    {"DataSourceWithoutKind",
     R"([{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "dataSource": {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "a"}}}, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "dataSource": {"apiGroup": "snapshot.storage.k8s.io", "name": "a"}, "dataSourceRef": null}}])",
     R"([spec.dataSource.kind: Required value, spec.dataSourceRef.kind: Required value, spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims)"},
    {"DataSourceThatDiffersFromItsReference",
     R"([{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "dataSource": {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "a"}}}, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "dataSource": {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "b"}, "dataSourceRef": {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "a"}}}])", R"([spec: Invalid value: {}: must match dataSourceRef, spec: Forbidden: spec is immutable after creation)"},
    {"EventWithoutItsTime",
     R"([{"apiVersion": "events.k8s.io/v1", "kind": "Event", "reportingController": "example.com/a", "reportingInstance": "a", "action": "a", "reason": "a", "type": "Normal", "eventTime": "2026-01-01T00:00:00.000000Z"}, {"apiVersion": "events.k8s.io/v1", "kind": "Event", "reportingController": "example.com/a", "reportingInstance": "a", "action": "a", "reason": "a", "type": "Normal"}])",
     R"(eventTime: Invalid value: null: field is immutable)"},
    {"UnknownTypeOfAnEvent",
     R"([{"apiVersion": "events.k8s.io/v1", "kind": "Event", "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "example.com/a", "reportingInstance": "a", "action": "a", "reason": "a", "type": "Normal"}, {"apiVersion": "events.k8s.io/v1", "kind": "Event", "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "example.com/a", "reportingInstance": "a", "action": "a", "reason": "a", "type": "x"}])",
     R"(type: Invalid value: "x": field is immutable)"},
    {"InvalidSeriesOfAnEvent",
     R"([{"apiVersion": "events.k8s.io/v1", "kind": "Event", "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "example.com/a", "reportingInstance": "a", "action": "a", "reason": "a", "type": "Normal"}, {"apiVersion": "events.k8s.io/v1", "kind": "Event", "eventTime": "2026-01-01T00:00:00.000000Z", "reportingController": "example.com/a", "reportingInstance": "a", "action": "a", "reason": "a", "type": "Normal", "series": {"count": 1, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}}])",
     R"(series.count: Invalid value: "": should be at least 2)"},
    {"LoadBalancerClassWithAFormatCharacter",
     R"([{"apiVersion": "v1", "kind": "Service", "spec": {"type": "LoadBalancer", "loadBalancerClass": "a/b", "ports": [{"port": 80}]}}, {"apiVersion": "v1", "kind": "Service", "spec": {"type": "LoadBalancer", "loadBalancerClass": "\u202e", "ports": [{"port": 80}]}}])",
     "[spec.loadBalancerClass: Invalid value: \"\u202e\": may not change once set, "
     R"(spec.loadBalancerClass: Invalid value: "\u202e": name part must)"},
    {"TypeOfASecret",
     R"([{"apiVersion": "v1", "kind": "Secret", "type": "a"}, {"apiVersion": "v1", "kind": "Secret", "type": "a\u0001"}])",
     R"(type: Invalid value: "a\u0001": field is immutable)"},
};
INSTANTIATE_TEST_SUITE_P(, UpdateRuleTest, ::testing::ValuesIn(update_rules), &NameOf);

const Rule job_update_rules[] = {
    {"CompletionsWithoutParallelism",
     R"([{"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}, "metadata": {"labels": {"a": "b"}}}, "completionMode": "Indexed", "completions": 3, "parallelism": 2, "manualSelector": true, "selector": {"matchLabels": {"a": "b"}}}}, {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}, "metadata": {"labels": {"a": "b"}}}, "completionMode": "Indexed", "completions": 4, "parallelism": 2, "manualSelector": true, "selector": {"matchLabels": {"a": "b"}}}}])",
     R"(spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism)"},
    {"CompletionsAndParallelism",
     R"([{"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}, "metadata": {"labels": {"a": "b"}}}, "completionMode": "Indexed", "completions": 3, "parallelism": 2, "manualSelector": true, "selector": {"matchLabels": {"a": "b"}}}}, {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}, "metadata": {"labels": {"a": "b"}}}, "completionMode": "Indexed", "completions": 4, "parallelism": 4, "manualSelector": true, "selector": {"matchLabels": {"a": "b"}}}}])",
     ""},
    {"InvalidLabelOfAPodTemplate",
     R"([{"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}, "metadata": {"labels": {"a": "b"}}}, "completionMode": "Indexed", "completions": 3, "parallelism": 2, "manualSelector": true, "selector": {"matchLabels": {"a": "b"}}}}, {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}, "metadata": {"labels": {"a": "b", "c": "-"}}}, "completionMode": "Indexed", "completions": 3, "parallelism": 2, "manualSelector": true, "selector": {"matchLabels": {"a": "b"}}}}])", R"([metadata.labels: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'), spec.template.labels: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'))"},
};
INSTANTIATE_TEST_SUITE_P(Job, UpdateRuleTest, ::testing::ValuesIn(job_update_rules), &NameOf);

class NodePortUpdateTest : public ConformanceTest {};

TEST_F(NodePortUpdateTest, ANodePortCannotBeUsedTwice) {
  json service = MakeObjectWithName("a");
  service["spec"] =
      R"({"type": "NodePort", "ports": [{"name": "a", "port": 80, "nodePort": 30298}]})"_json;
  EXPECT_EQ(Post(Path("services"), service).status, 201);
  service["spec"]["ports"].push_back({{"name", "b"}, {"port", 81}, {"nodePort", 30298}});

  const JsonResponse updated = Put(Path("services") + "/a", service);

  EXPECT_EQ(updated.status, 500);
  EXPECT_EQ(updated.message(), "duplicate nodePort: {TCP 30298}");
  Delete(Path("services") + "/a");
}

TEST_F(NodePortUpdateTest, NodePortsAreKeptByTheNamesOfThePorts) {
  json service = MakeObjectWithName("a");
  service["spec"] = R"({"type": "NodePort", "ports": [
      {"name": "a", "port": 80, "nodePort": 30296}, {"name": "b", "port": 81, "nodePort": 30297}]})"_json;
  EXPECT_EQ(Post(Path("services"), service).status, 201);
  service["spec"]["ports"] = R"([{"name": "b", "port": 90}, {"name": "a", "port": 91}])"_json;

  const JsonResponse updated = Put(Path("services") + "/a", service);

  EXPECT_EQ(updated.at("/spec/ports/0/nodePort"), 30297);
  EXPECT_EQ(updated.at("/spec/ports/1/nodePort"), 30296);
  Delete(Path("services") + "/a");
}

class ErrorTextTest : public ConformanceTest {};

TEST_F(ErrorTextTest, ANameIsQuoted) {
  EXPECT_THAT(Post(Path("configmaps"), MakeObjectWithName("a\n\u202e")).message(),
              StartsWith(R"(ConfigMap "a\n\u202e" is invalid: metadata.name: Invalid value: )"));
}

TEST_F(ErrorTextTest, ATypedStringIsPrintedAsJson) {
  json pod = MakePod("a");
  pod["spec"]["tolerations"] = R"([{"operator": "a\u0000<b"}])"_json;

  EXPECT_THAT(
      Causes(Post(PodsPath(), pod)),
      ElementsAre(
          R"(FieldValueInvalid spec.tolerations[0].operator: Invalid value: "a\u0000\u003cb": operator must be Exists when `key` is empty, which means "match all values and all keys")",
          R"(FieldValueNotSupported spec.tolerations[0].operator: Unsupported value: "a\u0000\u003cb": supported values: "Equal", "Exists")"));
}

TEST_F(ErrorTextTest, AMessageMayContainTheCharacterZero) {
  json secret = MakeObjectWithName("a");
  secret["data"] = R"({"a\u0000b": "eA=="})"_json;

  EXPECT_THAT(Post(Path("secrets"), secret).message(),
              HasSubstr(R"(Invalid value: "a\x00b": a valid config key must consist of)"));
}

}  // namespace
}  // namespace kopp::conformance
