#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <kopp/informer/detail/resource_path.hpp>

namespace kopp {
namespace {

/// Returns the parts of `target` as "group|version|namespace|resource|name|subresource".
std::string Parts(std::string_view target) {
  const auto path = ParseResourcePath(target);
  if (!path) return "none";
  std::string text;
  for (const std::string_view part :
       {path->group, path->version, path->ns, path->resource, path->name, path->subresource}) {
    text.append(text.empty() && part.empty() ? "core" : part).append("|");
  }
  text.pop_back();
  return text;
}

TEST(ResourcePathTest, ObjectsAndCollectionsAreParsed) {
  EXPECT_EQ(Parts("/api/v1/pods"), "core|v1||pods||");
  EXPECT_EQ(Parts("/api/v1/namespaces/shop/pods/web"), "core|v1|shop|pods|web|");
  EXPECT_EQ(Parts("/apis/apps/v1/namespaces/shop/deployments/web/status"),
            "apps|v1|shop|deployments|web|status");
  EXPECT_EQ(Parts("/apis/apps/v1/namespaces/shop/deployments"), "apps|v1|shop|deployments||");
  EXPECT_EQ(Parts("/api/v1/nodes/n/proxy/a/b"), "core|v1||nodes|n|proxy");
}

TEST(ResourcePathTest, ANamespaceIsAnObjectItself) {
  EXPECT_EQ(Parts("/api/v1/namespaces"), "core|v1||namespaces||");
  EXPECT_EQ(Parts("/api/v1/namespaces/shop"), "core|v1||namespaces|shop|");
  EXPECT_EQ(Parts("/api/v1/namespaces/shop/status"), "core|v1||namespaces|shop|status");
  EXPECT_EQ(Parts("/api/v1/namespaces/shop/finalize"), "core|v1||namespaces|shop|finalize");
}

TEST(ResourcePathTest, TheQueryIsIgnored) {
  EXPECT_EQ(Parts("/api/v1/pods?watch=true&fieldSelector=a/b"), "core|v1||pods||");
}

TEST(ResourcePathTest, OtherPathsHaveNoParts) {
  for (const char* target : {"", "/", "/version", "/api", "/api/v1", "/apis/apps/v1", "/apis/apps",
                             "/openapi/v3/apis/apps/v1", "pods"}) {
    EXPECT_EQ(Parts(target), "none") << target;
  }
}

TEST(ResourcePathTest, OnlyGroupsOfKubernetesAreBuiltIn) {
  for (const char* group : {"", "apps", "networking.k8s.io", "rbac.authorization.k8s.io"}) {
    EXPECT_TRUE(IsBuiltInGroup(group)) << group;
  }
  for (const char* group :
       {"example.com", "samplecontroller.k8s.io", "gateway.networking.k8s.io"}) {
    EXPECT_FALSE(IsBuiltInGroup(group)) << group;
  }
}

}  // namespace
}  // namespace kopp
