#include "program/scratch_folder.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
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
using What = testing::Fault::What;

const ObjectKey settings{"default", "settings"};

json Named(const std::string& name) {
  return {{"metadata", {{"name", name}, {"namespace", "default"}}}};
}

/// Writes into a ConfigMap that it was seen.
Result MarkAsSeen(const ConfigMap& map, Context& context) {
  if (map.data.contains("seen")) return {};
  context.client.Patch<ConfigMap>(KeyOf(map), Patch::Merge({{"data", {{"seen", "yes"}}}}));
  context.events.Normal(map, "Seen", "it was looked at");
  return {.requeue_after = 5min};
}

bool IsSeen(const ConfigMap& map) { return map.data.contains("seen"); }

Result Refuse(const ConfigMap& /*map*/, Context& /*context*/) {
  throw std::runtime_error("it is not to my liking");
}

struct Gadget {  // of a kind that no server has
  static constexpr Kind kKind{"example.com/v1", "Gadget", "gadgets"};
  ObjectMeta metadata = {};
};
KOPP_FIELDS(Gadget, metadata)

TEST(EnvironmentTest, AnOperatorIsSeenToDoItsWork) {
  Environment env{{.patience = 1h}};
  env.manager().AddController<ConfigMap>().Reconcile(MarkAsSeen);
  env.Start();

  env.client().Create<ConfigMap>(Named("settings"));

  EXPECT_TRUE(env.Eventually<ConfigMap>(settings, IsSeen));
}

TEST(EnvironmentTest, AnObjectIsSeenToGo) {
  Environment env{{.patience = 1h}};
  env.client().Create<ConfigMap>(Named("settings"));
  env.manager().AddController<ConfigMap>().Reconcile([](const ConfigMap& map, Context& context) {
    context.client.Delete<ConfigMap>(KeyOf(map));
    return Result{};
  });
  env.Start();

  EXPECT_TRUE(env.EventuallyGone<ConfigMap>(settings));
}

TEST(EnvironmentTest, WhatTheServerDoesNotKnowIsLookedAtToo) {
  Environment env{{.patience = 1h}};
  std::atomic<bool> looked = false;
  std::atomic<bool> done = false;
  const std::jthread other([&] {
    while (!looked) std::this_thread::yield();
    done = true;
  });

  EXPECT_TRUE(env.Eventually([&] {
    const bool was_done = done;
    looked = true;
    return was_done;
  }));
}

TEST(EnvironmentTest, AFailureTellsTheObjectAsItIs) {
  Environment env{{.patience = 0s}};
  env.client().Create<ConfigMap>(Named("settings"));

  const auto verdict = env.Eventually<ConfigMap>(settings, IsSeen);

  EXPECT_FALSE(static_cast<bool>(verdict));
  EXPECT_THAT(verdict.message(), AllOf(HasSubstr("ConfigMap default/settings is\n{"),
                                       HasSubstr("\"namespace\": \"default\""),
                                       HasSubstr("the operator was not started")));
  EXPECT_THAT(verdict.message(), ::testing::Not(HasSubstr("managedFields")));
}

TEST(EnvironmentTest, AFailureTellsWhatIsThereInstead) {
  Environment env{{.patience = 0s}};
  env.client().Create<ConfigMap>(Named("setings"));

  EXPECT_THAT(env.Eventually<ConfigMap>(settings).message(),
              HasSubstr("there is no ConfigMap default/settings; of its kind there are: "
                        "default/setings"));
}

TEST(EnvironmentTest, AFailureTellsThatTheServerHasNoSuchKind) {
  Environment env{{.patience = 0s}};

  EXPECT_THAT(env.Eventually<Gadget>(settings).message(), HasSubstr("404"));
}

TEST(EnvironmentTest, AFailureTellsWhatTheOperatorDid) {
  Environment env{{.patience = 0s}};
  env.client().Create<ConfigMap>(Named("settings"));
  env.Reconcile<ConfigMap>(settings, MarkAsSeen);
  env.manager().AddController<ConfigMap>().Reconcile(Refuse);
  env.Start();
  while (env.Log().find("not to my liking") == std::string::npos) std::this_thread::yield();

  EXPECT_THAT(env.EventuallyGone<ConfigMap>(settings).message(),
              AllOf(HasSubstr("the operator is at work"),
                    HasSubstr("its writes:\n  patch configmaps default/settings\n"),
                    HasSubstr("its Events:\n  Normal Seen: it was looked at\n"),
                    HasSubstr("err=\"it is not to my liking\"")));
}

