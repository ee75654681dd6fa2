#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::MatchesRegex;

/// Fixture of tests of lists of a collection.
class ListTest : public ConformanceTest {
 protected:
  JsonResponse List(const std::string& query = "") { return Get(Path("configmaps") + query); }
};

TEST_F(ListTest, EmptyListHasAnEmptyItemsArray) {
  const JsonResponse list = List();

  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.str("/kind"), "ConfigMapList");
  EXPECT_EQ(list.str("/apiVersion"), "v1");
  EXPECT_EQ(list.at("/items"), json::array());
}

TEST_F(ListTest, ListMetadataHasOnlyTheResourceVersion) {
  const JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse list = List();

  EXPECT_THAT(list.resource_version(), MatchesRegex("[1-9][0-9]*"));
  EXPECT_GE(std::stoll(list.resource_version()), std::stoll(created.resource_version()));
  EXPECT_EQ(list.at("/metadata").size(), 1);
}

TEST_F(ListTest, ListItemsHaveNoKindAndNoApiVersion) {
  json created = Post(Path("configmaps"), MakeConfigMap("a")).body;
  created.erase("kind");
  created.erase("apiVersion");

  EXPECT_EQ(List().at("/items"), json::array({created}));
}

TEST_F(ListTest, ListItemsAreSortedByName) {
  Post(Path("configmaps"), MakeConfigMap("b"));
  Post(Path("configmaps"), MakeConfigMap("a.b"));
  Post(Path("configmaps"), MakeConfigMap("a-b"));
  Post(Path("configmaps"), MakeConfigMap("a"));

  EXPECT_THAT(ItemNames(List()), ElementsAre("a", "a-b", "a.b", "b"));
}

TEST_F(ListTest, NamespacedListHasOnlyItsNamespace) {
  const std::string other_namespace = UniqueName("conformance");
  Post("/api/v1/namespaces", {{"metadata", {{"name", other_namespace}}}});
  Post("/api/v1/namespaces/" + other_namespace + "/configmaps", MakeConfigMap("there"));
  Post(Path("configmaps"), MakeConfigMap("here"));

  EXPECT_THAT(ItemNames(List()), ElementsAre("here"));
}

TEST_F(ListTest, ListOfAllNamespacesIsSortedByNamespaceAndName) {
  const std::string first = UniqueName("a-conformance");
  const std::string label = UniqueName("label");
  Post("/api/v1/namespaces", {{"metadata", {{"name", first}}}});
  const json labels{{"labels", {{label, ""}}}};
  Post("/api/v1/namespaces/" + first + "/configmaps",
       {{"metadata", {{"name", "z"}, {"labels", labels["labels"]}}}});
  Post(Path("configmaps"), {{"metadata", {{"name", "b"}, {"labels", labels["labels"]}}}});
  Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"labels", labels["labels"]}}}});

  const JsonResponse list = Get("/api/v1/configmaps?labelSelector=" + label);

  EXPECT_THAT(ItemNames(list), ElementsAre("z", "a", "b"));
  EXPECT_EQ(list.str("/items/0/metadata/namespace"), first);
}

TEST_F(ListTest, ListOfAMissingNamespaceIsEmpty) {
  const JsonResponse list = Get("/api/v1/namespaces/" + UniqueName("none") + "/configmaps");

  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.at("/items"), json::array());
}

TEST_F(ListTest, ListOfAClusterScopedKindHasAllObjects) {
  const std::string own = ns();
  const JsonResponse list = Get("/api/v1/namespaces");

  EXPECT_EQ(list.str("/kind"), "NamespaceList");
  EXPECT_THAT(ItemNames(list),
              IsSupersetOf({own, std::string("default"), std::string("kube-system")}));
}

/// A kind and the collection of its objects.
struct ListableKind {
  std::string kind{};
  std::string group_version{};
  std::string plural{};

  friend void PrintTo(const ListableKind& listable, std::ostream* out) { *out << listable.plural; }
};

class ListKindTest : public ConformanceTest, public ::testing::WithParamInterface<ListableKind> {};

TEST_P(ListKindTest, CollectionReturnsTheListKindAndApiVersion) {
  const auto& [kind, group_version, plural] = GetParam();
  const JsonResponse list = Get(group_version == "v1" ? Path(plural) : Path(group_version, plural));

  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.str("/kind"), kind + "List");
  EXPECT_EQ(list.str("/apiVersion"), group_version);
  EXPECT_EQ(list.at("/items"), json::array());
}

