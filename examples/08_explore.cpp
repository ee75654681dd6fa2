// Finds a bug that ordinary tests miss: Explore disturbs an operator at each place of a scenario.
#include <iostream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include <kopp/framework.hpp>
#include <kopp/testing/explore.hpp>

using kopp::ConfigMap;

constexpr const char* kFinalizer = "example.com/bucket";

// The names of the buckets in a fake cloud. They remain when the operator crashes.
static std::set<std::string> buckets;

static kopp::Result CreateBucket(const ConfigMap& map, kopp::Context& /*ctx*/) {
  buckets.insert(map.metadata.name);
  return {};
}

static void RemoveBucket(const ConfigMap& map, kopp::Context& /*ctx*/) {
  buckets.erase(map.metadata.name);
}

// Keeps a bucket for each ConfigMap. It has a bug: the bucket exists before the finalizer does.
static kopp::Result KeepBucket(const ConfigMap& map, kopp::Context& ctx) {
  if (map.metadata.deletionTimestamp) {
    RemoveBucket(map, ctx);
    kopp::RemoveFinalizer(ctx.client, map, kFinalizer);
    return {};
  }
  CreateBucket(map, ctx);
  kopp::AddFinalizer(ctx.client, map, kFinalizer);
  return {};
}

static void AddBuggyController(kopp::Manager& manager) {
  manager.AddController<ConfigMap>().Reconcile(KeepBucket);
}

// Adds the corrected controller: WithFinalizer stores the finalizer before it calls CreateBucket.
static void AddController(kopp::Manager& manager) {
  manager.AddController<ConfigMap>().Reconcile(
      kopp::WithFinalizer<ConfigMap>(kFinalizer, CreateBucket, RemoveBucket));
}

static const kopp::testing::Scenario scenario{
    .start = [](const kopp::Client& /*client*/) { buckets.clear(); },
    .steps = {{"the user creates the ConfigMap photos",
               [](const kopp::Client& client) {
                 client.Create(ConfigMap{.metadata = {.name = "photos", .ns = "default"}});
               }},
              {"the user deletes the ConfigMap photos",
               [](const kopp::Client& client) {
                 client.Delete<ConfigMap>({"default", "photos"});
               }}},
    .outside_state = [] { return testing::PrintToString(buckets); }};

TEST(BucketTest, ExploreFindsTheBucketThatIsNeverRemoved) {
  const auto result = kopp::testing::Explore(scenario, AddBuggyController);

  ASSERT_FALSE(result.findings.empty());
  std::cout << result;
  EXPECT_EQ(result.findings.front().schedule, "down-before:1");
}

TEST(BucketTest, TheCorrectedOperatorSurvivesAllDisturbances) {
  EXPECT_TRUE(kopp::testing::Explore(scenario, AddController));
}

// Repeats the run of the finding: Explore prints this regression test at the end of its report.
TEST(BucketTest, ADeletionWhileTheOperatorIsDownRemovesTheBucket) {
  EXPECT_TRUE(kopp::testing::Replay(scenario, AddController, "down-before:1"));
}
