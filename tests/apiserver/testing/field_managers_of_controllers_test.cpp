// Tests of the field managers of the controllers of one program.
#include <atomic>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/conditions.hpp>
#include <kopp/controller/with_finalizer.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/environment.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::Environment;
using ::testing::UnorderedElementsAre;

struct Site {
  static constexpr Kind kKind{"example.com/v1", "Site", "sites"};
  struct Status {
    std::vector<Condition> conditions = {};
  };
  ObjectMeta metadata = {};
  Status status = {};
};
KOPP_FIELDS(Site::Status, conditions)
KOPP_FIELDS(Site, metadata, status)

json SiteCrd() {
  return json::parse(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"sites.example.com"},
    "spec":{"group":"example.com","names":{"kind":"Site","plural":"sites"},"scope":"Namespaced",
      "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
        "schema":{"openAPIV3Schema":{"type":"object","properties":{
          "spec":{"type":"object","properties":{"host":{"type":"string"}}},"status":{"type":"object",
          "properties":{"conditions":{"type":"array","x-kubernetes-list-type":"map",
            "x-kubernetes-list-map-keys":["type"],
            "items":{"type":"object","required":["type"],
                     "x-kubernetes-preserve-unknown-fields":true,
                     "properties":{"type":{"type":"string"}}}}}}}}}}]}})");
}

class FieldManagersOfControllersTest : public ::testing::Test {
 protected:
  FieldManagersOfControllersTest() { env_.InstallObject(SiteCrd()); }

  /// Returns a reconcile function that writes one condition, as docs/concepts.md shows.
  auto WriteCondition(const char* type) {
    return [this, type](const Site& site, Context& context) {
      ++reconciles_;
      Site::Status status{.conditions = SelectConditions(site.status.conditions, {type})};
      SetCondition(status.conditions, {.type = type,
                                       .status = "True",
                                       .observedGeneration = site.metadata.generation.value(),
                                       .reason = "Checked"});
      ApplyStatusIfChanged(context.client, site, status);
      return Result{};
    };
  }
  static auto ApplyKey(const char* key) {
    return [key](const Site&, Context& context) {
      context.client.Apply(Shared({{key, "1"}}));
      return Result{};
    };
  }
  static ConfigMap Shared(const std::map<std::string, std::string>& data) {
    return {.metadata = {.name = "shared", .ns = "default"}, .data = data};
  }
  void CreateSite(const std::string& name) {
    env_.client().Create<Site>({{"metadata", {{"name", name}, {"namespace", "default"}}},
                                {"spec", {{"host", "example.com"}}}});
  }
  /// Waits until the object has these conditions and no other ones.
  void AwaitConditions(const std::string& name, const std::set<std::string>& types) {
    const auto has_types = [types](const Site& site) {
      std::set<std::string> present;
      for (const Condition& condition : site.status.conditions) present.insert(condition.type);
      return present == types;
    };
    EXPECT_TRUE(env_.Eventually<Site>({"default", name}, has_types));
  }
  void AwaitWrites(std::size_t count) {
    EXPECT_TRUE(env_.Eventually([&] { return env_.Writes().size() >= count; }));
  }
  /// Returns the managers of an object except the test: "operator/dns Apply status".
  std::set<std::string> Managers(const Kind& kind, const std::string& name) {
    std::set<std::string> managers;
    const json object = env_.client().Dynamic(kind).Get({"default", name}).value().Json();
    for (const json& entry : object["metadata"].value("managedFields", json::array())) {
      if (entry["manager"] == "test") continue;
      std::string manager = entry["manager"].get<std::string>() + ' ';
      manager += entry["operation"].get<std::string>();
      if (entry.contains("subresource")) manager += ' ' + entry["subresource"].get<std::string>();
      managers.insert(manager);
    }
    return managers;
  }
  /// Returns a client of an operator that was built with kopp 0.1.
  Client OldOperator() { return env_.client().WithFieldManager("operator"); }

  std::atomic<int> reconciles_ = 0;
  Environment env_;
};

