// What the API server sends to webhooks, and for which writes.
#include "admission/webhook_test_server.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using WebhookRequestsTest = WebhookCallTest;

/// Returns the operations of requests with the kinds of their options.
std::vector<std::string> Operations(const std::vector<json>& requests) {
  std::vector<std::string> all;
  for (const json& request : requests) {
    all.push_back(request.value("operation", "") + ' ' +
                  request.at("/options/kind"_json_pointer).get<std::string>());
  }
  return all;
}

// A5
TEST_F(WebhookRequestsTest, ACreateIsDescribedCompletely) {
  Install(Type::kValidating, Webhook{});
  Post(Path("configmaps") + "?fieldManager=me", MakeConfigMap("complete"));

  ASSERT_THAT(Requests(), SizeIs(1));
  json request = Requests()[0];
  EXPECT_EQ(request.at("object").at("kind"), "ConfigMap");
  EXPECT_EQ(request.at("object").at("apiVersion"), "v1");
  EXPECT_EQ(request.at("/object/metadata/name"_json_pointer), "complete");
  EXPECT_FALSE(request.at("uid").get<std::string>().empty());
  EXPECT_FALSE(request.at("/userInfo/username"_json_pointer).get<std::string>().empty());
  for (const char* field : {"object", "uid", "userInfo", "host", "webhook"}) request.erase(field);
  EXPECT_EQ(request, json::parse(R"({"kind":{"group":"","version":"v1","kind":"ConfigMap"},
      "resource":{"group":"","version":"v1","resource":"configmaps"},
      "requestKind":{"group":"","version":"v1","kind":"ConfigMap"},
      "requestResource":{"group":"","version":"v1","resource":"configmaps"},
      "name":"complete","namespace":")" +
                                 ns() + R"(","operation":"CREATE","oldObject":null,"dryRun":false,
      "options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1","fieldManager":"me"},
      "query":"timeout=5s","reviewVersion":"admission.k8s.io/v1"})"));
}

// A5
TEST_F(WebhookRequestsTest, TheUserIsDescribedCompletely) {
  Install(Type::kValidating, Webhook{});

  const JsonResponse created =
      CallAs({.user = "jane",
              .uid = "u-1",
              .groups = {"system:masters", "dev"},
              .extra = {{"scopes", {"a", "b"}}}},
             {.method = "POST", .target = Path("configmaps"), .body = MakeConfigMap("m").dump()});

  ASSERT_EQ(created.status, 201) << created.text;
  ASSERT_THAT(Requests(), SizeIs(1));
  EXPECT_EQ(Requests()[0].at("userInfo"),
            json({{"username", "jane"},
                  {"uid", "u-1"},
                  {"groups", {"system:masters", "dev", "system:authenticated"}},
                  {"extra", {{"scopes", {"a", "b"}}}}}));
}

// A4
TEST_F(WebhookRequestsTest, AGeneratedNameIsKnownToValidatingWebhooksOnly) {
  Install(Type::kMutating, Webhook{});
  Install(Type::kValidating, Webhook{});

  const JsonResponse created = Post(Path("configmaps"), {{"metadata", {{"generateName", "g-"}}}});

  ASSERT_THAT(Requests(), SizeIs(2));
  const json mutating = Requests()[0];
  const json validating = Requests()[1];
  EXPECT_FALSE(mutating.contains("name"));
  EXPECT_FALSE(mutating.at("/object/metadata"_json_pointer).contains("name"));
  EXPECT_FALSE(mutating.at("/object/metadata"_json_pointer).contains("uid"));
  EXPECT_EQ(validating.at("/object/metadata/name"_json_pointer), created.name());
  EXPECT_EQ(validating.at("/object/metadata/uid"_json_pointer), created.at("/metadata/uid"));
}

// A7
TEST_F(WebhookRequestsTest, EachVerbHasItsOperationAndOptions) {
  Install(Type::kValidating, Webhook{});
  const std::string path = Path("configmaps") + "/verbs";
  const json map{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "verbs"}}}};

  Apply(path, map, "applier");
  AwaitCache(path);
  Put(path, map);
  AwaitCache(path);
  MergePatch(path, {{"data", {{"a", "b"}}}});
  AwaitCache(path);
  json changed = map;
  changed["data"] = {{"c", "d"}};
  Apply(path, changed, "applier");
  AwaitCache(path);
  Delete(path);

  EXPECT_THAT(Operations(Requests()),
              ElementsAre("CREATE CreateOptions", "UPDATE UpdateOptions", "UPDATE UpdateOptions",
                          "UPDATE UpdateOptions", "DELETE DeleteOptions"));
}

// A7
TEST_F(WebhookRequestsTest, APutThatCreatesAnObjectIsACreate) {
  const std::string group = "coordination.k8s.io";
  Install(Type::kValidating, Webhook{.fields = {{"rules", {Rule({"*"}, "leases", group)}}}});

  const JsonResponse put = Put(Path(group + "/v1", "leases") + "/new", MakeObjectWithName("new"));

  EXPECT_EQ(put.status, 201) << put.text;
  EXPECT_THAT(Operations(Requests()), ElementsAre("CREATE CreateOptions"));
}