const ListableKind listable_kinds[] = {
    {"Pod", "v1", "pods"},
    {"Service", "v1", "services"},
    {"Secret", "v1", "secrets"},
    {"Endpoints", "v1", "endpoints"},
    {"PersistentVolumeClaim", "v1", "persistentvolumeclaims"},
    {"Deployment", "apps/v1", "deployments"},
    {"StatefulSet", "apps/v1", "statefulsets"},
    {"DaemonSet", "apps/v1", "daemonsets"},
    {"ReplicaSet", "apps/v1", "replicasets"},
    {"ControllerRevision", "apps/v1", "controllerrevisions"},
    {"Job", "batch/v1", "jobs"},
    {"CronJob", "batch/v1", "cronjobs"},
    {"Lease", "coordination.k8s.io/v1", "leases"},
    {"Event", "events.k8s.io/v1", "events"},
    {"Role", "rbac.authorization.k8s.io/v1", "roles"},
    {"RoleBinding", "rbac.authorization.k8s.io/v1", "rolebindings"},
    {"Ingress", "networking.k8s.io/v1", "ingresses"},
    {"NetworkPolicy", "networking.k8s.io/v1", "networkpolicies"},
    {"PodDisruptionBudget", "policy/v1", "poddisruptionbudgets"},
};
INSTANTIATE_TEST_SUITE_P(, ListKindTest, ::testing::ValuesIn(listable_kinds),
                         [](const auto& kind) { return kind.param.kind; });

/// Fixture of tests of lists at a resourceVersion: "a" exists in version old_version_, "b" since
/// version new_version_.
class ListResourceVersionTest : public ListTest {
 protected:
  ListResourceVersionTest() {
    Post(Path("configmaps"), MakeConfigMap("a"));
    old_version_ = List().resource_version();
    new_version_ = Post(Path("configmaps"), MakeConfigMap("b")).resource_version();
  }

  std::string old_version_;
  std::string new_version_;
};

TEST_F(ListResourceVersionTest, ExactMatchReturnsTheListAtThatVersion) {
  const JsonResponse list = List("?resourceVersionMatch=Exact&resourceVersion=" + old_version_);

  EXPECT_THAT(ItemNames(list), ElementsAre("a"));
  EXPECT_EQ(list.resource_version(), old_version_);
}

TEST_F(ListResourceVersionTest, NotOlderThanReturnsAListAtLeastAsNew) {
  const JsonResponse list =
      List("?resourceVersionMatch=NotOlderThan&resourceVersion=" + new_version_);

  EXPECT_THAT(ItemNames(list), ElementsAre("a", "b"));
  EXPECT_GE(std::stoll(list.resource_version()), std::stoll(new_version_));
}

TEST_F(ListResourceVersionTest, VersionWithoutMatchMeansNotOlderThan) {
  // The cache of a real kube-apiserver may be stale. A list with a resourceVersion waits until the
  // cache has that version.
  List("?resourceVersion=" + new_version_);
  const JsonResponse list = List("?resourceVersion=" + old_version_);

  EXPECT_THAT(ItemNames(list), ElementsAre("a", "b"));
}

TEST_F(ListResourceVersionTest, VersionWithALimitMeansExact) {
  const JsonResponse list = List("?limit=10&resourceVersion=" + old_version_);

  EXPECT_THAT(ItemNames(list), ElementsAre("a"));
  EXPECT_EQ(list.resource_version(), old_version_);
}

TEST_F(ListResourceVersionTest, ExactMatchWithALimitReturnsAPageOfThatVersion) {
  const JsonResponse list =
      List("?limit=10&resourceVersionMatch=Exact&resourceVersion=" + old_version_);

  EXPECT_THAT(ItemNames(list), ElementsAre("a"));
}

class FutureVersionTest : public ListTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(FutureVersionTest, FutureResourceVersionIsATimeoutWithItsCause) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse response =
      Get(Path("configmaps") + (GetParam() == "Get" ? "/a" : "") + "?resourceVersion=999999999" +
          (GetParam() == "Exact" ? "&resourceVersionMatch=Exact" : ""));

  EXPECT_EQ(response.status, 504);
  EXPECT_EQ(response.reason(), "Timeout");
  EXPECT_THAT(response.message(),
              MatchesRegex("Timeout: Too large resource version: 999999999, current: [0-9]+"));
  EXPECT_EQ(response.at("/details"), R"({
    "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
    "retryAfterSeconds": 1
  })"_json);
  EXPECT_EQ(response.retry_after, 1s);
}

INSTANTIATE_TEST_SUITE_P(, FutureVersionTest, ::testing::Values("List", "Exact", "Get"),
                         [](const auto& verb) { return verb.param; });

}  // namespace
}  // namespace kopp::conformance
