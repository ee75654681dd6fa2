#include "environment_operators.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>
#include <kopp/testing/environment.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using testing::Environment;
using ::testing::HasSubstr;

TEST(EnvironmentTest, EventuallySucceedsWhenTheOperatorHasChangedTheObject) {
  Environment env{{.timeout = 1h}};
  env.manager().AddController<ConfigMap>().Reconcile(MarkAsSeen);
  env.Start();

  env.client().Create<ConfigMap>(ConfigMapNamed("settings"));

  EXPECT_TRUE(env.Eventually<ConfigMap>(settings, IsSeen));
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

}  // namespace
}  // namespace kopp