// A5
TEST_F(WebhookRequestsTest, AnUpdateHasTheStoredObject) {
  CreateMap("updated", {{"a", "1"}});
  Install(Type::kValidating, Webhook{});

  MergePatch(Path("configmaps") + "/updated", {{"data", {{"a", "2"}}}});

  ASSERT_THAT(Requests(), SizeIs(1));
  EXPECT_EQ(Requests()[0].at("/object/data/a"_json_pointer), "2");
  EXPECT_EQ(Requests()[0].at("/oldObject/data/a"_json_pointer), "1");
  EXPECT_EQ(Requests()[0].at("/oldObject/kind"_json_pointer), "ConfigMap");
}

// A5
TEST_F(WebhookRequestsTest, AnUpdateWithAnotherUidIsNotSent) {
  json map = CreateMap("replaced").body;
  map["metadata"]["uid"] = "another";
  Install(Type::kMutating, Webhook{});

  EXPECT_EQ(Put(Path("configmaps") + "/replaced", map).status, 409);

  EXPECT_THAT(Requests(), IsEmpty());
}

// A8
TEST_F(WebhookRequestsTest, ADeletionOfAPodThatIsBeingDeletedIsSentIfItShortensTheGracePeriod) {
  json pod = MakePod("stopping");
  pod["spec"]["nodeName"] = "node";
  ASSERT_EQ(Post(PodsPath(), pod).status, 201);
  const std::string path = PodsPath() + "/stopping";
  Install(Type::kValidating, Webhook{.fields = {{"rules", {Rule({"*"}, "pods")}}}});

  Delete(path);
  AwaitCache(path);
  Delete(path);
  Delete(path, {{"gracePeriodSeconds", 60}});
  EXPECT_THAT(Operations(Requests()), ElementsAre("DELETE DeleteOptions"));

  Delete(path, {{"gracePeriodSeconds", 0}});  // a kube-apiserver calls the webhook twice
  EXPECT_THAT(Requests(), SizeIs(Ge(2)));
  EXPECT_EQ(Get(path).status, 404);
}

// A8
TEST_F(WebhookRequestsTest, ADeletionHasTheStoredObjectOnly) {
  CreateMap("deleted", {{"a", "1"}});
  Install(Type::kMutating, Webhook{});
  Install(Type::kValidating, Webhook{});

  EXPECT_EQ(Delete(Path("configmaps") + "/deleted").status, 200);

  ASSERT_THAT(Requests(), SizeIs(2));
  for (const json& request : Requests()) {
    EXPECT_EQ(request.at("operation"), "DELETE");
    EXPECT_EQ(request.at("name"), "deleted");
    EXPECT_EQ(request.at("object"), json());
    EXPECT_EQ(request.at("/oldObject/data/a"_json_pointer), "1");
  }
}

// A8
TEST_F(WebhookRequestsTest, ADeletionOfACollectionIsARequestForEachObjectWithoutAName) {
  CreateMap("one");
  CreateMap("two");
  Install(Type::kValidating, Webhook{});

  EXPECT_EQ(Delete(Path("configmaps")).status, 200);

  EXPECT_THAT(Operations(Requests()), ElementsAre("DELETE DeleteOptions", "DELETE DeleteOptions"));
  for (const json& request : Requests()) {
    EXPECT_FALSE(request.contains("name"));
    EXPECT_EQ(request.at("object"), json());
    EXPECT_EQ(request.at("/oldObject/kind"_json_pointer), "ConfigMap");
  }
}

// A9
TEST_F(WebhookRequestsTest, TheRemovalOfTheLastFinalizerIsAnUpdate) {
  json map = MakeConfigMap("finalized");
  map["metadata"]["finalizers"] = {"example.com/f"};
  Post(Path("configmaps"), map);
  Install(Type::kValidating, Webhook{});
  const std::string path = Path("configmaps") + "/finalized";

  Delete(path);
  AwaitCache(path);
  MergePatch(path, {{"metadata", {{"finalizers", nullptr}}}});

  EXPECT_EQ(Get(path).status, 404);
  EXPECT_THAT(Operations(Requests()), ElementsAre("DELETE DeleteOptions", "UPDATE UpdateOptions"));
}

// A37
TEST_F(WebhookRequestsTest, ADryRunIsSentWithTheFlag) {
  Install(Type::kValidating, {Webhook{}, {.fields = {{"sideEffects", "NoneOnDryRun"}}}});

  EXPECT_EQ(Post(Path("configmaps") + "?dryRun=All", MakeConfigMap("dry")).status, 201);

  ASSERT_THAT(Requests(), SizeIs(2));
  for (const json& request : Requests()) {
    EXPECT_EQ(request.at("dryRun"), true);
    EXPECT_EQ(request.at("/options/dryRun"_json_pointer), json({"All"}));
  }
}

// A6
TEST_F(WebhookRequestsTest, TheFirstKnownReviewVersionIsUsed) {
  Install(Type::kValidating,
          Webhook{.fields = {{"admissionReviewVersions", {"v9", "v1beta1", "v1"}}}});

  CreateMap("versioned");

  ASSERT_THAT(Requests(), SizeIs(1));
  EXPECT_EQ(Requests()[0].at("reviewVersion"), "admission.k8s.io/v1beta1");
}

}  // namespace
}  // namespace kopp::conformance
