#include "custom_resources.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::MatchesRegex;

const std::string aggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The element of a list whose `member` is `value`; null where there is none.
json Find(const json& list, const std::string& member, const std::string& value) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const json& element) {
    return element.value(json::json_pointer(member), "") == value;
  });
  return found == list.end() ? json() : *found;
}

class DiscoveryTest : public DefinitionTest {
 protected:
  static Answer Aggregated(const std::string& target) {
    return Call({.target = target, .accept = aggregated});
  }
};

TEST_F(DiscoveryTest, TheCoreGroupHasItsVersions) {
  const Answer answer = Get("/api");

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.str("/kind"), "APIVersions");
  EXPECT_EQ(answer.at("/versions"), json({"v1"}));
}

TEST_F(DiscoveryTest, GroupsAreListed) {
  const Answer answer = Get("/apis");

  EXPECT_EQ(answer.str("/kind"), "APIGroupList");
  EXPECT_EQ(answer.str("/apiVersion"), "v1");
  std::vector<std::string> names;
  for (const json& group : answer.at("/groups")) names.push_back(group["name"]);
  EXPECT_THAT(names, IsSupersetOf({"apps", "batch", "coordination.k8s.io", "events.k8s.io",
                                   "rbac.authorization.k8s.io", "networking.k8s.io", "policy",
                                   "apiextensions.k8s.io"}));
  const json version{{"groupVersion", "apps/v1"}, {"version", "v1"}};
  EXPECT_EQ(Find(answer.at("/groups"), "/name", "apps"), json({{"name", "apps"},
                                                               {"versions", json::array({version})},
                                                               {"preferredVersion", version}}));
}

TEST_F(DiscoveryTest, AGroupHasAPathOfItsOwn) {
  const json version{{"groupVersion", "apps/v1"}, {"version", "v1"}};

  EXPECT_EQ(Get("/apis/apps").body, json({{"kind", "APIGroup"},
                                          {"apiVersion", "v1"},
                                          {"name", "apps"},
                                          {"versions", json::array({version})},
                                          {"preferredVersion", version}}));
}

TEST_F(DiscoveryTest, TheAggregatedFormIsOneDocument) {
  const Answer answer = Aggregated("/apis");

  EXPECT_EQ(answer.str("/kind"), "APIGroupDiscoveryList");
  EXPECT_EQ(answer.str("/apiVersion"), "apidiscovery.k8s.io/v2");
  const json apps = Find(answer.at("/items"), "/metadata/name", "apps");
  ASSERT_EQ(apps["versions"].size(), 1U) << answer.text;
  EXPECT_EQ(apps["versions"][0]["version"], "v1");
  EXPECT_EQ(apps["versions"][0]["freshness"], "Current");
  json deployments = Find(apps["versions"][0]["resources"], "/resource", "deployments");
  const json subresources = deployments["subresources"];
  deployments.erase("subresources");
  EXPECT_EQ(deployments, json::parse(R"({"resource": "deployments",
                            "responseKind": {"group": "", "version": "", "kind": "Deployment"},
                            "scope": "Namespaced",
                            "singularResource": "deployment",
                            "verbs": ["create", "delete", "deletecollection", "get", "list",
                                      "patch", "update", "watch"],
                            "shortNames": ["deploy"],
                            "categories": ["all"]})"));
  EXPECT_EQ(subresources, json::parse(R"([
      {"subresource": "scale",
       "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
       "verbs": ["get", "patch", "update"]},
      {"subresource": "status",
       "responseKind": {"group": "", "version": "", "kind": "Deployment"},
       "verbs": ["get", "patch", "update"]}])"));
}

TEST_F(DiscoveryTest, TheCoreGroupHasNoNameInTheAggregatedForm) {
  const Answer answer = Aggregated("/api");

  ASSERT_EQ(answer.at("/items").size(), 1U);
  EXPECT_EQ(answer.at("/items/0/metadata"), json::object());
  EXPECT_EQ(answer.at("/items/0/versions/0/version"), "v1");
  const json nodes = Find(answer.at("/items/0/versions/0/resources"), "/resource", "nodes");
  EXPECT_EQ(nodes["scope"], "Cluster");
}

TEST_F(DiscoveryTest, TheFormIsTheFirstOfThoseAcceptedThatThereIs) {
  const Answer answer =
      Call({.target = "/apis",
            .accept = "application/json;as=Nope;v=v1;g=nope," + aggregated + ",application/json"});

  EXPECT_EQ(answer.str("/kind"), "APIGroupDiscoveryList");
}

TEST_F(DiscoveryTest, AVersionHasNoAggregatedForm) {
  EXPECT_EQ(Aggregated("/apis/apps/v1").status, 406);
  EXPECT_EQ(
      Call({.target = "/apis/apps/v1", .accept = aggregated + ",application/json"}).str("/kind"),
      "APIResourceList");
}