TEST_F(FieldManagersOfControllersTest, TwoControllersWriteTheirConditionsOfOneStatusOnceEach) {
  env_.manager().AddController<Site>({.name = "dns"}).Reconcile(WriteCondition("DnsReady"));
  env_.manager().AddController<Site>({.name = "cert"}).Reconcile(WriteCondition("CertReady"));
  const auto running = env_.StartScoped();
  CreateSite("a");
  AwaitConditions("a", {"DnsReady", "CertReady"});

  // All events of "a" are before those of "b", so its reconciles have ended.
  CreateSite("b");
  AwaitConditions("b", {"DnsReady", "CertReady"});

  AwaitWrites(4);  // the audit log has a write after the object has changed
  EXPECT_THAT(env_.Writes(),
              UnorderedElementsAre("patch sites/status default/a", "patch sites/status default/a",
                                   "patch sites/status default/b", "patch sites/status default/b"));
  AwaitConditions("a", {"DnsReady", "CertReady"});
  EXPECT_LE(reconciles_, 12) << "each of two controllers: created, and two writes of the status";
  EXPECT_THAT(Managers(Site::kKind, "a"),
              ElementsAre("operator/cert Apply status", "operator/dns Apply status"));
}

TEST_F(FieldManagersOfControllersTest, TwoControllersApplyTheirFieldsOfOneChild) {
  env_.manager().AddController<Site>({.name = "dns"}).Reconcile(ApplyKey("dns"));
  env_.manager().AddController<Site>({.name = "cert"}).Reconcile(ApplyKey("cert"));
  const auto running = env_.StartScoped();

  CreateSite("a");

  EXPECT_TRUE(env_.Eventually<ConfigMap>(
      {"default", "shared"}, [](const ConfigMap& map) { return map.data.size() == 2; }));
}

TEST_F(FieldManagersOfControllersTest, FinalizersAndErrorHooksWriteAsTheController) {
  const auto on_error = [](const ReconcileError&, Context& context) {
    context.client.Apply(Shared({{"error", "1"}}));
  };
  env_.manager()
      .AddController<Site>({.on_error = on_error})
      .Reconcile(WithFinalizer<Site>(
          "example.com/site",
          [](const Site&, Context&) -> Result { throw TerminalError("the spec is wrong"); },
          [](const Site&, Context&) {}));
  const auto running = env_.StartScoped();

  CreateSite("a");

  EXPECT_TRUE(env_.Eventually<ConfigMap>({"default", "shared"}));
  EXPECT_THAT(Managers(ConfigMap::kKind, "shared"), ElementsAre("operator/site Apply"));
  EXPECT_THAT(Managers(Site::kKind, "a"), Contains("operator/site Update"));
}

TEST_F(FieldManagersOfControllersTest, TheFirstWriteTakesOverWhatTheOldOperatorHasApplied) {
  CreateSite("a");
  const Site site = env_.client().Get<Site>({"default", "a"}).value();
  Site::Status status;
  for (const char* type : {"Old", "DnsReady"}) {
    SetCondition(status.conditions, {.type = type, .status = "False", .reason = "Starting"});
  }
  OldOperator().ApplyStatus(site, status);
  OldOperator().Apply(Shared({{"old", "1"}, {"dns", "1"}}));
  env_.manager()
      .AddController<Site>({.name = "dns"})
      .Reconcile([&](const Site& object, Context& context) {
        ApplyKey("dns")(object, context);
        return WriteCondition("DnsReady")(object, context);
      });
  const auto running = env_.StartScoped();

  AwaitConditions("a", {"DnsReady"});

  EXPECT_THAT(Managers(Site::kKind, "a"), ElementsAre("operator/dns Apply status"));
  EXPECT_THAT(Managers(ConfigMap::kKind, "shared"), ElementsAre("operator/dns Apply"));
  EXPECT_EQ(env_.client().Get<ConfigMap>({"default", "shared"})->data.size(), 1U);
}

