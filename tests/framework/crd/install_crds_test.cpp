#include "types.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/crd.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/manager.hpp>
#include <kopp/testing/environment.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace {

using kopp::Options;
using nlohmann::json;
using testing::HasSubstr;
using namespace std::chrono_literals;

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
    kopp::InstallCrds(env.client(), all, {.names_timeout = kopp::Duration::zero()});
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
  EXPECT_TRUE(env.client().Dynamic(kDefinitions).Get({"", "foos.example.com"}));
  EXPECT_TRUE(env.client().Dynamic(kDefinitions).Get({"", "tenants.example.com"}));
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

/// Installs crd_types::Foo on a scripted server, whose clock stands still.
class AwaitedCrdTest : public testing::Test {
 protected:
  static constexpr const char* kCollection =
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  static constexpr const char* kDiscovery = "/apis/example.com/v1";
  static constexpr const char* kObjects = "/apis/example.com/v1/foos";

  AwaitedCrdTest() {
    transport_.Respond("PATCH", std::string(kCollection) + "/foos.example.com", 200, Definition());
    SetState(Definition({{"NamesAccepted", "True"}, {"Established", "True"}}));
    transport_.Respond("GET", kDiscovery, 200,
                       R"({"kind":"APIResourceList","groupVersion":)"
                       R"("example.com/v1","resources":[{"name":"foos","kind":"Foo",)"
                       R"("namespaced":true,"verbs":["list"]}]})");
    transport_.Respond("GET", kObjects, 200, R"({"items":[]})");
  }

