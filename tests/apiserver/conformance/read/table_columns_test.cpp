#include "conformance.hpp"
#include "tables.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

/// An object to create, and the columns and cells of its expected Table.
struct ObjectTable {
  std::string test_name{};
  std::string group_version{};  ///< "v1", "apps/v1"
  std::string plural{};
  std::string object{};
  std::string status{};  ///< merge patch of the status; empty: no patch
  std::vector<std::string> columns{};
  std::string cells{};
};
void PrintTo(const ObjectTable& expected, std::ostream* out) { *out << expected.plural; }

class TableColumnsTest : public ConformanceTest,
                         public ::testing::WithParamInterface<ObjectTable> {};

TEST_P(TableColumnsTest, TableHasTheColumnsAndCellsOfTheKind) {
  const ObjectTable& expected = GetParam();
  PodsPath();  // creates the ServiceAccount that Pods need
  const std::string collection = expected.group_version == "v1"
                                     ? Path(expected.plural)
                                     : Path(expected.group_version, expected.plural);
  const JsonResponse created = Post(collection, json::parse(expected.object));
  ASSERT_EQ(created.status, 201) << created.text;
  const std::string object = collection + "/" + created.name();
  if (!expected.status.empty()) {
    MergePatch(object + "/status", {{"status", json::parse(expected.status)}});
  }

  const JsonResponse table = Call({.target = object, .accept = table_type});

  EXPECT_EQ(ColumnSummaries(table.body), expected.columns);
  EXPECT_EQ(RowCells(table.body), json::parse(expected.cells));
}

const std::string selector_and_template =
    R"("selector": {"matchLabels": {"a": "b"}},
       "template": {"metadata": {"labels": {"a": "b"}},
                    "spec": {"containers": [{"name": "c", "image": "i"},
                                            {"name": "d", "image": "j"}]}})";
const std::string job_spec = R"("template": {"spec": {"restartPolicy": "Never", "containers": [
                              {"name": "c", "image": "i"}]}})";

const std::vector<std::string> pod_columns{"Name (name)",
                                           "Ready",
                                           "Status",
                                           "Restarts",
                                           "Age",
                                           "IP wide",
                                           "Node wide",
                                           "Nominated Node wide",
                                           "Readiness Gates wide"};
const std::vector<std::string> service_columns{"Name (name)", "Type", "Cluster-IP",   "External-IP",
                                               "Port(s)",     "Age",  "Selector wide"};

