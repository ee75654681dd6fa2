// Cells of objects in states that the conformance suite does not reach. The expected rows are from
// a real kube-apiserver.
#include "printers/table.hpp"

#include "api/resource.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const std::string now = "2026-01-02T03:04:05Z";

json MakeRowCells(const std::string& group, const std::string& plural, const std::string& object) {
  static const Catalog built_in_catalog = Catalog::BuiltIn();
  return MakeCells(*built_in_catalog.Find(group, "v1", plural), json::parse(object), now);
}

struct PodCase {
  std::string test_name{};
  std::string object{};
  std::string cells{};  ///< Ready, Status, Restarts
};
void PrintTo(const PodCase& pod_case, std::ostream* out) { *out << pod_case.object; }

class PodTableTest : public ::testing::TestWithParam<PodCase> {};

TEST_P(PodTableTest, PodRowShowsReadyStatusAndRestarts) {
  json object = json::parse(GetParam().object);
  object["spec"]["containers"] = json::array({{{"name", "c"}}, {{"name", "d"}}});

  const json cells = MakeRowCells("", "pods", object.dump());

  EXPECT_EQ(json({cells[1], cells[2], cells[3]}), json::parse(GetParam().cells));
}

const std::string running = R"("ready": true, "state": {"running": {}}})";
const std::string completed = R"("state": {"terminated": {"exitCode": 0, "reason": "Completed"}}})";
const std::string init_containers =
    R"("spec": {"initContainers": [{"name": "a"}, {"name": "b"}]}, )";
const std::string sidecar_container =
    R"("spec": {"initContainers": [{"name": "a", "restartPolicy": "Always"}, {"name": "b"}]}, )";

const PodCase pod_cases[] = {
    {"Gated",
     R"({"status": {"phase": "Pending", "conditions": [
          {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}})",
     R"(["0/2", "SchedulingGated", "0"])"},
    {"Restarted",
     R"({"status": {"phase": "Running", "containerStatuses": [
          {"name": "c", "restartCount": 3,
           "lastState": {"terminated": {"finishedAt": "2026-01-02T03:00:00Z"}}, )" +
         running + R"(,
          {"name": "d", "restartCount": 1,
           "lastState": {"terminated": {"finishedAt": "2026-01-02T03:02:35Z"}}, )" +
         running + "]}}",
     R"x(["2/2", "Running", "4 (90s ago)"])x"},
    {"OneContainerCompleted",
     R"({"status": {"phase": "Running", "containerStatuses": [{"name": "c", )" + completed +
         R"(, {"name": "d", )" + running + "]}}",
     R"(["1/2", "NotReady", "0"])"},
    {"OneContainerCompletedAndPodReady",
     R"({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
          "containerStatuses": [{"name": "c", )" +
         completed + R"(, {"name": "d", )" + running + "]}}",
     R"(["1/2", "Running", "0"])"},
    {"Completed",
     R"({"status": {"phase": "Succeeded", "containerStatuses": [{"name": "c", )" + completed +
         "]}}",
     R"(["0/2", "Completed", "0"])"},
    {"Evicted", R"({"status": {"phase": "Failed", "reason": "Evicted"}})",
     R"(["0/2", "Evicted", "0"])"},
    {"FailedWithExitCode",
     R"({"status": {"phase": "Failed", "containerStatuses": [
          {"name": "c", "state": {"terminated": {"exitCode": 2}}}]}})",
     R"(["0/2", "ExitCode:2", "0"])"},
    {"FailedBySignal",
     R"({"status": {"phase": "Failed", "containerStatuses": [
          {"name": "c", "state": {"terminated": {"exitCode": 137, "signal": 9}}}]}})",
     R"(["0/2", "Signal:9", "0"])"},
    {"Initializing",
     "{" + init_containers +
         R"("status": {"phase": "Pending", "initContainerStatuses": [{"name": "a", )" + completed +
         R"(, {"name": "b", "state": {"waiting": {"reason": "PodInitializing"}}}]}})",
     R"(["0/2", "Init:1/2", "0"])"},
    {"InitContainerWaits",
     "{" + init_containers + R"("status": {"phase": "Pending", "initContainerStatuses": [
          {"name": "a", "restartCount": 2, "state": {"waiting": {"reason": "ErrImagePull"}},
           "lastState": {"terminated": {"finishedAt": "2026-01-02T02:00:00Z"}}}]}})",
     R"x(["0/2", "Init:ErrImagePull", "2 (64m ago)"])x"},
    {"InitContainerFailed",
     "{" + init_containers + R"("status": {"phase": "Pending", "initContainerStatuses": [
          {"name": "a", "restartCount": 4, "state": {"terminated": {"exitCode": 3}}}]}})",
     R"(["0/2", "Init:ExitCode:3", "4"])"},
    {"InitializedAfterRestarts",
     "{" + init_containers +
         R"("status": {"phase": "Running", "initContainerStatuses": [
          {"name": "a", "restartCount": 2, )" +
         completed + R"(], "containerStatuses": [{"name": "c", )" + running + "]}}",
     R"(["1/2", "Running", "0"])"},
    {"SidecarRunning",
     "{" + sidecar_container +
         R"("status": {"phase": "Running", "initContainerStatuses": [
          {"name": "a", "restartCount": 2, "started": true, )" +
         running + R"(, {"name": "b", "restartCount": 5, )" + completed +
         R"(], "containerStatuses": [{"name": "c", )" + running + "]}}",
     R"(["2/3", "Running", "2"])"},
    {"SidecarStarting",
     "{" + sidecar_container +
         R"("status": {"phase": "Pending", "initContainerStatuses": [{"name": "a", )" + running +
         "]}}",
     R"(["0/3", "Init:0/2", "0"])"},
    {"NodeLost",
     R"({"metadata": {"deletionTimestamp": "2026-01-02T03:04:05Z"},
         "status": {"phase": "Running", "reason": "NodeLost"}})",
     R"(["0/2", "Unknown", "0"])"},
    {"SucceededAndBeingDeleted",
     R"({"metadata": {"deletionTimestamp": "2026-01-02T03:04:05Z"},
         "status": {"phase": "Succeeded"}})",
     R"(["0/2", "Succeeded", "0"])"},
};
INSTANTIATE_TEST_SUITE_P(, PodTableTest, ::testing::ValuesIn(pod_cases),
                         [](const auto& pod_case) { return pod_case.param.test_name; });

