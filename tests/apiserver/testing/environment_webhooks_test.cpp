// Tests the webhooks of an operator in its Environment.
#include <chrono>
#include <latch>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/environment.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using ::testing::ElementsAre;
using testing::Environment;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

FieldErrors RequireColor(const ConfigMap& map) {
  if (map.data.contains("color")) return {};
  return {field::Required("data.color")};
}

/// Creates a ConfigMap in the namespace default.
ConfigMap CreateConfigMap(Environment& env, const std::string& name, const StringMap& data) {
  return env.client().Create(ConfigMap{.metadata = {.name = name, .ns = "default"}, .data = data});
}

/// Returns the message of the ApiError of a create, or "".
std::string CreateError(Environment& env, const StringMap& data) {
  try {
    CreateConfigMap(env, "rejected", data);
  } catch (const ApiError& error) {
    return error.what();
  }
  return "";
}

TEST(EnvironmentWebhooksTest, TheServerCallsTheWebhooksOfTheManager) {
  Environment env;
  env.manager()
      .AddWebhook<ConfigMap>()
      .Default([](ConfigMap& map) { map.data.emplace("size", "1"); })
      .Validate(RequireColor);
  env.ServeWebhooks();

  EXPECT_EQ(CreateConfigMap(env, "a", {{"color", "red"}}).data,
            StringMap({{"color", "red"}, {"size", "1"}}));
  EXPECT_THAT(CreateError(env, {{"size", "2"}}),
              HasSubstr("denied the request: ConfigMap \"rejected\" is invalid: data.color: "
                        "Required value"));
}

TEST(EnvironmentWebhooksTest, ADeletionCanBeDenied) {
  Environment env;
  env.manager().AddWebhook<ConfigMap>().ValidateDelete([](const ConfigMap& map) {
    if (map.data.contains("keep")) throw AdmissionDenied("it is kept");
  });
  env.ServeWebhooks();
  CreateConfigMap(env, "kept", {{"keep", "yes"}});
  CreateConfigMap(env, "gone", {});

  EXPECT_THROW(env.client().Delete<ConfigMap>({"default", "kept"}), ApiError);
  env.client().Delete<ConfigMap>({"default", "gone"});

  EXPECT_TRUE(env.client().Get<ConfigMap>({"default", "kept"}));
  EXPECT_FALSE(env.client().Get<ConfigMap>({"default", "gone"}));
}

TEST(EnvironmentWebhooksTest, AFunctionMayReadAndWriteObjects) {
  Environment env;
  env.manager().AddWebhook<Secret>().Validate([](const Secret& secret, AdmissionContext& context) {
    const std::string& name = secret.metadata.name;
    const auto map = context.client.Get<ConfigMap>({"default", name});
    if (!map) throw AdmissionDenied("there is no ConfigMap " + name);
    context.client.Create(Namespace{.metadata = {.name = map->data.at("namespace")}});
  });
  env.ServeWebhooks();
  CreateConfigMap(env, "pair", {{"namespace", "written"}});
  const auto create = [&](const std::string& name) {
    env.client().Create(Secret{.metadata = {.name = name, .ns = "default"}});
  };

  EXPECT_THROW(create("single"), ApiError);
  EXPECT_FALSE(env.client().Get<Namespace>({"", "written"}));
  create("pair");

  EXPECT_TRUE(env.client().Get<Namespace>({"", "written"}));
  EXPECT_TRUE(env.client().Get<Secret>({"default", "pair"}));
  EXPECT_FALSE(env.client().Get<Secret>({"default", "single"}));
  EXPECT_THAT(env.Writes(), ElementsAre("create namespaces written"));
}

