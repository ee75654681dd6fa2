#include "conformance.hpp"

namespace kopp::conformance {
namespace {

/// Returns the expected Pod template spec with one nginx:1.27 container, including all defaults.
json DefaultedPodSpec(const std::string& restart_policy) {
  json spec = R"({
    "containers": [{
      "name": "nginx",
      "image": "nginx:1.27",
      "imagePullPolicy": "IfNotPresent",
      "resources": {},
      "terminationMessagePath": "/dev/termination-log",
      "terminationMessagePolicy": "File"
    }],
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30
  })"_json;
  spec["restartPolicy"] = restart_policy;
  return spec;
}

/// Returns the expected Pod template with these labels.
json DefaultedTemplate(const json& labels, const std::string& restart_policy = "Always") {
  return {{"metadata", {{"labels", labels}}}, {"spec", DefaultedPodSpec(restart_policy)}};
}

/// Fixture of tests of the defaults of workloads that contain a Pod template.
class WorkloadDefaultsTest : public ConformanceTest {
 protected:
  /// Returns the created spec without the fields that MakeDeployment() sends.
  static json DefaultedSpecFields(const JsonResponse& created) {
    json spec = created.at("/spec");
    spec.erase("selector");
    spec.erase("template");
    return spec;
  }

  const json labels_ = {{"app", "a"}};
};

TEST_F(WorkloadDefaultsTest, DeploymentHasItsDefaults) {
  const JsonResponse created = Post(Path("apps/v1", "deployments"), MakeDeployment("a"));

  EXPECT_EQ(created.at("/spec/selector"), json({{"matchLabels", labels_}}));
  EXPECT_EQ(created.at("/spec/template"), DefaultedTemplate(labels_));
  EXPECT_EQ(DefaultedSpecFields(created), R"({
    "progressDeadlineSeconds": 600,
    "replicas": 1,
    "revisionHistoryLimit": 10,
    "strategy": {"type": "RollingUpdate",
                 "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
  })"_json);
  EXPECT_EQ(created.at("/status"), json::object());
}

TEST_F(WorkloadDefaultsTest, DeploymentWithRecreateStrategyHasNoRollingUpdate) {
  json deployment = MakeDeployment("a");
  deployment["spec"]["strategy"] = {{"type", "Recreate"}};
  const JsonResponse created = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(created.at("/spec/strategy"), json({{"type", "Recreate"}}));
}

TEST_F(WorkloadDefaultsTest, UpdateSetsTheSameDefaultsAsCreate) {
  const std::string path = Path("apps/v1", "deployments");
  Post(path, MakeDeployment("a"));
  MergePatch(path + "/a", {{"spec", {{"replicas", 3}}}});

  EXPECT_EQ(Put(path + "/a", MakeDeployment("a")).at("/spec/replicas"), 1);
}

TEST_F(WorkloadDefaultsTest, StatefulSetHasItsDefaults) {
  json set = MakeDeployment("a");
  set["spec"]["serviceName"] = "s";
  const JsonResponse created = Post(Path("apps/v1", "statefulsets"), set);

  EXPECT_EQ(created.at("/spec/template"), DefaultedTemplate(labels_));
  EXPECT_EQ(DefaultedSpecFields(created), R"({
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    "podManagementPolicy": "OrderedReady",
    "replicas": 1,
    "revisionHistoryLimit": 10,
    "serviceName": "s",
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
  })"_json);
  EXPECT_EQ(created.at("/status"), R"({"replicas": 0, "availableReplicas": 0})"_json);
}

TEST_F(WorkloadDefaultsTest, TheOrdinalsOfAStatefulSetStartAtZero) {
  json set = MakeDeployment("a");
  set["spec"].update(R"({"serviceName": "s", "ordinals": {}})"_json);
  const JsonResponse created = Post(Path("apps/v1", "statefulsets"), set);

  EXPECT_EQ(created.at("/spec/ordinals"), R"({"start": 0})"_json);
}

TEST_F(WorkloadDefaultsTest, VolumeClaimTemplateHasItsDefaultsKindAndApiVersion) {
  json set = MakeDeployment("a");
  set["spec"]["serviceName"] = "s";
  set["spec"]["volumeClaimTemplates"] = R"([{"metadata": {"name": "c"}, "spec": {
    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}])"_json;
  const JsonResponse created = Post(Path("apps/v1", "statefulsets"), set);

  EXPECT_EQ(created.at("/spec/volumeClaimTemplates/0"), R"({
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "c"},
    "spec": {
      "accessModes": ["ReadWriteOnce"],
      "resources": {"requests": {"storage": "1Gi"}},
      "volumeMode": "Filesystem"
    },
    "status": {"phase": "Pending"}
  })"_json);
}

