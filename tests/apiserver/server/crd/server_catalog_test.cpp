#include "crd/server_catalog.hpp"

#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

namespace kopp::apiserver {
namespace {

TEST(ServerCatalogTest, AStrategyIsThatOfItsResource) {
  StrategiesByKind strategies;
  strategies["deployments.apps"].allows_create_on_update = true;
  const auto catalog = ServerCatalog(std::move(strategies));
  EXPECT_TRUE(StrategyOf(*catalog->Find("apps", "v1", "deployments")).allows_create_on_update);
  EXPECT_FALSE(StrategyOf(*catalog->Find("apps", "v1", "replicasets")).allows_create_on_update);
}

TEST(ServerCatalogTest, AStrategyForAnUnknownResourceIsRejected) {
  StrategiesByKind strategies;
  strategies["deployment.apps"].allows_create_on_update = true;
  EXPECT_THROW((void)ServerCatalog(std::move(strategies)), std::invalid_argument);
}

}  // namespace
}  // namespace kopp::apiserver
