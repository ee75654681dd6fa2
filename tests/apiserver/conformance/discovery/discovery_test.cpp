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

const std::string aggregated_discovery_type =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Returns the element of `list` whose value at the JSON pointer `member` is `value`, or null if
/// there is none.
json FindElement(const json& list, const std::string& member, const std::string& value) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const json& element) {
    return element.value(json::json_pointer(member), "") == value;
  });
  return found == list.end() ? json() : *found;
}

/// Fixture of tests of the discovery of groups, versions and resources, as separate lists and in
/// the aggregated form.
class DiscoveryTest : public CrdPerTest {
 protected:
  static JsonResponse GetAggregated(const std::string& target) {
    return Call({.target = target, .accept = aggregated_discovery_type});
  }
};

TEST_F(DiscoveryTest, ApiListsTheVersionsOfTheCoreGroup) {
  const JsonResponse response = Get("/api");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.str("/kind"), "APIVersions");
  EXPECT_EQ(response.at("/versions"), json({"v1"}));
}

TEST_F(DiscoveryTest, ApisListsTheGroupsWithTheirVersions) {
  const JsonResponse response = Get("/apis");

  EXPECT_EQ(response.str("/kind"), "APIGroupList");
  EXPECT_EQ(response.str("/apiVersion"), "v1");
  std::vector<std::string> names;
  for (const json& group : response.at("/groups")) names.push_back(group["name"]);
  EXPECT_THAT(names, IsSupersetOf({"apps", "batch", "coordination.k8s.io", "events.k8s.io",
                                   "rbac.authorization.k8s.io", "networking.k8s.io", "policy",
                                   "apiextensions.k8s.io"}));
  const json version{{"groupVersion", "apps/v1"}, {"version", "v1"}};
  EXPECT_EQ(
      FindElement(response.at("/groups"), "/name", "apps"),
      json(
          {{"name", "apps"}, {"versions", json::array({version})}, {"preferredVersion", version}}));
}

TEST_F(DiscoveryTest, GroupPathReturnsTheApiGroup) {
  const json version{{"groupVersion", "apps/v1"}, {"version", "v1"}};

  EXPECT_EQ(Get("/apis/apps").body, json({{"kind", "APIGroup"},
                                          {"apiVersion", "v1"},
                                          {"name", "apps"},
                                          {"versions", json::array({version})},
                                          {"preferredVersion", version}}));
}

