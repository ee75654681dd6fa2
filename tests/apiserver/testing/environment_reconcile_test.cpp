#include "environment_operators.hpp"

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/owner.hpp>
#include <kopp/testing/environment.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::Environment;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(EnvironmentTest, ReconcileReturnsTheResultOfTheReconciler) {
  Environment env;
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));

  const Result result = env.Reconcile<ConfigMap>(settings, MarkAsSeen);

  EXPECT_EQ(result.requeue_after, 5min);
  EXPECT_TRUE(env.client().Get<ConfigMap>(settings)->data.contains("seen"));
}

TEST(EnvironmentTest, ReconcileThrowsTheExceptionOfTheReconciler) {
  Environment env;
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));

  EXPECT_THROW(env.Reconcile<ConfigMap>(settings, Fail), std::runtime_error);
}

TEST(EnvironmentTest, ReconcileThrowsIfTheReconcilerCreatesAnOwnedObjectInAnotherNamespace) {
  Environment env;
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));
  const auto reconcile = [](const ConfigMap& map, Context& context) {
    Secret secret{.metadata = OwnedBy(map, "token")};
    secret.metadata.ns = "kube-public";
    context.client.Create(secret);
    return Result{};
  };

  try {
    env.Reconcile<ConfigMap>(settings, reconcile);
    FAIL() << "no exception";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("ConfigMap default/settings cannot own kube-public/token"));
  }
  EXPECT_THAT(env.Writes(), IsEmpty());
}

TEST(EnvironmentTest, TheCacheOfReconcileContainsTheObjectsOfAllItsKinds) {
  Environment env;
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));
  env.client().Create<ConfigMap>(ConfigMapNamed("other"));
  env.client().Create<Secret>(ConfigMapNamed("secret"));
  std::size_t maps = 0;
  std::size_t secrets = 0;

  env.Reconcile<ConfigMap, Secret>(settings, [&](const ConfigMap&, Context& context) {
    maps = context.cache.List<ConfigMap>("default").size();
    secrets = context.cache.List<Secret>("default").size();
    return Result{};
  });

  EXPECT_EQ(maps, 2U);
  EXPECT_EQ(secrets, 1U);
}

TEST(EnvironmentTest, ReconcileOfAMissingObjectThrowsWithTheExistingObjects) {
  Environment env;
  env.client().Create<ConfigMap>(ConfigMapNamed("setings"));

  try {
    env.Reconcile<ConfigMap>(settings, MarkAsSeen);
    FAIL() << "no exception";
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("ConfigMap default/settings does not exist; objects of this kind: "
                                "default/setings"),
                      HasSubstr("call ReconcileDeleted")));
  }
}

TEST(EnvironmentTest, ReconcileInANamespaceThatTheOperatorDoesNotWatchThrows) {
  Environment env{{.watch_namespace = "other"}};
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));

  EXPECT_THROW(env.Reconcile<ConfigMap>(settings, MarkAsSeen), std::logic_error);
}

TEST(EnvironmentTest, ReconcileDeletedCallsOnlyReconcilersThatTakeAKey) {
  Environment env;
  int times = 0;

  env.ReconcileDeleted<ConfigMap>(settings, [&](const ConfigMap&, Context&) {
    times += 1;
    return Result{};
  });
  EXPECT_EQ(times, 0);
  env.ReconcileDeleted<ConfigMap>(settings, [&](const ObjectKey& key, Context& context) {
    times += key == settings && !context.cache.Get<ConfigMap>(key) ? 1 : 0;
    return Result{};
  });
  EXPECT_EQ(times, 1);
}

TEST(EnvironmentTest, ReconcileDeletedOfAnExistingObjectThrows) {
  Environment env;
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));

  EXPECT_THROW(env.ReconcileDeleted<ConfigMap>(settings, MarkAsSeen), std::invalid_argument);
}

TEST(EnvironmentTest, ReconcileThrowsForAKindThatTheServerDoesNotHave) {
  Environment env;
  const auto nothing = [](const Gadget&, Context&) { return Result{}; };

  EXPECT_THROW(env.Reconcile<Gadget>(settings, nothing), ApiError);
}

TEST(EnvironmentTest, WritesSentAndEventsContainOnlyRequestsOfTheOperator) {
  Environment env;
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));
  EXPECT_THAT(env.Writes(), IsEmpty());

  env.Reconcile<ConfigMap>(settings, MarkAsSeen);

  EXPECT_THAT(env.Writes(), ElementsAre("patch configmaps default/settings"));
  EXPECT_EQ(env.Sent("patch configmaps default/settings"), json({{"data", {{"seen", "yes"}}}}));
  EXPECT_THAT(env.Events(), ElementsAre("Normal Seen: the map was seen"));
}

TEST(EnvironmentTest, TheEventsOfAllReconcilesAtOneFakeTimeAreKept) {
  testing::FakeClock clock;
  Environment env{{.clock = clock}};
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));

  const auto report = [](const ConfigMap& map, Context& context) -> Result {
    context.events.Normal(map, "Seen", "the map was seen");
    return {};
  };
  for (int i = 0; i < 4; ++i) env.Reconcile<ConfigMap>(settings, report);

  EXPECT_EQ(env.Events(), std::vector<std::string>(4, "Normal Seen: the map was seen"));
  EXPECT_EQ(env.client().Dynamic(Kind{"v1", "Event", "events"}).List().size(), 4U);
}

TEST(EnvironmentTest, SentThrowsWithTheListOfWritesIfThereIsNoMatch) {
  Environment env;
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));
  env.Reconcile<ConfigMap>(settings, MarkAsSeen);

  try {
    static_cast<void>(env.Sent("update configmaps default/settings"));
    FAIL() << "no exception";
  } catch (const std::out_of_range& error) {
    EXPECT_THAT(error.what(), HasSubstr("\n  patch configmaps default/settings"));
  }
}

}  // namespace
}  // namespace kopp