TEST_F(WorkloadDefaultsTest, DaemonSetHasItsDefaults) {
  const JsonResponse created = Post(Path("apps/v1", "daemonsets"), MakeDeployment("a"));

  EXPECT_EQ(created.at("/spec/template"), DefaultedTemplate(labels_));
  EXPECT_EQ(DefaultedSpecFields(created), R"({
    "revisionHistoryLimit": 10,
    "updateStrategy": {"type": "RollingUpdate",
                       "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
  })"_json);
  EXPECT_EQ(created.at("/status"), R"({
    "currentNumberScheduled": 0,
    "desiredNumberScheduled": 0,
    "numberMisscheduled": 0,
    "numberReady": 0
  })"_json);
  EXPECT_EQ(created.at("/metadata/annotations"),
            R"({"deprecated.daemonset.template.generation": "1"})"_json);
}

TEST_F(WorkloadDefaultsTest, ReplicaSetHasItsDefaults) {
  const JsonResponse created = Post(Path("apps/v1", "replicasets"), MakeDeployment("a"));

  EXPECT_EQ(created.at("/spec/template"), DefaultedTemplate(labels_));
  EXPECT_EQ(DefaultedSpecFields(created), R"({"replicas": 1})"_json);
  EXPECT_EQ(created.at("/status"), R"({"replicas": 0})"_json);
}

TEST_F(WorkloadDefaultsTest, JobHasItsDefaultsAndGeneratedSelector) {
  json pod = MakePod("a")["spec"];
  pod["restartPolicy"] = "Never";
  const JsonResponse created =
      Post(Path("batch/v1", "jobs"),
           {{"metadata", {{"name", "a"}}}, {"spec", {{"template", {{"spec", pod}}}}}});

  const std::string uid = created.str("/metadata/uid");
  const json labels{{"batch.kubernetes.io/controller-uid", uid},
                    {"batch.kubernetes.io/job-name", "a"},
                    {"controller-uid", uid},
                    {"job-name", "a"}};
  EXPECT_EQ(created.at("/metadata/labels"), labels);
  EXPECT_EQ(created.at("/spec/template"), DefaultedTemplate(labels, "Never"));
  EXPECT_EQ(created.at("/spec/selector"),
            json({{"matchLabels", {{"batch.kubernetes.io/controller-uid", uid}}}}));
  EXPECT_EQ(DefaultedSpecFields(created), R"({
    "backoffLimit": 6,
    "completionMode": "NonIndexed",
    "completions": 1,
    "manualSelector": false,
    "parallelism": 1,
    "podReplacementPolicy": "TerminatingOrFailed",
    "suspend": false
  })"_json);
  EXPECT_EQ(created.at("/status"), json::object());
}

TEST_F(WorkloadDefaultsTest, CronJobHasItsDefaults) {
  json pod = MakePod("a")["spec"];
  pod["restartPolicy"] = "OnFailure";
  const JsonResponse created = Post(
      Path("batch/v1", "cronjobs"),
      {{"metadata", {{"name", "a"}}},
       {"spec",
        {{"schedule", "@hourly"}, {"jobTemplate", {{"spec", {{"template", {{"spec", pod}}}}}}}}}});

  EXPECT_EQ(created.at("/spec"),
            json({{"concurrencyPolicy", "Allow"},
                  {"failedJobsHistoryLimit", 1},
                  {"jobTemplate",
                   {{"metadata", json::object()},
                    {"spec",
                     {{"template",
                       {{"metadata", json::object()}, {"spec", DefaultedPodSpec("OnFailure")}}}}}}},
                  {"schedule", "@hourly"},
                  {"successfulJobsHistoryLimit", 3},
                  {"suspend", false}}));
  EXPECT_EQ(created.at("/status"), json::object());
}

/// Fixture of tests of the defaults of Pods.
class PodDefaultsTest : public ConformanceTest {
 protected:
  /// Creates a Pod with `spec_fields` set in its spec.
  JsonResponse CreatePod(const json& spec_fields) {
    json pod = MakePod("a");
    pod["spec"]["automountServiceAccountToken"] = false;
    pod["spec"].update(spec_fields);
    return Post(PodsPath(), pod);
  }
};