TEST(EnvironmentTest, AnAssertionPrintsWhatWasSeen) {
  Environment env{{.patience = 0s}};

  const ::testing::AssertionResult result(env.Eventually<ConfigMap>(settings));  // EXPECT_TRUE's

  EXPECT_FALSE(result);
  EXPECT_THAT(result.message(), HasSubstr("there is no ConfigMap default/settings"));
}

TEST(EnvironmentTest, AnOperatorThatCannotStartIsNotWaitedFor) {
  Environment env{{.patience = 1h}};
  env.manager().AddController<Gadget>().Reconcile([](const Gadget&, Context&) { return Result{}; });
  env.Start();

  EXPECT_THAT(env.Eventually<ConfigMap>(settings).message(),
              AllOf(HasSubstr("the operator has ended with code 1"),
                    HasSubstr("the API server does not serve gadgets")));
  EXPECT_EQ(env.Stop(), 1);
}

TEST(EnvironmentTest, AnOperatorThatIsPutTogetherWronglyIsNotWaitedFor) {
  Environment env{{.patience = 1h}};
  static_cast<void>(env.manager().AddController<ConfigMap>());
  env.Start();

  EXPECT_THAT(env.Eventually<ConfigMap>(settings).message(),
              AllOf(HasSubstr("the operator has ended with code 1"),
                    HasSubstr("\"configmap\" was added without .Reconcile")));
  EXPECT_EQ(env.Stop(), 1);
}

/// An operator that waits for an answer, by a clock that stands still.
class HeldBackEnvironmentTest : public ::testing::Test {
 protected:
  void StartIn(Environment& env) {
    env.server().Inject({.what = What::kLatency, .verb = "patch", .delay = 7s});
    env.client().Create<ConfigMap>(Named("settings"));
    env.manager().AddController<ConfigMap>().Reconcile(MarkAsSeen);
    env.Start();
    clock.AwaitSleeperFor(7s);
  }

  testing::FakeClock clock;
};

TEST_F(HeldBackEnvironmentTest, ItsOperatorGoesWithIt) {
  const auto began = clock.Now();
  {
    Environment env{{.clock = clock, .patience = 1h}};
    StartIn(env);
  }

  EXPECT_EQ(clock.Now(), began);  // nobody had to let time pass for it
}

TEST_F(HeldBackEnvironmentTest, ItsOperatorIsStoppedWhenThePatienceIsAtAnEnd) {
  Environment env{{.clock = clock, .patience = 0s}};
  StartIn(env);

  EXPECT_EQ(env.Stop(), 0);
}

TEST(EnvironmentTest, AnOperatorIsStoppedAsByASignal) {
  Environment env;
  env.manager().AddController<ConfigMap>().Reconcile(MarkAsSeen);
  env.Start();
  env.client().Create<ConfigMap>(Named("settings"));
  ASSERT_TRUE(env.Eventually<ConfigMap>(settings, IsSeen));

  EXPECT_EQ(env.Stop(), 0);
  EXPECT_THAT(env.Events(), ElementsAre("Normal Seen: it was looked at"));
  EXPECT_THROW(env.Start(), std::logic_error);
}

TEST(EnvironmentTest, ItsTimeIsThatOfTheClockItIsGiven) {
  testing::FakeClock clock;
  Environment env{{.clock = clock}};
  env.client().Create<ConfigMap>(Named("settings"));
  std::atomic<int> times = 0;
  env.manager().AddController<ConfigMap>().Reconcile([&](const ConfigMap&, Context&) {
    ++times;
    return Result{.requeue_after = 5min};
  });
  env.Start();
  clock.AwaitSleeperFor(5min);
  EXPECT_EQ(times, 1);

  clock.Advance(5min);

  EXPECT_TRUE(env.Eventually([&] { return times == 2; }));
}

TEST(EnvironmentTest, OneReconcileReturnsItsResult) {
  Environment env;
  env.client().Create<ConfigMap>(Named("settings"));

  const Result result = env.Reconcile<ConfigMap>(settings, MarkAsSeen);

  EXPECT_EQ(result.requeue_after, 5min);
  EXPECT_TRUE(env.client().Get<ConfigMap>(settings)->data.contains("seen"));
}

TEST(EnvironmentTest, OneReconcileThrowsWhatItThrows) {
  Environment env;
  env.client().Create<ConfigMap>(Named("settings"));

  EXPECT_THROW(env.Reconcile<ConfigMap>(settings, Refuse), std::runtime_error);
}