TEST_F(DiscoveryTest, AggregatedDiscoveryReturnsGroupsWithTheirResources) {
  const JsonResponse response = GetAggregated("/apis");

  EXPECT_EQ(response.str("/kind"), "APIGroupDiscoveryList");
  EXPECT_EQ(response.str("/apiVersion"), "apidiscovery.k8s.io/v2");
  const json apps = FindElement(response.at("/items"), "/metadata/name", "apps");
  ASSERT_EQ(apps["versions"].size(), 1U) << response.text;
  EXPECT_EQ(apps["versions"][0]["version"], "v1");
  EXPECT_EQ(apps["versions"][0]["freshness"], "Current");
  json deployments = FindElement(apps["versions"][0]["resources"], "/resource", "deployments");
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

TEST_F(DiscoveryTest, CoreGroupHasNoNameInAggregatedDiscovery) {
  const JsonResponse response = GetAggregated("/api");

  ASSERT_EQ(response.at("/items").size(), 1U);
  EXPECT_EQ(response.at("/items/0/metadata"), json::object());
  EXPECT_EQ(response.at("/items/0/versions/0/version"), "v1");
  const json nodes =
      FindElement(response.at("/items/0/versions/0/resources"), "/resource", "nodes");
  EXPECT_EQ(nodes["scope"], "Cluster");
}

TEST_F(DiscoveryTest, FirstSupportedAcceptTypeSelectsTheDiscoveryForm) {
  const JsonResponse response = Call({.target = "/apis",
                                      .accept = "application/json;as=Nope;v=v1;g=nope," +
                                                aggregated_discovery_type + ",application/json"});

  EXPECT_EQ(response.str("/kind"), "APIGroupDiscoveryList");
}

TEST_F(DiscoveryTest, AggregatedFormOfAGroupVersionIsNotAcceptable) {
  EXPECT_EQ(GetAggregated("/apis/apps/v1").status, 406);
  EXPECT_EQ(
      Call({.target = "/apis/apps/v1", .accept = aggregated_discovery_type + ",application/json"})
          .str("/kind"),
      "APIResourceList");
}

TEST_F(DiscoveryTest, CustomResourceIsDiscoverableUntilItsCrdIsDeleted) {
  CreateCrd(AnyObjectSchema(), {{"subresources", {{"status", json::object()}}}});
  const std::string group = DiscoveryTest::group();

  EXPECT_EQ(Eventually(200, [&] { return Get("/apis/" + group); }).str("/preferredVersion/version"),
            "v1");
  const JsonResponse resources = Eventually(200, [&] { return Get("/apis/" + group + "/v1"); });
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

  DeleteCrd();

  EXPECT_EQ(Eventually(404, [&] { return Get("/apis/" + group); }).status, 404);
}

/// Repeats `find` for at most 10 s until it returns an element (`expect_found`) or null
/// (`!expect_found`), and returns its last result. A real kube-apiserver updates discovery with a
/// delay.
json FindEventually(bool expect_found, const std::function<json()>& find) {
  json element;
  Eventually(200, [&] {
    element = find();
    return JsonResponse{.status = element.is_null() == expect_found ? 404 : 200};
  });
  return element;
}

TEST_F(DiscoveryTest, GroupOfACustomResourceIsListedUntilItsCrdIsDeleted) {
  CreateCrd(AnyObjectSchema());
  const std::string group = DiscoveryTest::group();
  const auto find_group = [&] { return FindElement(Get("/apis").at("/groups"), "/name", group); };

  const json version{{"groupVersion", group + "/v1"}, {"version", "v1"}};
  EXPECT_EQ(
      FindEventually(true, find_group),
      json({{"name", group}, {"versions", json::array({version})}, {"preferredVersion", version}}));

  DeleteCrd();

  EXPECT_EQ(FindEventually(false, find_group), nullptr);
}

TEST_F(DiscoveryTest, CustomResourceIsInAggregatedDiscoveryUntilItsCrdIsDeleted) {
  const std::string group = UniqueGroup();
  json crd = MakeWidgetCrd(group, AnyObjectSchema());
  crd["spec"]["names"]["shortNames"] = {"wd"};
  crd["spec"]["names"]["categories"] = {"all", "mine"};
  crd["spec"]["names"]["singular"] = "gadget";
  CreateCrdInGroup(group, crd);
  const auto find_group = [&] {
    return FindElement(GetAggregated("/apis").at("/items"), "/metadata/name", group);
  };

  const json group_discovery = FindEventually(true, find_group);

  EXPECT_EQ(
      group_discovery["versions"][0]["resources"],
      json::array(
          {{{"resource", "widgets"},
            {"responseKind", {{"group", group}, {"version", "v1"}, {"kind", "Widget"}}},
            {"scope", "Namespaced"},
            {"singularResource", "gadget"},
            {"verbs",
             {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}},
            {"shortNames", {"wd"}},
            {"categories", {"all", "mine"}}}}));

  DeleteCrd();

  EXPECT_EQ(FindEventually(false, find_group), nullptr);
}

TEST_F(DiscoveryTest, NewestStableVersionIsThePreferredVersion) {
  const std::string group = UniqueGroup();
  json crd = MakeWidgetCrd(group, AnyObjectSchema());
  json& versions = crd["spec"]["versions"];
  for (const std::string name : {"v1beta1", "v2", "v10", "v2alpha1", "other"}) {
    versions.push_back(versions[0]);
    versions.back()["name"] = name;
    versions.back()["storage"] = false;
  }
  CreateCrdInGroup(group, crd);

  const JsonResponse response = Eventually(200, [&] { return Get("/apis/" + group); });

  EXPECT_EQ(response.str("/preferredVersion/version"), "v10");
  std::vector<std::string> names;
  for (const json& version : response.at("/versions")) names.push_back(version["version"]);
  EXPECT_THAT(names, ElementsAre("v10", "v2", "v1", "v1beta1", "v2alpha1", "other"));
}

TEST_F(DiscoveryTest, VersionPathReturnsTheServerVersion) {
  const JsonResponse response = Get("/version");

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.str("/major"), "1");
  EXPECT_THAT(response.str("/minor"), MatchesRegex("[0-9]+"));
  EXPECT_THAT(response.str("/gitVersion"), MatchesRegex("v1\\.[0-9]+\\.[0-9]+.*"));
  EXPECT_THAT(response.str("/platform"), HasSubstr("/"));
}

}  // namespace
}  // namespace kopp::conformance