TEST_F(DiscoveryTest, ACustomResourceIsFoundUntilItsDefinitionGoes) {
  Define(Anything(), {{"subresources", {{"status", json::object()}}}});
  const std::string group = DiscoveryTest::group();

  EXPECT_EQ(Eventually(200, [&] { return Get("/apis/" + group); }).str("/preferredVersion/version"),
            "v1");
  const Answer resources = Eventually(200, [&] { return Get("/apis/" + group + "/v1"); });
  EXPECT_EQ(resources.str("/groupVersion"), group + "/v1");
  json widgets = resources.at("/resources/0");
  widgets.erase("storageVersionHash");
  EXPECT_EQ(widgets, json::parse(R"({"name": "widgets",
                                     "singularName": "widget",
                                     "namespaced": true,
                                     "kind": "Widget",
                                     "verbs": ["delete", "deletecollection", "get", "list",
                                               "patch", "create", "update", "watch"]})"));
  EXPECT_EQ(resources.at("/resources/1"), json::parse(R"({"name": "widgets/status",
                                                          "singularName": "",
                                                          "namespaced": true,
                                                          "kind": "Widget",
                                                          "verbs": ["get", "patch", "update"]})"));

  Undefine();

  EXPECT_EQ(Eventually(404, [&] { return Get("/apis/" + group); }).status, 404);
}

/// Asks until an answer is as `wanted`, for 10 s; the real server gathers this a little later.
json EventuallyFound(bool wanted, const std::function<json()>& ask) {
  json found;
  Eventually(200, [&] {
    found = ask();
    return Answer{.status = found.is_null() == wanted ? 404 : 200};
  });
  return found;
}

TEST_F(DiscoveryTest, ACustomResourceIsInTheListOfGroups) {
  Define(Anything());
  const std::string group = DiscoveryTest::group();
  const auto ask = [&] { return Find(Get("/apis").at("/groups"), "/name", group); };

  const json version{{"groupVersion", group + "/v1"}, {"version", "v1"}};
  EXPECT_EQ(
      EventuallyFound(true, ask),
      json({{"name", group}, {"versions", json::array({version})}, {"preferredVersion", version}}));

  Undefine();

  EXPECT_EQ(EventuallyFound(false, ask), nullptr);
}

TEST_F(DiscoveryTest, ACustomResourceIsInTheAggregatedForm) {
  const std::string group = UniqueGroup();
  json definition = ADefinition(group, Anything());
  definition["spec"]["names"]["shortNames"] = {"wd"};
  definition["spec"]["names"]["categories"] = {"all", "mine"};
  definition["spec"]["names"]["singular"] = "gadget";
  DefineIn(group, definition);
  const auto ask = [&] { return Find(Aggregated("/apis").at("/items"), "/metadata/name", group); };

  const json found = EventuallyFound(true, ask);

  EXPECT_EQ(
      found["versions"][0]["resources"],
      json::array(
          {{{"resource", "widgets"},
            {"responseKind", {{"group", group}, {"version", "v1"}, {"kind", "Widget"}}},
            {"scope", "Namespaced"},
            {"singularResource", "gadget"},
            {"verbs",
             {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}},
            {"shortNames", {"wd"}},
            {"categories", {"all", "mine"}}}}));

  Undefine();

  EXPECT_EQ(EventuallyFound(false, ask), nullptr);
}

TEST_F(DiscoveryTest, TheNewestAndMostStableVersionIsPreferred) {
  const std::string group = UniqueGroup();
  json definition = ADefinition(group, Anything());
  json& versions = definition["spec"]["versions"];
  for (const std::string name : {"v1beta1", "v2", "v10", "v2alpha1", "other"}) {
    versions.push_back(versions[0]);
    versions.back()["name"] = name;
    versions.back()["storage"] = false;
  }
  DefineIn(group, definition);

  const Answer answer = Eventually(200, [&] { return Get("/apis/" + group); });

  EXPECT_EQ(answer.str("/preferredVersion/version"), "v10");
  std::vector<std::string> names;
  for (const json& version : answer.at("/versions")) names.push_back(version["version"]);
  EXPECT_THAT(names, ElementsAre("v10", "v2", "v1", "v1beta1", "v2alpha1", "other"));
}

TEST_F(DiscoveryTest, TheServerHasAVersion) {
  const Answer answer = Get("/version");

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.str("/major"), "1");
  EXPECT_THAT(answer.str("/minor"), MatchesRegex("[0-9]+"));
  EXPECT_THAT(answer.str("/gitVersion"), MatchesRegex("v1\\.[0-9]+\\.[0-9]+.*"));
  EXPECT_THAT(answer.str("/platform"), HasSubstr("/"));
}

}  // namespace
}  // namespace kopp::conformance
