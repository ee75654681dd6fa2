#include "support/scratch_folder.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/owner.hpp>
#include <kopp/permission.hpp>
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
using Type = testing::Fault::Type;

const ObjectKey settings{"default", "settings"};

json ConfigMapNamed(const std::string& name) {
  return {{"metadata", {{"name", name}, {"namespace", "default"}}}};
}

/// A reconciler that sets the key "seen" of a ConfigMap and records an Event.
Result MarkAsSeen(const ConfigMap& map, Context& context) {
  if (map.data.contains("seen")) return {};
  context.client.Patch<ConfigMap>(KeyOf(map), Patch::Merge({{"data", {{"seen", "yes"}}}}));
  context.events.Normal(map, "Seen", "the map was seen");
  return {.requeue_after = 5min};
}

bool IsSeen(const ConfigMap& map) { return map.data.contains("seen"); }

Result Fail(const ConfigMap& /*map*/, Context& /*context*/) {
  throw std::runtime_error("the reconciler failed");
}

struct Gadget {  // a kind that the server does not have
  static constexpr Kind kKind{"example.com/v1", "Gadget", "gadgets"};
  ObjectMeta metadata = {};
};
KOPP_FIELDS(Gadget, metadata)

TEST(EnvironmentTest, EventuallySucceedsWhenTheOperatorHasChangedTheObject) {
  Environment env{{.timeout = 1h}};
  env.manager().AddController<ConfigMap>().Reconcile(MarkAsSeen);
  env.Start();

  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));

  EXPECT_TRUE(env.Eventually<ConfigMap>(settings, IsSeen));
}

/// Creates a Secret with the name of the ConfigMap that owns it.
Result CreateOwnedSecret(const ConfigMap& map, Context& context) {
  context.client.Create(Secret{.metadata = OwnedBy(map, map.metadata.name)});
  return {};
}

Permission CreatesSecrets() { return PermissionFor(Secret::kKind, {"create"}); }

TEST(EnvironmentTest, AnUndeclaredWriteFailsIfPermissionsAreEnforced) {
  Environment env{{.enforce_permissions = true}};
  env.manager().AddController<ConfigMap>().Owns<Secret>().Reconcile(CreateOwnedSecret);
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));

  EXPECT_THROW(env.Reconcile<ConfigMap>(settings, CreateOwnedSecret), ApiError);
  EXPECT_THAT(env.Writes(), ElementsAre("create secrets default/settings: 403 Forbidden"));
}

TEST(EnvironmentTest, ADeclaredWriteOfAnOwnedObjectSucceedsIfPermissionsAreEnforced) {
  Environment env{{.enforce_permissions = true}};
  env.manager().AddController<ConfigMap>().Owns<Secret>().Reconcile(CreateOwnedSecret);
  env.manager().Declare(CreatesSecrets());
  env.Start();

  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));

  EXPECT_TRUE(env.Eventually<Secret>(settings));
}

TEST(EnvironmentTest, AnOwnerReferenceOfAControllerWithoutOwnsFailsIfPermissionsAreEnforced) {
  Environment env{{.enforce_permissions = true}};
  env.manager().AddController<ConfigMap>().Reconcile(CreateOwnedSecret);
  env.manager().Declare(CreatesSecrets());
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));

  try {
    env.Reconcile<ConfigMap>(settings, CreateOwnedSecret);
    FAIL() << "the Secret was created";
  } catch (const ApiError& error) {
    EXPECT_THAT(error.what(), HasSubstr("you can't set finalizers on"));
  }
}