const ObjectTable object_tables[] = {
    {"NewPod", "v1", "pods",
     R"({"metadata": {"name": "x"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})", "",
     pod_columns, R"(["x", "0/1", "Pending", "0", "AGE", "<none>", "<none>", "<none>", "<none>"])"},
    {"CrashingPod", "v1", "pods",
     R"({"metadata": {"name": "x"}, "spec": {"nodeName": "n", "containers": [
           {"name": "c", "image": "i"}, {"name": "d", "image": "i"}]}})",
     R"({"phase": "Running", "podIP": "10.1.1.1", "podIPs": [{"ip": "10.1.1.1"}],
         "containerStatuses": [
           {"name": "c", "ready": true, "restartCount": 2, "image": "i", "imageID": "x",
            "state": {"running": {}}},
           {"name": "d", "ready": false, "restartCount": 0, "image": "i", "imageID": "x",
            "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]})",
     pod_columns,
     R"(["x", "1/2", "CrashLoopBackOff", "2", "AGE", "10.1.1.1", "n", "<none>", "<none>"])"},
    {"Deployment",
     "apps/v1",
     "deployments",
     R"({"metadata": {"name": "x"}, "spec": {"replicas": 3, )" + selector_and_template + "}}",
     R"({"replicas": 3, "readyReplicas": 2, "updatedReplicas": 1, "availableReplicas": 2})",
     {"Name (name)", "Ready", "Up-to-date", "Available", "Age", "Containers wide", "Images wide",
      "Selector wide"},
     R"(["x", "2/3", 1, 2, "AGE", "c,d", "i,j", "a=b"])"},
    {"ReplicaSet",
     "apps/v1",
     "replicasets",
     R"({"metadata": {"name": "x"}, "spec": {"replicas": 2, )" + selector_and_template + "}}",
     "",
     {"Name (name)", "Desired integer", "Current integer", "Ready integer", "Age",
      "Containers wide", "Images wide", "Selector wide"},
     R"(["x", 2, 0, 0, "AGE", "c,d", "i,j", "a=b"])"},
    {"StatefulSet",
     "apps/v1",
     "statefulsets",
     R"({"metadata": {"name": "x"}, "spec": {"serviceName": "s", )" + selector_and_template + "}}",
     "",
     {"Name (name)", "Ready", "Age", "Containers wide", "Images wide"},
     R"(["x", "0/1", "AGE", "c,d", "i,j"])"},
    {"DaemonSet",
     "apps/v1",
     "daemonsets",
     R"({"metadata": {"name": "x"}, "spec": {)" + selector_and_template + "}}",
     "",
     {"Name (name)", "Desired integer", "Current integer", "Ready integer", "Up-to-date integer",
      "Available integer", "Node Selector", "Age", "Containers wide", "Images wide",
      "Selector wide"},
     R"(["x", 0, 0, 0, 0, 0, "<none>", "AGE", "c,d", "i,j", "a=b"])"},
    {"Service", "v1", "services",
     R"({"metadata": {"name": "x"}, "spec": {"clusterIP": "None", "selector": {"a": "b", "c": "d"},
         "ports": [{"port": 80, "name": "x"}, {"port": 53, "protocol": "UDP", "name": "y"}]}})",
     "", service_columns,
     R"(["x", "ClusterIP", "None", "<none>", "80/TCP,53/UDP", "AGE", "a=b,c=d"])"},
    {"ExternalNameService", "v1", "services",
     R"({"metadata": {"name": "x"}, "spec": {"type": "ExternalName", "externalName": "a.b"}})", "",
     service_columns, R"(["x", "ExternalName", "<none>", "a.b", "<none>", "AGE", "<none>"])"},
    {"ConfigMap",
     "v1",
     "configmaps",
     R"({"metadata": {"name": "x"}, "data": {"a": "1", "b": "2"}, "binaryData": {"c": "AQ=="}})",
     "",
     {"Name (name)", "Data", "Age"},
     R"(["x", 3, "AGE"])"},
    {"Secret",
     "v1",
     "secrets",
     R"({"metadata": {"name": "x"}, "data": {"a": "AQ=="}})",
     "",
     {"Name (name)", "Type", "Data", "Age"},
     R"(["x", "Opaque", 1, "AGE"])"},
    {"ServiceAccount",
     "v1",
     "serviceaccounts",
     R"({"metadata": {"name": "x"}})",
     "",
     {"Name (name)", "Secrets", "Age"},
     R"(["x", 0, "AGE"])"},
    {"CronJob",
     "batch/v1",
     "cronjobs",
     R"({"metadata": {"name": "x"}, "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {)" +
         job_spec + "}}}}",
     "",
     {"Name (name)", "Schedule", "Timezone", "Suspend boolean", "Active integer", "Last Schedule",
      "Age", "Containers wide", "Images wide", "Selector wide"},
     R"(["x", "* * * * *", "<none>", "False", 0, "<none>", "AGE", "c", "i", "<none>"])"},
    {"Lease",
     "coordination.k8s.io/v1",
     "leases",
     R"({"metadata": {"name": "x"}, "spec": {"holderIdentity": "me"}})",
     "",
     {"Name (name)", "Holder", "Age"},
     R"(["x", "me", "AGE"])"},
    {"PodDisruptionBudget",
     "policy/v1",
     "poddisruptionbudgets",
     R"({"metadata": {"name": "x"}, "spec": {"minAvailable": 1}})",
     "",
     {"Name (name)", "Min Available", "Max Unavailable", "Allowed Disruptions integer", "Age"},
     R"(["x", "1", "N/A", 0, "AGE"])"},
    {"NetworkPolicy",
     "networking.k8s.io/v1",
     "networkpolicies",
     R"({"metadata": {"name": "x"}, "spec": {"podSelector": {"matchLabels": {"a": "b"}}}})",
     "",
     {"Name (name)", "Pod-Selector", "Age"},
     R"(["x", "a=b", "AGE"])"},
};
INSTANTIATE_TEST_SUITE_P(, TableColumnsTest, ::testing::ValuesIn(object_tables),
                         [](const auto& expected) { return expected.param.test_name; });

/// Fixture of tests of Tables of kinds whose objects need extra setup.
class TableRowTest : public ConformanceTest {
 protected:
  static json GetTable(const std::string& target) {
    return Call({.target = target, .accept = table_type}).body;
  }
};

using ::testing::ElementsAre;