struct RowCase {
  std::string test_name{};
  std::string group{};
  std::string plural{};
  std::string object{};
  std::string cells{};
};
void PrintTo(const RowCase& row_case, std::ostream* out) { *out << row_case.object; }

class RowTest : public ::testing::TestWithParam<RowCase> {};

TEST_P(RowTest, RowHasTheCellsOfKubeApiserver) {
  json object = json::parse(GetParam().object);
  object["metadata"]["name"] = "x";
  object["metadata"]["creationTimestamp"] = "2026-01-02T03:04:00Z";

  EXPECT_EQ(MakeRowCells(GetParam().group, GetParam().plural, object.dump()),
            json::parse(GetParam().cells));
}

const RowCase row_cases[] = {
    {"NodeWithRoles", "", "nodes",
     R"({"metadata": {"labels": {"node-role.kubernetes.io/b": "", "kubernetes.io/role": "a"}},
         "spec": {"unschedulable": true},
         "status": {"conditions": [{"type": "Ready", "status": "Unknown"}],
                    "addresses": [{"type": "InternalIP", "address": "1.1.1.1"},
                                  {"type": "InternalIP", "address": "1.1.1.2"},
                                  {"type": "ExternalIP", "address": "2.2.2.2"}]}})",
     R"(["x", "NotReady,SchedulingDisabled", "a,b", "5s", "", "1.1.1.1", "2.2.2.2", "<unknown>",
         "<unknown>", "<unknown>"])"},
    {"ServiceWithLoadBalancerAddress", "", "services",
     R"({"spec": {"type": "LoadBalancer", "clusterIPs": ["10.0.0.1"], "externalIPs": ["5.6.7.8"],
                  "ports": [{"port": 80, "nodePort": 30000, "protocol": "TCP"}]},
         "status": {"loadBalancer": {"ingress": [{"ip": "9.9.9.9"}, {"hostname": "a.b"}]}}})",
     R"(["x", "LoadBalancer", "10.0.0.1", "9.9.9.9,a.b,5.6.7.8", "80:30000/TCP", "5s", "<none>"])"},
    {"ServiceWithPendingLoadBalancer", "", "services",
     R"({"spec": {"type": "LoadBalancer", "clusterIPs": ["10.0.0.1"]}})",
     R"(["x", "LoadBalancer", "10.0.0.1", "<pending>", "<none>", "5s", "<none>"])"},
    {"ManyEndpoints", "", "endpoints",
     R"({"subsets": [{"addresses": [{"ip": "1.1.1.1"}, {"ip": "::1"}],
                      "ports": [{"port": 80}, {"port": 81}]}]})",
     R"(["x", "1.1.1.1:80,[::1]:80,1.1.1.1:81 + 1 more...", "5s"])"},
    {"EndpointsWithoutPorts", "", "endpoints",
     R"({"subsets": [{"addresses": [{"ip": "1.1.1.1"}]}]})", R"(["x", "1.1.1.1", "5s"])"},
    {"EndpointsNotReady", "", "endpoints",
     R"({"subsets": [{"notReadyAddresses": [{"ip": "1.1.1.1"}], "ports": [{"port": 80}]}]})",
     R"(["x", "", "5s"])"},
    {"IngressWithManyHosts", "networking.k8s.io", "ingresses",
     R"({"spec": {"rules": [{"host": "a"}, {"host": "b"}, {"host": "c"}, {"host": "d"}],
                  "tls": [{"hosts": ["a"]}]},
         "status": {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}})",
     R"(["x", "<none>", "a,b,c + 1 more...", "1.2.3.4", "80, 443", "5s"])"},
    {"IngressClassWithParameters", "networking.k8s.io", "ingressclasses",
     R"({"spec": {"controller": "c", "parameters": {"apiGroup": "g", "kind": "K", "name": "n"}}})",
     R"(["x", "c", "K.g/n", "5s"])"},
    {"SelectorWithAllOperators", "networking.k8s.io", "networkpolicies",
     R"({"spec": {"podSelector": {"matchLabels": {"a": "b"}, "matchExpressions": [
          {"key": "n", "operator": "DoesNotExist"}, {"key": "e", "operator": "Exists"},
          {"key": "k", "operator": "In", "values": ["z", "y"]},
          {"key": "m", "operator": "NotIn", "values": ["q"]}]}}})",
     R"(["x", "a=b,e,k in (y,z),m notin (q),!n", "5s"])"},
    {"JobComplete", "batch", "jobs",
     R"({"spec": {"completions": 3, "parallelism": 2},
         "status": {"succeeded": 3, "startTime": "2026-01-02T03:00:00Z",
                    "completionTime": "2026-01-02T03:01:00Z",
                    "conditions": [{"type": "Complete", "status": "True"}]}})",
     R"(["x", "Complete", "3/3", "60s", "5s", "", "", "<none>"])"},
    {"JobWithoutCompletions", "batch", "jobs",
     R"({"spec": {"parallelism": 2}, "status": {"startTime": "2026-01-02T03:00:00Z"}})",
     R"(["x", "Running", "0/1 of 2", "4m5s", "5s", "", "", "<none>"])"},
    {"CronJobWithLastSchedule", "batch", "cronjobs",
     R"({"spec": {"schedule": "* * * * *", "timeZone": "Etc/UTC", "suspend": true},
         "status": {"lastScheduleTime": "2026-01-02T01:04:05Z", "active": [{}, {}]}})",
     R"(["x", "* * * * *", "Etc/UTC", "True", 2, "120m", "5s", "", "", "<none>"])"},
    {"ControllerRevision", "apps", "controllerrevisions",
     R"({"metadata": {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet",
                                           "name": "ds", "controller": true}]}, "revision": 3})",
     R"(["x", "daemonset.apps/ds", 3, "5s"])"},
    {"BoundClaim", "", "persistentvolumeclaims",
     R"({"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}},
         "spec": {"volumeName": "v", "volumeMode": "Block"},
         "status": {"phase": "Bound", "capacity": {"storage": "1Gi"},
                    "accessModes": ["ReadWriteMany", "ReadWriteOnce"]}})",
     R"(["x", "Bound", "v", "1Gi", "RWO,RWX", "old", "<unset>", "5s", "Block"])"},
    {"LostClaim", "", "persistentvolumeclaims",
     R"({"spec": {"volumeName": "v"}, "status": {"phase": "Lost"}})",
     R"(["x", "Lost", "v", "0", "", "", "<unset>", "5s", "<unset>"])"},
    {"BoundVolume", "", "persistentvolumes",
     R"({"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadOnlyMany"],
                  "persistentVolumeReclaimPolicy": "Delete", "storageClassName": "sc",
                  "claimRef": {"namespace": "n", "name": "c"}},
         "status": {"phase": "Bound", "reason": "why"}})",
     R"(["x", "1Gi", "ROX", "Delete", "Bound", "n/c", "sc", "<unset>", "why", "5s", "<unset>"])"},
    {"ResourceQuota", "", "resourcequotas",
     R"({"status": {"hard": {"pods": "5", "limits.cpu": "4", "cpu": "2"},
                    "used": {"cpu": "100m", "limits.cpu": "3"}}})",
     R"(["x", "cpu: 100m/2, pods: 0/5", "limits.cpu: 3/4", "5s"])"},
    {"RoleBinding", "rbac.authorization.k8s.io", "rolebindings",
     R"({"roleRef": {"kind": "Role", "name": "r"},
         "subjects": [{"kind": "User", "name": "u"}, {"kind": "User", "name": "v"},
                      {"kind": "ServiceAccount", "name": "s", "namespace": "n"}]})",
     R"(["x", "Role/r", "5s", "u, v", "", "n/s"])"},
    {"EventWithSeries", "events.k8s.io", "events",
     R"({"regarding": {"kind": "Node"}, "reportingController": "c", "reportingInstance": "i",
         "note": " words\n", "eventTime": "2026-01-02T03:00:00.123456Z",
         "series": {"count": 5, "lastObservedTime": "2026-01-02T03:04:00.123456Z"}})",
     R"(["5s", "", "", "node", "", "c, i", "words", "4m5s", 5, "x"])"},
};
INSTANTIATE_TEST_SUITE_P(, RowTest, ::testing::ValuesIn(row_cases),
                         [](const auto& row_case) { return row_case.param.test_name; });

