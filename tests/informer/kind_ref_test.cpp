#include <concepts>
#include <set>
#include <sstream>
#include <string>
#include <unordered_set>

#include <gtest/gtest.h>

#include <kopp/informer/kind_ref.hpp>

namespace kopp {
namespace {

constexpr Kind kDeployments{"apps/v1", "Deployment", "deployments"};
constexpr Kind kNodes{"v1", "Node", "nodes", Scope::kCluster};

TEST(KindRefTest, KeepsTheKindAfterTheStringsOfItsSourceAreGone) {
  std::string api_version = "apps/v1";
  const KindRef copy{Kind{api_version, "Deployment", "deployments"}};
  api_version = "changed";

  EXPECT_EQ(copy, KindRef({"apps/v1", "Deployment", "deployments"}));
}

TEST(KindRefTest, ConvertsToAKindWithTheSameFields) {
  const KindRef ref = kNodes;

  const Kind kind = ref;

  EXPECT_EQ(kind.api_version, "v1");
  EXPECT_EQ(kind.kind, "Node");
  EXPECT_EQ(kind.plural, "nodes");
  EXPECT_EQ(kind.scope, Scope::kCluster);
}

TEST(KindRefTest, ATemporaryDoesNotConvertToAKind) {
  static_assert(std::convertible_to<const KindRef&, Kind>);
  static_assert(!std::convertible_to<KindRef, Kind>, "the Kind would refer to freed strings");
}

TEST(KindRefTest, GroupAndVersionAreThePartsOfTheApiVersion) {
  const KindRef deployments = kDeployments;
  const KindRef nodes = kNodes;

  EXPECT_EQ(deployments.group(), "apps");
  EXPECT_EQ(deployments.version(), "v1");
  EXPECT_EQ(nodes.group(), "");
  EXPECT_EQ(nodes.version(), "v1");
}

TEST(KindRefTest, TextHasResourceVersionAndGroupAsInKubectl) {
  std::ostringstream out;
  out << KindRef(kDeployments) << ' ' << KindRef(kNodes);

  EXPECT_EQ(out.str(), "deployments.v1.apps nodes.v1.");
}

TEST(KindRefTest, KindsThatDifferInAnyFieldAreNotEqual) {
  const KindRef kind = kDeployments;
  for (const KindRef& other :
       {KindRef({"apps/v2", "Deployment", "deployments"}),
        KindRef({"apps/v1", "Other", "deployments"}), KindRef({"apps/v1", "Deployment", "others"}),
        KindRef({"apps/v1", "Deployment", "deployments", Scope::kCluster})}) {
    EXPECT_NE(kind, other) << other;
  }
}

TEST(KindRefTest, IsAKeyOfOrderedAndUnorderedContainers) {
  const std::set<KindRef> ordered{kNodes, kDeployments, kNodes};
  const std::unordered_set<KindRef> unordered{kNodes, kDeployments, kNodes};

  EXPECT_EQ(ordered.size(), 2);
  EXPECT_EQ(*ordered.begin(), KindRef(kDeployments)) << "not ordered by apiVersion";
  EXPECT_EQ(unordered.size(), 2);
  EXPECT_TRUE(unordered.contains(kNodes));
}

}  // namespace
}  // namespace kopp
