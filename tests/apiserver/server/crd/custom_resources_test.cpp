#include "crd/custom_resources.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::apiserver {
namespace {

using ::testing::ElementsAre;

TEST(IsPreferredVersionTest, StableVersionsPrecedeBetaAndAlphaAndNewerPrecedeOlder) {
  std::vector<std::string> versions{"foo",      "v1beta1", "v2",       "v1",     "v10",
                                    "v1alpha1", "bar",     "v2alpha1", "v1beta2"};

  std::sort(versions.begin(), versions.end(), &IsPreferredVersion);

  EXPECT_THAT(versions, ElementsAre("v10", "v2", "v1", "v1beta2", "v1beta1", "v2alpha1", "v1alpha1",
                                    "bar", "foo"));
}

}  // namespace
}  // namespace kopp::apiserver
