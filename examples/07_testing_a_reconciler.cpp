// Tests a reconcile function against an API server in memory.
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/framework.hpp>
#include <kopp/testing/environment.hpp>

using kopp::ConfigMap;
using testing::ElementsAre;
using Fault = kopp::testing::Fault;

// The function to test: labels each ConfigMap with the number of its keys.
static kopp::Result LabelSize(const ConfigMap& map, kopp::Context& ctx) {
  const std::string size = std::to_string(map.data.size());
  const auto label = map.metadata.labels.find("size");
  if (label != map.metadata.labels.end() && label->second == size) return {};
  const ConfigMap change{.metadata = {.labels = {{"size", size}}}};
  ctx.client.Patch<ConfigMap>(ctx.key, kopp::Patch::Merge(change));
  return {};
}

class LabelSizeTest : public testing::Test {
 protected:
  LabelSizeTest() {
    env_.client().Create(
        ConfigMap{.metadata = {.name = "settings", .ns = "default"}, .data = {{"a", "1"}}});
  }

  const kopp::ObjectKey key_{"default", "settings"};
  kopp::testing::Environment env_;
};

TEST_F(LabelSizeTest, OneReconcileSetsTheLabelAndTheNextOneWritesNothing) {
  env_.Reconcile<ConfigMap>(key_, LabelSize);
  env_.Reconcile<ConfigMap>(key_, LabelSize);

  EXPECT_EQ(env_.client().Get<ConfigMap>(key_)->metadata.labels.at("size"), "1");
  EXPECT_THAT(env_.Writes(), ElementsAre("patch configmaps default/settings"));
}

TEST_F(LabelSizeTest, AFailedWriteIsThrownSoThatTheQueueRetries) {
  env_.server().Inject({.type = Fault::Type::kServerError, .verb = "patch", .times = 1});

  EXPECT_THROW(env_.Reconcile<ConfigMap>(key_, LabelSize), kopp::ApiError);
}

TEST_F(LabelSizeTest, TheRunningOperatorUpdatesTheLabelAfterAChangeAndAConflict) {
  env_.manager().AddController<ConfigMap>().Reconcile(LabelSize);
  env_.Start();
  EXPECT_TRUE(env_.Eventually<ConfigMap>(
      key_, [](const ConfigMap& map) { return map.metadata.labels.contains("size"); }));

  env_.server().Inject({.type = Fault::Type::kConflict, .verb = "patch", .times = 1});
  env_.client().Patch<ConfigMap>(key_, kopp::Patch::Merge(ConfigMap{.data = {{"b", "2"}}}));

  EXPECT_TRUE(env_.Eventually<ConfigMap>(
      key_, [](const ConfigMap& map) { return map.metadata.labels.at("size") == "2"; }));
}