TEST_F(TableRowTest, EventTableShowsTheInvolvedObjectAndTheMessage) {
  Post(Path("events"), json::parse(R"({"metadata": {"name": "e"},
                                       "involvedObject": {"kind": "Pod", "name": "p",
                                                          "namespace": ")" +
                                   ns() + R"("},
                                       "reason": "Some", "message": "words", "type": "Normal",
                                       "count": 2, "source": {"component": "me"}})"));

  const json table = GetTable(Path("events"));

  EXPECT_THAT(ColumnSummaries(table),
              ElementsAre("Last Seen", "Type", "Reason", "Object", "Subobject wide", "Source wide",
                          "Message", "First Seen wide", "Count wide", "Name (name) wide"));
  EXPECT_EQ(RowCells(table),
            json({"<unknown>", "Normal", "Some", "pod/p", "", "me", "words", "<unknown>", 2, "e"}));
}

TEST_F(TableRowTest, JobTableShowsTheSelector) {
  const JsonResponse created =
      Post(Path("batch/v1", "jobs"),
           json::parse(R"({"metadata": {"name": "j"}, "spec": {)" + job_spec + "}}"));

  const json table = GetTable(Path("batch/v1", "jobs"));

  EXPECT_THAT(ColumnSummaries(table),
              ElementsAre("Name (name)", "Status", "Completions", "Duration", "Age",
                          "Containers wide", "Images wide", "Selector wide"));
  EXPECT_EQ(RowCells(table),
            json({"j", "Running", "0/1", "", "AGE", "c", "i",
                  "batch.kubernetes.io/controller-uid=" + created.str("/metadata/uid")}));
}

TEST_F(TableRowTest, NodeTableShowsAddressesAndVersions) {
  const std::string name = UniqueName("node");
  Post("/api/v1/nodes", {{"metadata", {{"name", name}}}});
  MergePatch("/api/v1/nodes/" + name + "/status", {{"status", json::parse(R"({
                 "conditions": [{"type": "Ready", "status": "True"}],
                 "nodeInfo": {"kubeletVersion": "v1", "osImage": "os", "kernelVersion": "k",
                              "containerRuntimeVersion": "c"},
                 "addresses": [{"type": "InternalIP", "address": "1.2.3.4"}]})")}});

  const json table = GetTable("/api/v1/nodes/" + name);

  EXPECT_THAT(ColumnSummaries(table),
              ElementsAre("Name (name)", "Status", "Roles", "Age", "Version", "Internal-IP wide",
                          "External-IP wide", "OS-Image wide", "Kernel-Version wide",
                          "Container-Runtime wide"));
  EXPECT_EQ(RowCells(table),
            json({name, "Ready", "<none>", "AGE", "v1", "1.2.3.4", "<none>", "os", "k", "c"}));
  Delete("/api/v1/nodes/" + name);
}

TEST_F(TableRowTest, NamespaceTableShowsThePhase) {
  const json table = GetTable("/api/v1/namespaces/" + ns());

  EXPECT_THAT(ColumnSummaries(table), ElementsAre("Name (name)", "Status", "Age"));
  EXPECT_EQ(RowCells(table), json({ns(), "Active", "AGE"}));
}

TEST_F(TableRowTest, PodBeingDeletedIsShownAsTerminating) {
  json pod = MakePod("p");
  pod["spec"]["nodeName"] = "n";
  Post(PodsPath(), pod);
  Delete(PodsPath() + "/p");

  EXPECT_EQ(GetTable(PodsPath() + "/p")["rows"][0]["cells"][2], "Terminating");
}

TEST_F(TableRowTest, RoleTableShowsTheCreationTime) {
  const JsonResponse created =
      Post(Path("rbac.authorization.k8s.io/v1", "roles"), {{"metadata", {{"name", "r"}}}});

  const json table = GetTable(Path("rbac.authorization.k8s.io/v1", "roles"));

  EXPECT_THAT(ColumnSummaries(table), ElementsAre("Name (name)", "Created At date"));
  EXPECT_EQ(RowCells(table), json({"r", created.str("/metadata/creationTimestamp")}));
}

TEST_F(TableRowTest, ScaleTableShowsDesiredAndAvailableReplicas) {
  Post(Path("apps/v1", "deployments"), MakeDeployment("d"));

  const json table = GetTable(Path("apps/v1", "deployments") + "/d/scale");

  EXPECT_THAT(ColumnSummaries(table),
              ElementsAre("Name", "Desired integer", "Available integer", "Age"));
  EXPECT_EQ(RowCells(table), json({"d", 1, 0, "AGE"}));
}

}  // namespace
}  // namespace kopp::conformance