TEST(TableTest, TheRowOfAFailedPodHasTheConditionCompleted) {
  const Catalog catalog = Catalog::BuiltIn();
  const Resource& pods = *catalog.Find("", "v1", "pods");

  EXPECT_EQ(MakeRowConditions(pods, {{"status", {{"phase", "Failed"}}}}),
            json::parse(R"([{"type": "Completed", "status": "True", "reason": "Failed",
                             "message": "The pod failed."}])"));
  EXPECT_EQ(MakeRowConditions(pods, {{"status", {{"phase", "Running"}}}}), nullptr);
}

TEST(TableTest, EveryBuiltInKindHasACellForEachColumn) {
  const Catalog catalog = Catalog::BuiltIn();
  for (const auto& resource : catalog.all()) {
    EXPECT_EQ(MakeCells(*resource, json::object(), now).size(), resource->columns.size())
        << resource->kind;
  }
}

TEST(TableTest, ColumnsEndBeforeAnInvalidJsonPath) {
  Resource resource;
  resource.built_in = false;
  resource.columns = {{.name = "Name", .type = "string", .json_path = ".metadata.name"},
                      {.name = "Bad", .type = "string", .json_path = ".spec[x]"},
                      {.name = "Age", .type = "date", .json_path = ".metadata.creationTimestamp"}};

  EXPECT_EQ(MakeColumnDefinitions(resource).size(), 1U);
  EXPECT_EQ(MakeCells(resource, {{"metadata", {{"name", "w"}}}}, now), json({"w"}));
}

