#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using ::testing::MatchesRegex;

class ListTest : public ConformanceTest {
 protected:
  Answer List(const std::string& query = "") { return Get(Path("configmaps") + query); }
};

TEST_F(ListTest, AnEmptyListHasAnEmptyArray) {
  const Answer list = List();

  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.str("/kind"), "ConfigMapList");
  EXPECT_EQ(list.str("/apiVersion"), "v1");
  EXPECT_EQ(list.at("/items"), json::array());
}

TEST_F(ListTest, ItsMetadataIsTheVersionAlone) {
  const Answer made = Post(Path("configmaps"), AConfigMap("a"));
  const Answer list = List();

  EXPECT_THAT(list.version(), MatchesRegex("[1-9][0-9]*"));
  EXPECT_GE(std::stoll(list.version()), std::stoll(made.version()));
  EXPECT_EQ(list.at("/metadata").size(), 1);
}

TEST_F(ListTest, ItemsHaveNeitherKindNorVersion) {
  json made = Post(Path("configmaps"), AConfigMap("a")).body;
  made.erase("kind");
  made.erase("apiVersion");

  EXPECT_EQ(List().at("/items"), json::array({made}));
}

TEST_F(ListTest, ItemsAreOrderedByName) {
  Post(Path("configmaps"), AConfigMap("b"));
  Post(Path("configmaps"), AConfigMap("a.b"));
  Post(Path("configmaps"), AConfigMap("a-b"));
  Post(Path("configmaps"), AConfigMap("a"));

  EXPECT_THAT(Names(List()), ElementsAre("a", "a-b", "a.b", "b"));
}

TEST_F(ListTest, ItHoldsOneNamespace) {
  const std::string other = Unique("conformance");
  Post("/api/v1/namespaces", {{"metadata", {{"name", other}}}});
  Post("/api/v1/namespaces/" + other + "/configmaps", AConfigMap("there"));
  Post(Path("configmaps"), AConfigMap("here"));

  EXPECT_THAT(Names(List()), ElementsAre("here"));
}

TEST_F(ListTest, OfAllNamespacesIsOrderedByNamespaceAndName) {
  const std::string first = Unique("a-conformance");
  const std::string label = Unique("label");
  Post("/api/v1/namespaces", {{"metadata", {{"name", first}}}});
  const json labels{{"labels", {{label, ""}}}};
  Post("/api/v1/namespaces/" + first + "/configmaps",
       {{"metadata", {{"name", "z"}, {"labels", labels["labels"]}}}});
  Post(Path("configmaps"), {{"metadata", {{"name", "b"}, {"labels", labels["labels"]}}}});
  Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"labels", labels["labels"]}}}});

  const Answer list = Get("/api/v1/configmaps?labelSelector=" + label);

  EXPECT_THAT(Names(list), ElementsAre("z", "a", "b"));
  EXPECT_EQ(list.str("/items/0/metadata/namespace"), first);
}

TEST_F(ListTest, OfANamespaceThatIsNotThereIsEmpty) {
  const Answer list = Get("/api/v1/namespaces/" + Unique("none") + "/configmaps");

  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.at("/items"), json::array());
}

TEST_F(ListTest, OfAClusterScopedKindHasAll) {
  const std::string own = ns();
  const Answer list = Get("/api/v1/namespaces");

  EXPECT_EQ(list.str("/kind"), "NamespaceList");
  EXPECT_THAT(Names(list), IsSupersetOf({own, std::string("default"), std::string("kube-system")}));
}

/// A kind and where its lists are.
struct Kind {
  std::string kind{};
  std::string group_version{};
  std::string plural{};

  friend void PrintTo(const Kind& each, std::ostream* out) { *out << each.plural; }
};

class ListKindTest : public ConformanceTest, public ::testing::WithParamInterface<Kind> {};

TEST_P(ListKindTest, IsListed) {
  const auto& [kind, group_version, plural] = GetParam();
  const Answer list = Get(group_version == "v1" ? Path(plural) : Path(group_version, plural));

  EXPECT_EQ(list.status, 200);
  EXPECT_EQ(list.str("/kind"), kind + "List");
  EXPECT_EQ(list.str("/apiVersion"), group_version);
  EXPECT_EQ(list.at("/items"), json::array());
}

const Kind kinds[] = {
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
INSTANTIATE_TEST_SUITE_P(, ListKindTest, ::testing::ValuesIn(kinds),
                         [](const auto& kind) { return kind.param.kind; });

/// Lists at a version: "a" was there then, "b" came later.
class ListVersionTest : public ListTest {
 protected:
  ListVersionTest() {
    Post(Path("configmaps"), AConfigMap("a"));
    then_ = List().version();
    now_ = Post(Path("configmaps"), AConfigMap("b")).version();
  }

  std::string then_;
  std::string now_;
};

TEST_F(ListVersionTest, ExactIsTheListAsItWas) {
  const Answer list = List("?resourceVersionMatch=Exact&resourceVersion=" + then_);

  EXPECT_THAT(Names(list), ElementsAre("a"));
  EXPECT_EQ(list.version(), then_);
}

TEST_F(ListVersionTest, NotOlderThanIsAtLeastThatNew) {
  const Answer list = List("?resourceVersionMatch=NotOlderThan&resourceVersion=" + now_);

  EXPECT_THAT(Names(list), ElementsAre("a", "b"));
  EXPECT_GE(std::stoll(list.version()), std::stoll(now_));
}

TEST_F(ListVersionTest, AVersionAloneMeansNotOlderThan) {
  // The real server's cache may be behind; it waits for the version that is asked of it.
  List("?resourceVersion=" + now_);
  const Answer list = List("?resourceVersion=" + then_);

  EXPECT_THAT(Names(list), ElementsAre("a", "b"));
}

TEST_F(ListVersionTest, AVersionWithALimitMeansExact) {
  const Answer list = List("?limit=10&resourceVersion=" + then_);

  EXPECT_THAT(Names(list), ElementsAre("a"));
  EXPECT_EQ(list.version(), then_);
}

TEST_F(ListVersionTest, ExactWithALimitIsAPageOfThatTime) {
  const Answer list = List("?limit=10&resourceVersionMatch=Exact&resourceVersion=" + then_);

  EXPECT_THAT(Names(list), ElementsAre("a"));
}

class FutureVersionTest : public ListTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(FutureVersionTest, IsATimeoutThatSaysSo) {
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer answer =
      Get(Path("configmaps") + (GetParam() == "Get" ? "/a" : "") + "?resourceVersion=999999999" +
          (GetParam() == "Exact" ? "&resourceVersionMatch=Exact" : ""));

  EXPECT_EQ(answer.status, 504);
  EXPECT_EQ(answer.reason(), "Timeout");
  EXPECT_THAT(answer.message(),
              MatchesRegex("Timeout: Too large resource version: 999999999, current: [0-9]+"));
  EXPECT_EQ(answer.at("/details"), R"({
    "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
    "retryAfterSeconds": 1
  })"_json);
  EXPECT_EQ(answer.retry_after, 1s);
}

INSTANTIATE_TEST_SUITE_P(, FutureVersionTest, ::testing::Values("List", "Exact", "Get"),
                         [](const auto& verb) { return verb.param; });

}  // namespace
}  // namespace kopp::conformance