TEST(EnvironmentWebhooksTest, WritesOfTheOperatorAreCheckedToo) {
  Environment env;
  env.manager().AddWebhook<ConfigMap>().Validate(RequireColor);
  env.ServeWebhooks();
  const auto reconcile = [](const Secret& secret, Context& context) {
    context.client.Create(ConfigMap{.metadata = {.name = secret.metadata.name, .ns = "default"}});
    return Result{};
  };
  env.client().Create(Secret{.metadata = {.name = "s", .ns = "default"}});

  EXPECT_THROW(env.Reconcile<Secret>({"default", "s"}, reconcile), ApiError);
  EXPECT_THAT(env.Writes(), ElementsAre("create configmaps default/s: 422 Invalid"));
}

TEST(EnvironmentWebhooksTest, StartServesTheWebhooksOfARunningOperator) {
  Environment env;
  env.manager().AddWebhook<ConfigMap>().Validate(RequireColor);
  const auto running = env.StartScoped();

  EXPECT_THAT(CreateError(env, {}), HasSubstr("data.color: Required value"));
}

TEST(EnvironmentWebhooksTest, WithoutWebhooksNothingIsInstalled) {
  Environment env;
  env.ServeWebhooks();

  constexpr Kind kConfigurations{"admissionregistration.k8s.io/v1",
                                 "ValidatingWebhookConfiguration",
                                 "validatingwebhookconfigurations", Scope::kCluster};
  EXPECT_THAT(env.client().Dynamic(kConfigurations).List(), IsEmpty());
}

TEST(EnvironmentWebhooksTest, TheTimeLimitOfTheServerIsThatOfTheFakeClock) {
  testing::FakeClock clock;
  Environment env{{.clock = clock}};
  env.manager()
      .AddWebhook<ConfigMap>({.timeout = std::chrono::seconds(3)})
      .Validate([](const ConfigMap&, AdmissionContext& context) {
        static_cast<void>(SleepUntil(context.clock, TimePoint::max(), context.stop));
        throw AdmissionDenied("too late");
      });
  env.ServeWebhooks();
  std::string error;

  {
    const std::jthread create([&] { error = CreateError(env, {}); });
    clock.AwaitSleepers(2);  // the function, and the timer of its time limit
    clock.Advance(std::chrono::seconds(3));
  }

  EXPECT_THAT(error, HasSubstr("failed calling webhook \"validate.v1.configmaps.core\": failed to "
                               "call webhook: Post \"https://webhooks.operator.svc:443/"));
  EXPECT_THAT(error, HasSubstr(": context deadline exceeded"));
}

TEST(EnvironmentWebhooksTest, AnOperatorWhoseDelayedWebhookWaitsForItsStopCanEnd) {
  testing::FakeClock clock;
  Environment env{{.clock = clock}};
  env.manager().AddWebhook<ConfigMap>().Validate(
      [](const ConfigMap&, AdmissionContext& context) -> FieldErrors {
        static_cast<void>(SleepUntil(context.clock, TimePoint::max(), context.stop));
        return {};
      });
  std::latch is_reconciling(1);
  env.manager().AddController<Secret>().Reconcile([&](const Secret& secret,
                                                      Context& context) -> Result {
    is_reconciling.count_down();
    context.client.Create(ConfigMap{.metadata = {.name = secret.metadata.name, .ns = "default"}});
    return {};
  });
  env.client().Create(Secret{.metadata = {.name = "s", .ns = "default"}});
  env.server().Inject(
      {.type = testing::Fault::Type::kWebhookLatency, .delay = std::chrono::seconds(5)});

  const auto running = env.StartScoped();

  is_reconciling.wait();
}

TEST(EnvironmentWebhooksTest, AFunctionThatWritesAnObjectForWhichItIsCalledFails) {
  Environment env;
  env.manager().AddWebhook<ConfigMap>().Validate(
      [](const ConfigMap& map, AdmissionContext& context) {
        const ObjectMeta metadata{.name = map.metadata.name + "x", .ns = "default"};
        context.client.Create(ConfigMap{.metadata = metadata});
      });
  env.ServeWebhooks();

  EXPECT_THAT(CreateError(env, {}), HasSubstr("a webhook must not write objects that it reviews"));
}

}  // namespace
}  // namespace kopp