TEST(TableTest, CellsAreConvertedToTheTypeOfTheirColumn) {
  const json object = json::parse(R"({"f": 2.0, "g": 1.5, "o": {"k": "<&>"}, "n": null, "t": "t",
                                      "d": "2026-01-02T03:04:00Z"})");
  const auto cell = [&](const std::string& type, const std::string& path) {
    Resource resource;
    resource.built_in = false;
    resource.columns = {{.name = "X", .type = type, .json_path = path}};
    return MakeCells(resource, object, now)[0];
  };

  EXPECT_EQ(cell("string", ".f"), "2");
  EXPECT_EQ(cell("string", ".g"), "1.5");
  EXPECT_EQ(cell("string", ".o"), R"({"k":"\u003c\u0026\u003e"})");
  EXPECT_EQ(cell("string", ".n"), "<no value>");
  EXPECT_EQ(cell("integer", ".g"), 1);
  EXPECT_EQ(cell("integer", ".t"), nullptr);
  EXPECT_EQ(cell("number", ".g"), 1.5);
  EXPECT_EQ(cell("boolean", ".g"), nullptr);
  EXPECT_EQ(cell("date", ".d"), "5s");
  EXPECT_EQ(cell("date", ".t"), "<invalid>");
}

}  // namespace
}  // namespace kopp::apiserver
