#include "types.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/crd.hpp>
#include <kopp/manager.hpp>
#include <kopp/testing/environment.hpp>

namespace {

using kopp::Options;
using nlohmann::json;
using testing::HasSubstr;

constexpr kopp::Kind kDefinitions{"apiextensions.k8s.io/v1", "CustomResourceDefinition",
                                  "customresourcedefinitions", kopp::Scope::kCluster};

kopp::Result DoNothing(const crd_types::Foo& /*foo*/, kopp::Context& /*context*/) { return {}; }

TEST(InstallCrdsTest, AKindIsServedAfterItsInstallation) {
  kopp::testing::Environment env;
  const kopp::CustomResourceDefinition all[] = {kopp::CustomResourceDefinitionOf<crd_types::Foo>()};
  kopp::InstallCrds(env.client(), all);
  env.client().Create<crd_types::Foo>(json{{"metadata", {{"name", "a"}, {"namespace", "default"}}},
                                           {"spec", {{"deploymentName", "web"}}}});
  kopp::InstallCrds(env.client(), all);  // again, without a change
}

TEST(InstallCrdsTest, NamesThatAnotherDefinitionHasAreReported) {
  kopp::testing::Environment env;
  json other = kopp::CustomResourceDefinitionOf<crd_types::Foo>().object();
  other["metadata"]["name"] = "others.example.com";
  other["spec"]["names"] = {{"kind", "Foo"}, {"plural", "others"}};
  env.InstallObject(other);
  const kopp::CustomResourceDefinition all[] = {kopp::CustomResourceDefinitionOf<crd_types::Foo>()};
  try {
    kopp::InstallCrds(env.client(), all);
    FAIL() << "the installation should fail";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("cannot install the CustomResourceDefinition foos.example.com: its names "
                          "are not accepted (ListKindConflict: \"FooList\" is already in use)"));
  }
}

TEST(InstallCrdsTest, TheManagerInstallsTheKindsOfItsControllersAndAddedOnes) {
  kopp::testing::Environment env;
  env.manager().AddController<crd_types::Foo>().Reconcile(DoNothing);
  env.manager().AddCrd<crd_types::Tenant>();
  env.manager().InstallCrds();
  EXPECT_TRUE(env.client().Get(kDefinitions, {"", "foos.example.com"}));
  EXPECT_TRUE(env.client().Get(kDefinitions, {"", "tenants.example.com"}));
}

TEST(InstallCrdsTest, PrintCrdPrintsEachDefinitionOnce) {
  kopp::Manager manager({.action = Options::Action::kPrintCrd});
  manager.AddController<crd_types::Foo>({.name = "a"}).Reconcile(DoNothing);
  manager.AddController<crd_types::Foo>({.name = "b"}).Reconcile(DoNothing);
  manager.AddCrd<crd_types::Tenant>();
  testing::internal::CaptureStdout();
  EXPECT_EQ(manager.Run(std::stop_token()), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            kopp::CustomResourceDefinitionOf<crd_types::Foo>().ToYaml() + "---\n" +
                kopp::CustomResourceDefinitionOf<crd_types::Tenant>().ToYaml());
}

TEST(InstallCrdsTest, PrintCrdFailsWithoutADefinition) {
  kopp::Manager manager({.action = Options::Action::kPrintCrd});
  testing::internal::CaptureStdout();
  EXPECT_EQ(manager.Run(std::stop_token()), 1);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(InstallCrdsTest, TheOptionInstallsBeforeTheCachesStart) {
  kopp::testing::Environment env;
  Options options;
  options.install_crds = true;
  options.transport = std::shared_ptr<kopp::Transport>(&env.server().transport(), [](auto*) {});
  kopp::Manager manager(std::move(options));
  std::stop_source stop;
  manager.AddController<crd_types::Foo>().Reconcile(
      [&](const crd_types::Foo& /*foo*/, kopp::Context& /*context*/) {
        stop.request_stop();
        return kopp::Result{};
      });
  const std::stop_callback created(manager.Elected(), [&] {
    env.client().Create<crd_types::Foo>(
        json{{"metadata", {{"name", "a"}, {"namespace", "default"}}},
             {"spec", {{"deploymentName", "web"}}}});
  });
  EXPECT_EQ(manager.Run(stop.get_token()), 0);
  const auto permissions = manager.Permissions();
  EXPECT_TRUE(std::any_of(permissions.begin(), permissions.end(), [](const auto& permission) {
    return permission.resource == "customresourcedefinitions";
  }));
}

}  // namespace
