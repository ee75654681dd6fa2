#include "environment_operators.hpp"
#include "support/scratch_folder.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>

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
using ::testing::ElementsAre;
using testing::Environment;
using ::testing::HasSubstr;
using Type = testing::Fault::Type;

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
