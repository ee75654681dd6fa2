#include <concepts>
#include <set>
#include <sstream>
#include <string>
#include <unordered_set>

#include <gtest/gtest.h>

#include <kopp/informer/owning_kind.hpp>

namespace kopp {
namespace {

constexpr Kind kDeployments{"apps/v1", "Deployment", "deployments"};
constexpr Kind kNodes{"v1", "Node", "nodes", Scope::kCluster};

TEST(OwningKindTest, KeepsTheKindAfterTheStringsOfItsSourceAreGone) {
  std::string api_version = "apps/v1";
  const OwningKind copy{Kind{api_version, "Deployment", "deployments"}};
  api_version = "changed";

  EXPECT_EQ(copy, OwningKind({"apps/v1", "Deployment", "deployments"}));
}

TEST(OwningKindTest, ConvertsToAKindWithTheSameFields) {
  const OwningKind ref = kNodes;

  const Kind kind = ref;

  EXPECT_EQ(kind.api_version, "v1");
  EXPECT_EQ(kind.kind, "Node");
  EXPECT_EQ(kind.plural, "nodes");
  EXPECT_EQ(kind.scope, Scope::kCluster);
}

TEST(OwningKindTest, ATemporaryDoesNotConvertToAKind) {
  static_assert(std::convertible_to<const OwningKind&, Kind>);
  static_assert(!std::convertible_to<OwningKind, Kind>, "the Kind would refer to freed strings");
}

TEST(OwningKindTest, GroupAndVersionAreThePartsOfTheApiVersion) {
  const OwningKind deployments = kDeployments;
  const OwningKind nodes = kNodes;

  EXPECT_EQ(deployments.group(), "apps");
  EXPECT_EQ(deployments.version(), "v1");
  EXPECT_EQ(nodes.group(), "");
  EXPECT_EQ(nodes.version(), "v1");
}

TEST(OwningKindTest, TextHasResourceVersionAndGroupAsInKubectl) {
  std::ostringstream out;
  out << OwningKind(kDeployments) << ' ' << OwningKind(kNodes);

  EXPECT_EQ(out.str(), "deployments.v1.apps nodes.v1.");
}

TEST(OwningKindTest, KindsThatDifferInAnyFieldAreNotEqual) {
  const OwningKind kind = kDeployments;
  for (const OwningKind& other :
       {OwningKind({"apps/v2", "Deployment", "deployments"}),
        OwningKind({"apps/v1", "Other", "deployments"}),
        OwningKind({"apps/v1", "Deployment", "others"}),
        OwningKind({"apps/v1", "Deployment", "deployments", Scope::kCluster})}) {
    EXPECT_NE(kind, other) << other;
  }
}

TEST(OwningKindTest, IsAKeyOfOrderedAndUnorderedContainers) {
  const std::set<OwningKind> ordered{kNodes, kDeployments, kNodes};
  const std::unordered_set<OwningKind> unordered{kNodes, kDeployments, kNodes};

  EXPECT_EQ(ordered.size(), 2);
  EXPECT_EQ(*ordered.begin(), OwningKind(kDeployments)) << "not ordered by apiVersion";
  EXPECT_EQ(unordered.size(), 2);
  EXPECT_TRUE(unordered.contains(kNodes));
}

}  // namespace
}  // namespace kopp
