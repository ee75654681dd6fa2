// Discovery of resources and subresources that are not stored.
#include "conformance.hpp"

#include <algorithm>
#include <string>

namespace kopp::conformance {
namespace {

/// Fixture of tests of the discovery of virtual resources.
class VirtualResourceDiscoveryTest : public ConformanceTest {
 protected:
  /// Returns the item of `list` whose member `member` is `name`, or null.
  static json FindItem(const json& list, const std::string& member, const std::string& name) {
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const json& item) { return item[member] == name; });
    return found == list.end() ? json() : *found;
  }
  static json FindListed(const std::string& path, const std::string& name) {
    return FindItem(Get(path).at("/resources"), "name", name);
  }
};

TEST_F(VirtualResourceDiscoveryTest, ReviewIsListedWithTheVerbCreateOnly) {
  EXPECT_EQ(FindListed("/apis/authentication.k8s.io/v1", "tokenreviews"),
            json({{"name", "tokenreviews"},
                  {"singularName", "tokenreview"},
                  {"namespaced", false},
                  {"kind", "TokenReview"},
                  {"verbs", {"create"}}}));
}

TEST_F(VirtualResourceDiscoveryTest, AllReviewsAreListed) {
  for (const char* name : {"selfsubjectreviews", "tokenreviews"}) {
    EXPECT_FALSE(FindListed("/apis/authentication.k8s.io/v1", name).is_null()) << name;
  }
  for (const char* name : {"localsubjectaccessreviews", "selfsubjectaccessreviews",
                           "selfsubjectrulesreviews", "subjectaccessreviews"}) {
    EXPECT_FALSE(FindListed("/apis/authorization.k8s.io/v1", name).is_null()) << name;
  }
}

TEST_F(VirtualResourceDiscoveryTest, SubresourceOfAnotherGroupIsListedWithItsGroupAndVersion) {
  EXPECT_EQ(FindListed("/api/v1", "pods/eviction"), json({{"name", "pods/eviction"},
                                                          {"singularName", ""},
                                                          {"namespaced", true},
                                                          {"group", "policy"},
                                                          {"version", "v1"},
                                                          {"kind", "Eviction"},
                                                          {"verbs", {"create"}}}));
  EXPECT_EQ(FindListed("/api/v1", "serviceaccounts/token").value("kind", ""), "TokenRequest");
}

TEST_F(VirtualResourceDiscoveryTest, SubresourceOfTheSameGroupIsListedWithoutItsGroup) {
  EXPECT_EQ(FindListed("/api/v1", "pods/binding"), json({{"name", "pods/binding"},
                                                         {"singularName", ""},
                                                         {"namespaced", true},
                                                         {"kind", "Binding"},
                                                         {"verbs", {"create"}}}));
  EXPECT_EQ(FindListed("/api/v1", "pods/ephemeralcontainers").value("verbs", json()),
            json({"get", "patch", "update"}));
}

TEST_F(VirtualResourceDiscoveryTest, AggregatedDiscoveryContainsTheKindOfASubresource) {
  const JsonResponse groups =
      Call({.target = "/api",
            .accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"});

  const json pods = FindItem(groups.at("/items/0/versions/0/resources"), "resource", "pods");
  EXPECT_EQ(FindItem(pods["subresources"], "subresource", "eviction"),
            json({{"subresource", "eviction"},
                  {"responseKind", {{"group", "policy"}, {"version", "v1"}, {"kind", "Eviction"}}},
                  {"verbs", {"create"}}}));
}

TEST_F(VirtualResourceDiscoveryTest, OtherMethodsThanPostAreNotAllowed) {
  EXPECT_EQ(Get("/apis/authentication.k8s.io/v1/tokenreviews").status, 405);
  EXPECT_EQ(Delete("/apis/authorization.k8s.io/v1/subjectaccessreviews").status, 405);
  EXPECT_EQ(Get(Path("bindings")).status, 405);
  EXPECT_EQ(Get(Path("pods") + "/a/eviction").status, 405);
}

TEST_F(VirtualResourceDiscoveryTest, PathWithANameOrWrongScopeIsNotFound) {
  const json review{{"spec", {{"token", "a"}}}};
  EXPECT_EQ(Post("/apis/authentication.k8s.io/v1/tokenreviews/a", review).status, 404);
  EXPECT_EQ(Post("/apis/authentication.k8s.io/v1/namespaces/a/tokenreviews", review).status, 404);
  EXPECT_EQ(Post("/apis/authorization.k8s.io/v1/localsubjectaccessreviews", review).status, 404);
  EXPECT_EQ(Get("/api/v1/bindings").status, 404);
}

}  // namespace
}  // namespace kopp::conformance