TEST(EnvironmentTest, EnforcedPermissionsAreLimitedToTheWatchedNamespaces) {
  Environment env{{.watch_namespace = "default", .enforce_permissions = true}};
  env.manager().AddController<ConfigMap>().Reconcile(MarkAsSeen);
  env.manager().Declare(PermissionFor(ConfigMap::kKind, {"patch"}));
  const auto reconcile = [](const ConfigMap&, Context& context) {
    context.client.Patch<ConfigMap>({"kube-public", "other"},
                                    Patch::Merge({{"data", {{"seen", "yes"}}}}));
    return Result{};
  };
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));

  env.Reconcile<ConfigMap>(settings, MarkAsSeen);
  EXPECT_THROW(env.Reconcile<ConfigMap>(settings, reconcile), ApiError);

  EXPECT_THAT(env.Writes(), ElementsAre("patch configmaps default/settings",
                                        "patch configmaps kube-public/other: 403 Forbidden"));
}

/// A write with a misspelt field.
void CreateWithMisspeltField(const Client& client) {
  json map = ConfigMapNamed("settings");
  map["dat"] = {{"color", "red"}};
  client.Create<ConfigMap>(map);
}

TEST(EnvironmentTest, AWriteWithAnUnknownFieldFailsForTheTestAndForTheOperator) {
  Environment env;
  env.client().Create<ConfigMap>(ConfigMapNamed("other"));

  EXPECT_THROW(CreateWithMisspeltField(env.client()), ApiError);
  EXPECT_THROW(CreateWithMisspeltField(env.manager().client()), ApiError);
  const auto reconcile = [](const ConfigMap&, Context& context) {
    CreateWithMisspeltField(context.client);
    return Result{};
  };
  EXPECT_THROW(env.Reconcile<ConfigMap>({"default", "other"}, reconcile), ApiError);
}

TEST(EnvironmentTest, FieldValidationCanBeRelaxed) {
  Environment env{{.field_validation = FieldValidation::kWarn}};

  EXPECT_NO_THROW(CreateWithMisspeltField(env.manager().client()));
}

TEST(EnvironmentTest, EventuallyGoneSucceedsWhenTheOperatorHasDeletedTheObject) {
  Environment env{{.timeout = 1h}};
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));
  env.manager().AddController<ConfigMap>().Reconcile([](const ConfigMap& map, Context& context) {
    context.client.Delete<ConfigMap>(KeyOf(map));
    return Result{};
  });
  env.Start();

  EXPECT_TRUE(env.EventuallyGone<ConfigMap>(settings));
}

TEST(EnvironmentTest, EventuallyPollsAConditionWithoutWritesToTheServer) {
  Environment env{{.timeout = 1h}};
  std::atomic<bool> checked = false;
  std::atomic<bool> done = false;
  const std::jthread other([&] {
    while (!checked) std::this_thread::yield();
    done = true;
  });

  EXPECT_TRUE(env.Eventually([&] {
    const bool was_done = done;
    checked = true;
    return was_done;
  }));
}

TEST(EnvironmentTest, AFailureMessageContainsTheObject) {
  Environment env{{.timeout = 0s}};
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));

  const auto result = env.Eventually<ConfigMap>(settings, IsSeen);

  EXPECT_FALSE(static_cast<bool>(result));
  EXPECT_THAT(result.message(), AllOf(HasSubstr("ConfigMap default/settings is\n{"),
                                      HasSubstr("\"namespace\": \"default\""),
                                      HasSubstr("the operator was not started")));
  EXPECT_THAT(result.message(), ::testing::Not(HasSubstr("managedFields")));
}

TEST(EnvironmentTest, AFailureMessageListsTheExistingObjectsOfTheKind) {
  Environment env{{.timeout = 0s}};
  env.client().Create<ConfigMap>(ConfigMapNamed("setings"));

  EXPECT_THAT(env.Eventually<ConfigMap>(settings).message(),
              HasSubstr("ConfigMap default/settings does not exist; objects of this kind: "
                        "default/setings"));
}

TEST(EnvironmentTest, AFailureMessageContainsTheErrorForAnUnknownKind) {
  Environment env{{.timeout = 0s}};

  EXPECT_THAT(env.Eventually<Gadget>(settings).message(), HasSubstr("404"));
}

