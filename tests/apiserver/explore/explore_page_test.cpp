// The code of docs/explore.md.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/framework.hpp>
#include <kopp/json.hpp>
#include <kopp/testing/explore.hpp>

namespace explore_page {

using kopp::ConfigMap;
using kopp::Secret;
using testing::HasSubstr;

// Creates a Secret for each ConfigMap, and notes in an annotation that it has done so.
kopp::Result CreateToken(const ConfigMap& map, kopp::Context& ctx) {
  if (map.metadata.annotations.contains("example.com/token")) return {};
  const std::string name = map.metadata.name + "-token";
  ctx.client.Create(Secret{.metadata = kopp::OwnedBy(map, name)});
  const ConfigMap change{.metadata = {.annotations = {{"example.com/token", name}}}};
  ctx.client.Patch<ConfigMap>(ctx.key, kopp::Patch::Merge(change));
  return {};
}

const kopp::testing::Scenario scenario{
    .steps = {{"the user creates the ConfigMap app", [](const kopp::Client& client) {
                 client.Create(ConfigMap{.metadata = {.name = "app", .ns = "default"}});
               }}}};

void AddController(kopp::Manager& manager) {
  manager.AddController<ConfigMap>().Owns<Secret>().Cached().Reconcile(CreateToken);
}

constexpr const char* kStory =
    R"(   1. the operator starts and lists its objects
   2. STEP: the user creates the ConfigMap app
   3. the test: create configmaps default/app → 201
   4. event 1 for the cache: configmaps ADDED default/app
   5. the operator reconciles configmap default/app
   6. call 1: create secrets default/app-token → 201
   7. ** crash-after:1: the process crashes after this call
   8. the process has ended; what it had in memory is lost
   9. the operator starts and lists its objects
  10. the operator reconciles configmap default/app
  11. call 2: create secrets default/app-token → 409 secrets "app-token" already exists
)";

TEST(ExplorePageTest, TheOperatorOfThePageFailsWithTheStoryOfThePage) {
  EXPECT_FALSE(kopp::testing::Explore(scenario, AddController).findings.empty());
  const auto result = kopp::testing::Replay(scenario, AddController, "crash-after:1");
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_THAT(result.findings.front().story, HasSubstr(kStory));
  EXPECT_THAT(result.findings.front().problem,
              HasSubstr("configmaps default/app /metadata/annotations: "
                        "{\"example.com/token\":\"app-token\"} in the undisturbed run, unset in "
                        "this run"));
}

// Corrected: the Secret may exist already.
kopp::Result EnsureToken(const ConfigMap& map, kopp::Context& ctx) {
  const std::string name = map.metadata.name + "-token";
  const auto secret = ctx.cache.Get<Secret>({map.metadata.ns, name});
  if (!secret) ctx.client.Create(Secret{.metadata = kopp::OwnedBy(map, name)});
  if (map.metadata.annotations.contains("example.com/token")) return {};
  const ConfigMap change{.metadata = {.annotations = {{"example.com/token", name}}}};
  ctx.client.Patch<ConfigMap>(ctx.key, kopp::Patch::Merge(change));
  return {};
}

void AddCorrected(kopp::Manager& manager) {
  manager.AddController<ConfigMap>().Owns<Secret>().Cached().Reconcile(EnsureToken);
}

TEST(TokenTest, TheOperatorSurvivesAllDisturbances) {
  EXPECT_TRUE(kopp::testing::Explore(scenario, AddCorrected));
}

TEST(TokenTest, ACrashAfterTheCreationOfTheSecretIsHarmless) {
  EXPECT_TRUE(kopp::testing::Replay(scenario, AddCorrected, "crash-after:1"));
}

}  // namespace explore_page