  using Conditions = std::vector<std::pair<std::string, std::string>>;
  static std::string Definition(const Conditions& conditions = {}, const json& metadata = {}) {
    json list = json::array();
    for (const auto& [type, status] : conditions) {
      list.push_back({{"type", type}, {"status", status}, {"reason", "R"}, {"message", "m"}});
    }
    json definition{{"apiVersion", "apiextensions.k8s.io/v1"},
                    {"kind", "CustomResourceDefinition"},
                    {"metadata", {{"name", "foos.example.com"}, {"resourceVersion", "1"}}},
                    {"status", {{"conditions", list}}}};
    if (metadata.is_object()) definition["metadata"].update(metadata);
    return definition.dump();
  }
  void SetState(const std::string& definition) {
    transport_.Respond("GET", kCollection, 200,
                       R"({"kind":"CustomResourceDefinitionList","metadata":)"
                       R"({"resourceVersion":"1"},"items":[)" +
                           definition + "]}");
  }
  void SendChange(const std::string& definition, const std::string& type = "MODIFIED") {
    transport_.SendToWatch(kCollection,
                           R"({"type":")" + type + R"(","object":)" + definition + "}\n");
  }
  std::future<void> Install() {
    return std::async(std::launch::async, [this] {
      const kopp::CustomResourceDefinition all[] = {
          kopp::CustomResourceDefinitionOf<crd_types::Foo>()};
      kopp::InstallCrds(client_, all, {.clock = clock_});
    });
  }
  static std::string ErrorOf(std::future<void> installation) {
    try {
      installation.get();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  kopp::testing::FakeClock clock_;
  kopp::testing::ScriptedTransport transport_{clock_};
  kopp::Client client_{transport_};
};

TEST_F(AwaitedCrdTest, AConflictOfNamesFromTheStateBeforeIsNoError) {
  SetState(Definition({{"NamesAccepted", "False"}, {"Established", "True"}}));
  auto installation = Install();
  transport_.Await("WATCH", kCollection);
  SetState(Definition({{"NamesAccepted", "True"}, {"Established", "True"}}));
  SendChange(Definition({{"NamesAccepted", "True"}, {"Established", "True"}}));

  EXPECT_EQ(ErrorOf(std::move(installation)), "");
}

TEST_F(AwaitedCrdTest, AConflictOfNamesThatLastsFiveSecondsIsReported) {
  SetState(Definition({{"NamesAccepted", "False"}, {"Established", "False"}}));
  auto installation = Install();
  transport_.Await("WATCH", kCollection);
  clock_.AwaitSleeperFor(5s);
  clock_.Advance(5s);

  EXPECT_EQ(ErrorOf(std::move(installation)),
            "cannot install the CustomResourceDefinition foos.example.com: its names are not "
            "accepted (R: m): change them, or delete the definition that has them");
}

TEST_F(AwaitedCrdTest, AVersionThatIsAddedToAnEstablishedDefinitionIsAwaited) {
  transport_.Respond("GET", kDiscovery, 404, "404 page not found");
  auto installation = Install();
  transport_.Await("GET", kDiscovery);
  clock_.AwaitSleepers(1);
  EXPECT_EQ(installation.wait_for(0s), std::future_status::timeout);
  transport_.Respond("GET", kDiscovery, 200,
                     R"({"kind":"APIResourceList","groupVersion":)"
                     R"("example.com/v1","resources":[{"name":"foos","kind":"Foo"}]})");
  clock_.Advance(100ms);

  EXPECT_EQ(ErrorOf(std::move(installation)), "");
}

TEST_F(AwaitedCrdTest, AVersionThatIsOnlyInDiscoveryIsAwaited) {
  transport_.Respond("GET", kObjects, 404, "404 page not found");
  auto installation = Install();
  transport_.Await("GET", kObjects);
  clock_.AwaitSleepers(1);
  EXPECT_EQ(installation.wait_for(0s), std::future_status::timeout);
  transport_.Respond("GET", kObjects, 403, "{}");
  clock_.Advance(100ms);

  EXPECT_EQ(ErrorOf(std::move(installation)), "");
}

TEST_F(AwaitedCrdTest, AVersionThatIsNotServedInTimeIsReported) {
  transport_.Respond("GET", kDiscovery, 200,
                     R"({"kind":"APIResourceList","groupVersion":)"
                     R"("example.com/v1","resources":[{"name":"bars","kind":"Bar"}]})");
  auto installation = Install();
  transport_.Await("GET", kDiscovery);
  clock_.AwaitSleepers(1);
  clock_.Advance(30s);

  EXPECT_EQ(ErrorOf(std::move(installation)),
            "cannot install the CustomResourceDefinition foos.example.com: the API server does "
            "not serve its version v1 in time");
}

TEST_F(AwaitedCrdTest, ADefinitionThatIsBeingDeletedIsCreatedAgain) {
  const json deleted{{"deletionTimestamp", "2026-01-01T00:00:00Z"}};
  SetState(Definition({{"Established", "True"}}, deleted));
  auto installation = Install();
  transport_.Await("WATCH", kCollection);
  SetState(Definition({{"Established", "True"}}));
  SendChange(Definition({{"Established", "True"}}, deleted), "DELETED");

  EXPECT_EQ(ErrorOf(std::move(installation)), "");
  EXPECT_EQ(transport_.Await("PATCH", std::string(kCollection) + "/foos.example.com", 2).size(),
            2U);
}

TEST_F(AwaitedCrdTest, ADefinitionWhoseDeletionDoesNotEndIsReported) {
  SetState(Definition({{"Established", "True"}}, {{"deletionTimestamp", "2026-01-01T00:00:00Z"}}));
  auto installation = Install();
  transport_.Await("WATCH", kCollection);
  clock_.AwaitSleeperFor(30s);
  clock_.Advance(30s);

  EXPECT_EQ(ErrorOf(std::move(installation)),
            "cannot install the CustomResourceDefinition foos.example.com: it is still being "
            "deleted; see its finalizers");
}

TEST_F(AwaitedCrdTest, ADefinitionThatIsNotEstablishedInTimeIsReported) {
  SetState(Definition({{"NamesAccepted", "True"}}));
  auto installation = Install();
  transport_.Await("WATCH", kCollection);
  clock_.AwaitSleeperFor(30s);
  clock_.Advance(30s);

  EXPECT_EQ(ErrorOf(std::move(installation)),
            "cannot install the CustomResourceDefinition foos.example.com: the API server has not "
            "established it in time");
}

}  // namespace