TEST(EnvironmentTest, AFailureMessageContainsTheWritesEventsAndLogOfTheOperator) {
  Environment env{{.timeout = 0s}};
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));
  env.Reconcile<ConfigMap>(settings, MarkAsSeen);
  env.manager().AddController<ConfigMap>().Reconcile(Fail);
  env.Start();
  const auto message = [&] {
    return std::string(env.EventuallyGone<ConfigMap>(settings).message());
  };
  // The worker and the informer's watch start at the same time.
  while (env.Log().find("the reconciler failed") == std::string::npos ||
         message().find("watch configmaps") == std::string::npos) {
    std::this_thread::yield();
  }

  EXPECT_THAT(message(), AllOf(HasSubstr("the operator is running"),
                               HasSubstr("its writes:\n  patch configmaps default/settings\n"),
                               HasSubstr("its last requests:\n"), HasSubstr("  watch configmaps\n"),
                               HasSubstr("its Events:\n  Normal Seen: the map was seen\n"),
                               HasSubstr("err=\"the reconciler failed\"")));
}

TEST(EnvironmentTest, AssertionResultHasTheFailureMessage) {
  Environment env{{.timeout = 0s}};

  // The conversion that EXPECT_TRUE makes.
  const ::testing::AssertionResult result(env.Eventually<ConfigMap>(settings));

  EXPECT_FALSE(result);
  EXPECT_THAT(result.message(), HasSubstr("ConfigMap default/settings does not exist"));
}

TEST(EnvironmentTest, EventuallyFailsWithoutWaitingIfTheServerDoesNotHaveTheOperatorsKind) {
  Environment env{{.timeout = 1h}};
  env.manager().AddController<Gadget>().Reconcile([](const Gadget&, Context&) { return Result{}; });
  env.Start();

  EXPECT_THAT(env.Eventually<ConfigMap>(settings).message(),
              AllOf(HasSubstr("the operator has stopped with exit code 1"),
                    HasSubstr("the API server does not serve gadgets")));
  EXPECT_EQ(env.Stop(), 1);
}

TEST(EnvironmentTest, EventuallyFailsWithoutWaitingIfTheManagerIsMisconfigured) {
  Environment env{{.timeout = 1h}};
  static_cast<void>(env.manager().AddController<ConfigMap>());
  env.Start();

  EXPECT_THAT(env.Eventually<ConfigMap>(settings).message(),
              AllOf(HasSubstr("the operator has stopped with exit code 1"),
                    HasSubstr("\"configmap\" was added without .Reconcile")));
  EXPECT_EQ(env.Stop(), 1);
}

/// Tests with an operator whose call is delayed by a fault, with a clock that does not advance.
class EnvironmentWithDelayedCallTest : public ::testing::Test {
 protected:
  void StartOperator(Environment& env) {
    env.server().Inject({.type = Type::kLatency, .verb = "patch", .delay = 7s});
    env.client().Create<ConfigMap>(ConfigMapNamed("settings"));
    env.manager().AddController<ConfigMap>().Reconcile(MarkAsSeen);
    env.Start();
    clock.AwaitSleeperFor(7s);
  }

  testing::FakeClock clock;
};

TEST_F(EnvironmentWithDelayedCallTest, DestructorStopsTheOperator) {
  const auto start = clock.Now();
  {
    Environment env{{.clock = clock, .timeout = 1h}};
    StartOperator(env);
  }

  EXPECT_EQ(clock.Now(), start);  // the destructor did not need the clock to advance
}

TEST_F(EnvironmentWithDelayedCallTest, StopAbortsTheCallAfterTheTimeout) {
  Environment env{{.clock = clock, .timeout = 0s}};
  StartOperator(env);

  EXPECT_EQ(env.Stop(), 0);
}