TEST(EnvironmentTest, AReconcilersCacheHoldsWhatItReads) {
  Environment env;
  env.client().Create<ConfigMap>(Named("settings"));
  env.client().Create<ConfigMap>(Named("other"));
  env.client().Create<Secret>(Named("secret"));
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

TEST(EnvironmentTest, AnObjectThatIsGoneIsReconciledByItsKeyAlone) {
  Environment env;
  int times = 0;

  env.Reconcile<ConfigMap>(settings, [&](const ConfigMap&, Context&) {
    times += 1;
    return Result{};
  });
  EXPECT_EQ(times, 0);
  env.Reconcile<ConfigMap>(settings, [&](const ObjectKey& key, Context& context) {
    times += key == settings && !context.cache.Get<ConfigMap>(key) ? 1 : 0;
    return Result{};
  });
  EXPECT_EQ(times, 1);
}

TEST(EnvironmentTest, AKindThatTheServerDoesNotHaveIsNotWaitedFor) {
  Environment env;
  const auto nothing = [](const Gadget&, Context&) { return Result{}; };

  EXPECT_THROW(env.Reconcile<Gadget>(settings, nothing), ApiError);
}

TEST(EnvironmentTest, OnlyTheOperatorsWritesAreTold) {
  Environment env;
  env.client().Create<ConfigMap>(Named("settings"));
  EXPECT_THAT(env.Writes(), IsEmpty());

  env.Reconcile<ConfigMap>(settings, MarkAsSeen);

  EXPECT_THAT(env.Writes(), ElementsAre("patch configmaps default/settings"));
  EXPECT_EQ(env.Sent("patch configmaps default/settings"), json({{"data", {{"seen", "yes"}}}}));
  EXPECT_THAT(env.Events(), ElementsAre("Normal Seen: it was looked at"));
}

TEST(EnvironmentTest, AWriteThatWasNotMadeIsAMistakeOfTheTest) {
  Environment env;
  env.client().Create<ConfigMap>(Named("settings"));
  env.Reconcile<ConfigMap>(settings, MarkAsSeen);

  try {
    static_cast<void>(env.Sent("update configmaps default/settings"));
    FAIL() << "it returned";
  } catch (const std::out_of_range& error) {
    EXPECT_THAT(error.what(), HasSubstr("\n  patch configmaps default/settings"));
  }
}

TEST(EnvironmentTest, FaultsBefallTheOperatorAlone) {
  Environment env;
  env.server().Inject({.what = What::kConflict});
  env.client().Create<ConfigMap>(Named("settings"));

  EXPECT_THROW(env.Reconcile<ConfigMap>(settings, MarkAsSeen), ApiError);

  EXPECT_THAT(env.Writes(), ElementsAre("patch configmaps default/settings: 409 Conflict"));
}

TEST(EnvironmentTest, AnOperatorOutlivesARestartOfTheServer) {
  Environment env;
  env.manager().AddController<ConfigMap>().Reconcile(MarkAsSeen);
  env.client().Create<ConfigMap>(Named("first"));
  env.Start();
  ASSERT_TRUE(env.Eventually<ConfigMap>({"default", "first"}, IsSeen));

  env.server().Restart();
  env.client().Create<ConfigMap>(Named("settings"));

  EXPECT_TRUE(env.Eventually<ConfigMap>(settings, IsSeen));
}

TEST(EnvironmentTest, AnObjectIsInstalled) {
  Environment env;
  json map = Named("settings");
  map.update({{"apiVersion", "v1"}, {"kind", "ConfigMap"}});

  env.InstallObject(map);

  EXPECT_TRUE(env.client().Get<ConfigMap>(settings));
}

TEST(EnvironmentTest, AFileIsInstalledWithItsKindsFirst) {
  const apiserver::ScratchFolder folder;
  const auto file = folder.Write("gadgets.yaml", R"(
apiVersion: example.com/v1
kind: Gadget
metadata: {name: settings}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  names: {kind: Gadget, plural: gadgets}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
)");
  Environment env;

  env.Install(file);

  EXPECT_TRUE(env.client().Get<Gadget>(settings));
}

TEST(EnvironmentTest, WhatCannotBeInstalledIsSaidWithTheServersWords) {
  Environment env;

  EXPECT_THROW(env.Install("not/there.yaml"), std::runtime_error);
  try {
    env.InstallObject({{"apiVersion", "example.com/v1"}, {"kind", "Gadget"}});
    FAIL() << "it returned";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the server has no example.com/v1"));
  }
}

}  // namespace
}  // namespace kopp