TEST_F(PodDefaultsTest, PodHasItsDefaults) {
  const JsonResponse created = CreatePod(json::object());

  json spec = DefaultedPodSpec("Always");
  spec.update(R"({
    "automountServiceAccountToken": false,
    "enableServiceLinks": true,
    "preemptionPolicy": "PreemptLowerPriority",
    "priority": 0,
    "serviceAccount": "default",
    "serviceAccountName": "default",
    "tolerations": [
      {"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists",
       "tolerationSeconds": 300},
      {"effect": "NoExecute", "key": "node.kubernetes.io/unreachable", "operator": "Exists",
       "tolerationSeconds": 300}
    ]
  })"_json);
  EXPECT_EQ(created.at("/spec"), spec);
  EXPECT_EQ(created.at("/status"), R"({"phase": "Pending", "qosClass": "BestEffort"})"_json);
  EXPECT_EQ(created.at("/metadata/generation"), 1);
}

TEST_F(PodDefaultsTest, VolumesHaveTheirDefaults) {
  const JsonResponse created = CreatePod(R"({"volumes": [
    {"name": "c", "configMap": {"name": "c"}},
    {"name": "s", "secret": {"secretName": "s"}},
    {"name": "none"},
    {"name": "h", "hostPath": {"path": "/x"}}
  ]})"_json);

  EXPECT_EQ(created.at("/spec/volumes"), R"([
    {"name": "c", "configMap": {"name": "c", "defaultMode": 420}},
    {"name": "s", "secret": {"secretName": "s", "defaultMode": 420}},
    {"name": "none", "emptyDir": {}},
    {"name": "h", "hostPath": {"path": "/x", "type": ""}}
  ])"_json);
}

/// A container and the defaults that the server sets, except for the defaults of every container.
struct DefaultedContainer {
  std::string test_name{};
  json sent{};
  json defaults{};

  friend void PrintTo(const DefaultedContainer& container, std::ostream* out) {
    *out << container.sent;
  }
};

class ContainerDefaultsTest : public PodDefaultsTest,
                              public ::testing::WithParamInterface<DefaultedContainer> {};

TEST_P(ContainerDefaultsTest, ContainerHasItsDefaults) {
  json container = GetParam().sent;
  container["name"] = "c";
  const JsonResponse created = CreatePod({{"containers", {container}}});

  json expected = R"({"image": "a:1", "imagePullPolicy": "IfNotPresent", "resources": {},
                      "terminationMessagePath": "/dev/termination-log",
                      "terminationMessagePolicy": "File"})"_json;
  expected.update(container);
  expected.update(GetParam().defaults);
  EXPECT_EQ(created.at("/spec/containers/0"), expected) << created.text;
}

const DefaultedContainer defaulted_containers[] = {
    {"ImageWithoutTag", {{"image", "a"}}, {{"imagePullPolicy", "Always"}}},
    {"ImageWithTagLatest", {{"image", "a:latest"}}, {{"imagePullPolicy", "Always"}}},
    {"ImageWithRegistryPortAndWithoutTag",
     {{"image", "reg:5000/a"}},
     {{"imagePullPolicy", "Always"}}},
    {"ImageWithDigest", {{"image", "a@sha256:" + std::string(64, 'a')}}, json::object()},
    {"Port", R"({"image": "a:1", "ports": [{"containerPort": 80}]})"_json,
     R"({"ports": [{"containerPort": 80, "protocol": "TCP"}]})"_json},
    {"Probe", R"({"image": "a:1", "livenessProbe": {"httpGet": {"port": 80}}})"_json,
     R"({"livenessProbe": {"httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
                           "failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1,
                           "timeoutSeconds": 1}})"_json},
    {"EnvFromField",
     R"({"image": "a:1",
         "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]})"_json,
     R"({"env": [{"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1",
                                                          "fieldPath": "metadata.name"}}}]})"_json},
    {"Limits", R"({"image": "a:1", "resources": {"limits": {"cpu": "1"}}})"_json,
     R"({"resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}})"_json},
};
INSTANTIATE_TEST_SUITE_P(, ContainerDefaultsTest, ::testing::ValuesIn(defaulted_containers),
                         [](const auto& container) { return container.param.test_name; });

}  // namespace
}  // namespace kopp::conformance