TEST(EnvironmentTest, NoReconcilerRunsAfterTheScopedOperatorIsDestroyed) {
  Environment env;
  auto reconciles = std::make_unique<std::atomic<int>>(0);
  {
    env.manager().AddController<ConfigMap>().Reconcile([&](const ConfigMap&, Context&) {
      ++*reconciles;
      return Result{.requeue_after = 1ms};
    });
    const auto running = env.StartScoped();
    env.client().Create<ConfigMap>(ConfigMapNamed("settings"));
    ASSERT_TRUE(env.Eventually([&] { return *reconciles > 1; }));
  }
  reconciles.reset();  // AddressSanitizer reports an access after this line

  env.client().Create<ConfigMap>(ConfigMapNamed("other"));

  EXPECT_EQ(env.Stop(), 0);
  EXPECT_THROW(env.Start(), std::logic_error);
}

TEST_F(EnvironmentWithDelayedCallTest, DestroyingTheScopedOperatorAbortsPendingCalls) {
  const auto start = clock.Now();
  Environment env{{.clock = clock, .timeout = 1h}};
  env.server().Inject({.type = Type::kLatency, .verb = "patch", .delay = 7s});
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));
  env.manager().AddController<ConfigMap>().Reconcile(MarkAsSeen);
  {
    const auto running = env.StartScoped();
    clock.AwaitSleeperFor(7s);
  }

  EXPECT_EQ(clock.Now(), start);
  EXPECT_THAT(env.Eventually([] { return false; }).message(),
              HasSubstr("the operator has stopped with exit code 0"));
}

TEST(EnvironmentTest, StopReturnsZeroAfterTheOperatorHasWrittenItsEvents) {
  Environment env;
  env.manager().AddController<ConfigMap>().Reconcile(MarkAsSeen);
  env.Start();
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));
  ASSERT_TRUE(env.Eventually<ConfigMap>(settings, IsSeen));

  EXPECT_EQ(env.Stop(), 0);
  EXPECT_THAT(env.Events(), ElementsAre("Normal Seen: the map was seen"));
  EXPECT_THROW(env.Start(), std::logic_error);
}

TEST(EnvironmentTest, TheOperatorUsesTheClockOfTheOptions) {
  testing::FakeClock clock;
  std::atomic<int> times = 0;
  Environment env{{.clock = clock}};
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));
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
  EXPECT_EQ(env.client().List(Kind{"v1", "Event", "events"}).size(), 4U);
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

TEST(EnvironmentTest, FaultsAffectOnlyTheOperator) {
  Environment env;
  env.server().Inject({.type = Type::kConflict});
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));

  EXPECT_THROW(env.Reconcile<ConfigMap>(settings, MarkAsSeen), ApiError);

  EXPECT_THAT(env.Writes(), ElementsAre("patch configmaps default/settings: 409 Conflict"));
}

TEST(EnvironmentTest, TheOperatorContinuesAfterAServerRestart) {
  Environment env;
  env.manager().AddController<ConfigMap>().Reconcile(MarkAsSeen);
  env.client().Create<ConfigMap>(ConfigMapNamed("first"));
  env.Start();
  ASSERT_TRUE(env.Eventually<ConfigMap>({"default", "first"}, IsSeen));

  env.server().Restart();
  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));

  EXPECT_TRUE(env.Eventually<ConfigMap>(settings, IsSeen));
}

TEST(EnvironmentTest, InstallObjectCreatesTheObject) {
  Environment env;
  json map = ConfigMapNamed("settings");
  map.update({{"apiVersion", "v1"}, {"kind", "ConfigMap"}});

  env.InstallObject(map);

  EXPECT_TRUE(env.client().Get<ConfigMap>(settings));
}

TEST(EnvironmentTest, InstallCreatesCustomResourceDefinitionsFirst) {
  const testing::ScratchFolder folder;
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

TEST(EnvironmentTest, InstallThrowsWithTheErrorOfTheServer) {
  Environment env;

  EXPECT_THROW(env.Install("not/there.yaml"), std::runtime_error);
  try {
    env.InstallObject({{"apiVersion", "example.com/v1"}, {"kind", "Gadget"}});
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the server does not serve example.com/v1"));
  }
}

}  // namespace
}  // namespace kopp
