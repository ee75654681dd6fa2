#include "conformance.hpp"

namespace kopp::conformance {
namespace {

/// A Pod template's spec with nginx 1.27 in it, as the server keeps it.
json PodSpec(const std::string& restart_policy) {
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

json Template(const json& labels, const std::string& restart_policy = "Always") {
  return {{"metadata", {{"labels", labels}}}, {"spec", PodSpec(restart_policy)}};
}

class WorkloadDefaultsTest : public ConformanceTest {
 protected:
  /// `object` without the fields of the spec that ADeployment sends.
  static json More(const Answer& made) {
    json spec = made.at("/spec");
    spec.erase("selector");
    spec.erase("template");
    return spec;
  }

  const json labels_ = {{"app", "a"}};
};

TEST_F(WorkloadDefaultsTest, OfADeployment) {
  const Answer made = Post(Path("apps/v1", "deployments"), ADeployment("a"));

  EXPECT_EQ(made.at("/spec/selector"), json({{"matchLabels", labels_}}));
  EXPECT_EQ(made.at("/spec/template"), Template(labels_));
  EXPECT_EQ(More(made), R"({
    "progressDeadlineSeconds": 600,
    "replicas": 1,
    "revisionHistoryLimit": 10,
    "strategy": {"type": "RollingUpdate",
                 "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
  })"_json);
  EXPECT_EQ(made.at("/status"), json::object());
}

TEST_F(WorkloadDefaultsTest, ADeploymentThatRecreatesHasNoRollingUpdate) {
  json deployment = ADeployment("a");
  deployment["spec"]["strategy"] = {{"type", "Recreate"}};
  const Answer made = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(made.at("/spec/strategy"), json({{"type", "Recreate"}}));
}

TEST_F(WorkloadDefaultsTest, OfAnUpdateAreThoseOfACreate) {
  const std::string path = Path("apps/v1", "deployments");
  Post(path, ADeployment("a"));
  MergePatch(path + "/a", {{"spec", {{"replicas", 3}}}});

  EXPECT_EQ(Put(path + "/a", ADeployment("a")).at("/spec/replicas"), 1);
}

TEST_F(WorkloadDefaultsTest, OfAStatefulSet) {
  json set = ADeployment("a");
  set["spec"]["serviceName"] = "s";
  const Answer made = Post(Path("apps/v1", "statefulsets"), set);

  EXPECT_EQ(made.at("/spec/template"), Template(labels_));
  EXPECT_EQ(More(made), R"({
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    "podManagementPolicy": "OrderedReady",
    "replicas": 1,
    "revisionHistoryLimit": 10,
    "serviceName": "s",
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
  })"_json);
  EXPECT_EQ(made.at("/status"), R"({"replicas": 0, "availableReplicas": 0})"_json);
}

TEST_F(WorkloadDefaultsTest, AClaimInAStatefulSetSaysWhatItIs) {
  json set = ADeployment("a");
  set["spec"]["serviceName"] = "s";
  set["spec"]["volumeClaimTemplates"] = R"([{"metadata": {"name": "c"}, "spec": {
    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}])"_json;
  const Answer made = Post(Path("apps/v1", "statefulsets"), set);

  EXPECT_EQ(made.at("/spec/volumeClaimTemplates/0"), R"({
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

TEST_F(WorkloadDefaultsTest, OfADaemonSet) {
  const Answer made = Post(Path("apps/v1", "daemonsets"), ADeployment("a"));

  EXPECT_EQ(made.at("/spec/template"), Template(labels_));
  EXPECT_EQ(More(made), R"({
    "revisionHistoryLimit": 10,
    "updateStrategy": {"type": "RollingUpdate",
                       "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
  })"_json);
  EXPECT_EQ(made.at("/status"), R"({
    "currentNumberScheduled": 0,
    "desiredNumberScheduled": 0,
    "numberMisscheduled": 0,
    "numberReady": 0
  })"_json);
  EXPECT_EQ(made.at("/metadata/annotations"),
            R"({"deprecated.daemonset.template.generation": "1"})"_json);
}

TEST_F(WorkloadDefaultsTest, OfAReplicaSet) {
  const Answer made = Post(Path("apps/v1", "replicasets"), ADeployment("a"));

  EXPECT_EQ(made.at("/spec/template"), Template(labels_));
  EXPECT_EQ(More(made), R"({"replicas": 1})"_json);
  EXPECT_EQ(made.at("/status"), R"({"replicas": 0})"_json);
}

TEST_F(WorkloadDefaultsTest, OfAJob) {
  json pod = APod("a")["spec"];
  pod["restartPolicy"] = "Never";
  const Answer made = Post(Path("batch/v1", "jobs"), {{"metadata", {{"name", "a"}}},
                                                      {"spec", {{"template", {{"spec", pod}}}}}});

  const std::string uid = made.str("/metadata/uid");
  const json labels{{"batch.kubernetes.io/controller-uid", uid},
                    {"batch.kubernetes.io/job-name", "a"},
                    {"controller-uid", uid},
                    {"job-name", "a"}};
  EXPECT_EQ(made.at("/metadata/labels"), labels);
  EXPECT_EQ(made.at("/spec/template"), Template(labels, "Never"));
  EXPECT_EQ(made.at("/spec/selector"),
            json({{"matchLabels", {{"batch.kubernetes.io/controller-uid", uid}}}}));
  EXPECT_EQ(More(made), R"({
    "backoffLimit": 6,
    "completionMode": "NonIndexed",
    "completions": 1,
    "manualSelector": false,
    "parallelism": 1,
    "podReplacementPolicy": "TerminatingOrFailed",
    "suspend": false
  })"_json);
  EXPECT_EQ(made.at("/status"), json::object());
}