TEST_F(FieldManagersOfControllersTest, AStatusThatDoesNotChangeStaysWithTheOldOperator) {
  CreateSite("a");
  const Site site = env_.client().Get<Site>({"default", "a"}).value();
  Site::Status status;
  SetCondition(status.conditions, {.type = "DnsReady",
                                   .status = "True",
                                   .observedGeneration = site.metadata.generation.value(),
                                   .reason = "Checked"});
  OldOperator().ApplyStatus(site, status);
  env_.manager().AddController<Site>({.name = "dns"}).Reconcile(WriteCondition("DnsReady"));
  const auto running = env_.StartScoped();
  CreateSite("b");
  AwaitConditions("b", {"DnsReady"});

  EXPECT_THAT(Managers(Site::kKind, "a"), ElementsAre("operator Apply status"));
}

TEST_F(FieldManagersOfControllersTest, SeveralControllersTakeOverWhatTheOldOperatorHasApplied) {
  CreateSite("a");
  const Site site = env_.client().Get<Site>({"default", "a"}).value();
  Site::Status status;
  SetCondition(status.conditions, {.type = "DnsReady", .status = "False", .reason = "Starting"});
  OldOperator().ApplyStatus(site, status);
  env_.manager().AddController<Site>({.name = "dns"}).Reconcile(WriteCondition("DnsReady"));
  env_.manager().AddController<Site>({.name = "cert"}).Reconcile(WriteCondition("CertReady"));
  const auto running = env_.StartScoped();
  const auto are_true = [](const Site& object) {
    return IsConditionTrue(object.status.conditions, "DnsReady") &&
           IsConditionTrue(object.status.conditions, "CertReady");
  };
  EXPECT_TRUE(env_.Eventually<Site>({"default", "a"}, are_true));
  CreateSite("b");
  AwaitConditions("b", {"DnsReady", "CertReady"});

  EXPECT_TRUE(are_true(env_.client().Get<Site>({"default", "a"}).value()));
  EXPECT_THAT(Managers(Site::kKind, "a"),
              ElementsAre("operator/cert Apply status", "operator/dns Apply status"));
  EXPECT_LE(env_.Writes().size(), 6U)
      << "at most one more than two for each object and one release";
}

TEST_F(FieldManagersOfControllersTest, AControllerMayKeepTheOldFieldManager) {
  env_.manager()
      .AddController<Site>({.name = "dns", .field_manager = "operator"})
      .Reconcile(WriteCondition("DnsReady"));
  env_.manager().AddController<Site>({.name = "cert"}).Reconcile(WriteCondition("CertReady"));
  const auto running = env_.StartScoped();
  CreateSite("a");
  AwaitConditions("a", {"DnsReady", "CertReady"});
  CreateSite("b");
  AwaitConditions("b", {"DnsReady", "CertReady"});

  AwaitWrites(4);
  EXPECT_EQ(env_.Writes().size(), 4U) << "the other controller does not take it over";
  EXPECT_THAT(Managers(Site::kKind, "a"),
              ElementsAre("operator Apply status", "operator/cert Apply status"));
}

TEST_F(FieldManagersOfControllersTest, AControllerTakesOverItsFormerFieldManagersOnly) {
  OldOperator().Apply(Shared({{"default", "1"}}));
  env_.client().WithFieldManager("shop/site").Apply(Shared({{"renamed", "1"}}));
  env_.manager()
      .AddController<Site>({.former_field_managers = {{"shop/site"}}})
      .Reconcile(ApplyKey("site"));
  const auto running = env_.StartScoped();

  CreateSite("a");

  EXPECT_TRUE(env_.Eventually<ConfigMap>({"default", "shared"}, [](const ConfigMap& map) {
    return map.data == std::map<std::string, std::string>{{"default", "1"}, {"site", "1"}};
  }));
}

TEST_F(FieldManagersOfControllersTest, TheClientOfTheManagerWritesAsTheProgram) {
  EXPECT_EQ(env_.manager().client().field_manager(), "operator");
  EXPECT_EQ(env_.manager().leader_client().field_manager(), "operator");
}

}  // namespace
}  // namespace kopp