TEST_F(WorkloadDefaultsTest, OfACronJob) {
  json pod = APod("a")["spec"];
  pod["restartPolicy"] = "OnFailure";
  const Answer made = Post(
      Path("batch/v1", "cronjobs"),
      {{"metadata", {{"name", "a"}}},
       {"spec",
        {{"schedule", "@hourly"}, {"jobTemplate", {{"spec", {{"template", {{"spec", pod}}}}}}}}}});

  EXPECT_EQ(
      made.at("/spec"),
      json({{"concurrencyPolicy", "Allow"},
            {"failedJobsHistoryLimit", 1},
            {"jobTemplate",
             {{"metadata", json::object()},
              {"spec",
               {{"template", {{"metadata", json::object()}, {"spec", PodSpec("OnFailure")}}}}}}},
            {"schedule", "@hourly"},
            {"successfulJobsHistoryLimit", 3},
            {"suspend", false}}));
  EXPECT_EQ(made.at("/status"), json::object());
}

class PodDefaultsTest : public ConformanceTest {
 protected:
  Answer Create(const json& spec) {
    json pod = APod("a");
    pod["spec"]["automountServiceAccountToken"] = false;
    pod["spec"].update(spec);
    return Post(Pods(), pod);
  }
};

TEST_F(PodDefaultsTest, OfAPod) {
  const Answer made = Create(json::object());

  json spec = PodSpec("Always");
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
  EXPECT_EQ(made.at("/spec"), spec);
  EXPECT_EQ(made.at("/status"), R"({"phase": "Pending", "qosClass": "BestEffort"})"_json);
  EXPECT_EQ(made.at("/metadata/generation"), 1);
}

TEST_F(PodDefaultsTest, OfVolumes) {
  const Answer made = Create(R"({"volumes": [
    {"name": "c", "configMap": {"name": "c"}},
    {"name": "s", "secret": {"secretName": "s"}},
    {"name": "none"},
    {"name": "h", "hostPath": {"path": "/x"}}
  ]})"_json);

  EXPECT_EQ(made.at("/spec/volumes"), R"([
    {"name": "c", "configMap": {"name": "c", "defaultMode": 420}},
    {"name": "s", "secret": {"secretName": "s", "defaultMode": 420}},
    {"name": "none", "emptyDir": {}},
    {"name": "h", "hostPath": {"path": "/x", "type": ""}}
  ])"_json);
}

/// A container and the fields that the server adds, beyond those that every container gets.
struct Container {
  std::string test{};
  json sent{};
  json kept{};

  friend void PrintTo(const Container& container, std::ostream* out) { *out << container.sent; }
};

class ContainerDefaultsTest : public PodDefaultsTest,
                              public ::testing::WithParamInterface<Container> {};

TEST_P(ContainerDefaultsTest, AreFilledIn) {
  json container = GetParam().sent;
  container["name"] = "c";
  const Answer made = Create({{"containers", {container}}});

  json expected = R"({"image": "a:1", "imagePullPolicy": "IfNotPresent", "resources": {},
                      "terminationMessagePath": "/dev/termination-log",
                      "terminationMessagePolicy": "File"})"_json;
  expected.update(container);
  expected.update(GetParam().kept);
  EXPECT_EQ(made.at("/spec/containers/0"), expected) << made.text;
}

const Container containers[] = {
    {"ImageWithoutATag", {{"image", "a"}}, {{"imagePullPolicy", "Always"}}},
    {"ImageThatIsTheLatest", {{"image", "a:latest"}}, {{"imagePullPolicy", "Always"}}},
    {"ImageOfARegistryWithAPort", {{"image", "reg:5000/a"}}, {{"imagePullPolicy", "Always"}}},
    {"ImageOfADigest", {{"image", "a@sha256:" + std::string(64, 'a')}}, json::object()},
    {"Port", R"({"image": "a:1", "ports": [{"containerPort": 80}]})"_json,
     R"({"ports": [{"containerPort": 80, "protocol": "TCP"}]})"_json},
    {"Probe", R"({"image": "a:1", "livenessProbe": {"httpGet": {"port": 80}}})"_json,
     R"({"livenessProbe": {"httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
                           "failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1,
                           "timeoutSeconds": 1}})"_json},
    {"EnvFromAField",
     R"({"image": "a:1",
         "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]})"_json,
     R"({"env": [{"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1",
                                                          "fieldPath": "metadata.name"}}}]})"_json},
    {"Limits", R"({"image": "a:1", "resources": {"limits": {"cpu": "1"}}})"_json,
     R"({"resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}})"_json},
};
INSTANTIATE_TEST_SUITE_P(, ContainerDefaultsTest, ::testing::ValuesIn(containers),
                         [](const auto& container) { return container.param.test; });

}  // namespace
}  // namespace kopp::conformance
