#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/create_or_update.hpp>
#include <kopp/k8s/apps/v1/deployment.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp::k8s {
namespace {

using apps::v1::Deployment;
using nlohmann::json;

constexpr const char* kPath = "/apis/apps/v1/namespaces/shop/deployments/web";

/// A Deployment with fields that the struct does not have, at each level.
json StoredDeployment() {
  return json::parse(R"({
    "apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop", "managedFields": [{"manager": "m"}]},
    "spec": {
      "replicas": 1, "future": true,
      "selector": {"matchLabels": {"app": "web"}},
      "template": {"spec": {"containers": [
        {"name": "web", "image": "web:1", "resources": {"limits": {"memory": "1024Mi"}}, "future": 1},
        {"name": "proxy", "image": "proxy:1", "future": 2}
      ]}}
    }
  })");
}

/// Fixture with a server that stores a Deployment and answers a PUT with its body.
class TypedCreateOrUpdateTest : public ::testing::Test {
 protected:
  TypedCreateOrUpdateTest() {
    transport_.Respond("GET", kPath, 200, StoredDeployment().dump());
    transport_.On("PUT", kPath, [](const ApiRequest& request) {
      return ApiResponse{.status = 200, .body = request.body};
    });
  }

  json LastBody() { return json::parse(transport_.Requests().back().body); }

  const ObjectKey key_{"shop", "web"};
  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_, "test"};
};

TEST_F(TypedCreateOrUpdateTest, FieldsThatTheStructDoesNotHaveAreKept) {
  const auto outcome = CreateOrUpdate<Deployment>(client_, key_, [](Deployment& web) {
    web.spec.replicas = 3;
    web.spec.template_.spec.containers.at(0).image = "web:2";
    web.metadata.labels["team"] = "shop";
  });

  json expected = StoredDeployment();
  expected["spec"]["replicas"] = 3;
  expected["spec"]["template"]["spec"]["containers"][0]["image"] = "web:2";
  expected["metadata"]["labels"]["team"] = "shop";
  EXPECT_EQ(LastBody(), expected);
  EXPECT_EQ(outcome.result, OperationResult::kUpdated);
  EXPECT_EQ(outcome.object.spec.replicas, 3);
}

TEST_F(TypedCreateOrUpdateTest, AnItemOfAListKeepsItsUnknownFieldsWhenOthersAreInsertedOrRemoved) {
  CreateOrUpdate<Deployment>(client_, key_, [](Deployment& web) {
    auto& containers = web.spec.template_.spec.containers;
    containers.erase(containers.begin());
    containers.insert(containers.begin(), {.image = "log:1", .name = "log"});
    containers.at(1).image = "proxy:2";
  });

  EXPECT_EQ(LastBody()["spec"]["template"]["spec"]["containers"], json::parse(R"([
    {"name": "log", "image": "log:1"},
    {"name": "proxy", "image": "proxy:2", "future": 2}
  ])"));
}

TEST_F(TypedCreateOrUpdateTest, AnItemThatCannotBeToldApartIsNotRemoved) {
  json stored = StoredDeployment();
  json& mounts = stored["spec"]["template"]["spec"]["containers"][0]["volumeMounts"];
  mounts = json::parse(R"([{"name": "v", "mountPath": "/a", "future": 1},
                           {"name": "v", "mountPath": "/a", "future": 2}])");
  transport_.Respond("GET", kPath, 200, stored.dump());
  const auto remove_first = [](Deployment& web) {
    auto& changed = web.spec.template_.spec.containers.at(0).volumeMounts;
    changed.erase(changed.begin());
  };

  EXPECT_THROW((void)CreateOrUpdate<Deployment>(client_, key_, remove_first), std::logic_error);
  EXPECT_EQ(transport_.Requests().back().method, "GET") << "nothing is written";
}

TEST_F(TypedCreateOrUpdateTest, OneOfTwoItemsWithOneNameMayBeRemovedIfTheStructTellsThemApart) {
  json stored = StoredDeployment();
  json& mounts = stored["spec"]["template"]["spec"]["containers"][0]["volumeMounts"];
  mounts = json::parse(R"([{"name": "v", "mountPath": "/a", "future": 1},
                           {"name": "v", "mountPath": "/b", "future": 2}])");
  transport_.Respond("GET", kPath, 200, stored.dump());

  (void)CreateOrUpdate<Deployment>(client_, key_, [](Deployment& web) {
    auto& changed = web.spec.template_.spec.containers.at(0).volumeMounts;
    changed.erase(changed.begin());
  });

  EXPECT_EQ(LastBody()["spec"]["template"]["spec"]["containers"][0]["volumeMounts"],
            json::parse(R"([{"name": "v", "mountPath": "/b", "future": 2}])"));
}

TEST_F(TypedCreateOrUpdateTest, AFieldThatIsUnsetIsRemoved) {
  CreateOrUpdate<Deployment>(client_, key_, [](Deployment& web) { web.spec.replicas.reset(); });

  EXPECT_FALSE(LastBody()["spec"].contains("replicas"));
  EXPECT_TRUE(LastBody()["spec"].contains("future"));
}

TEST_F(TypedCreateOrUpdateTest, AnUnchangedStructWritesNothing) {
  const auto outcome =
      CreateOrUpdate<Deployment>(client_, key_, [](Deployment& web) { web.spec.replicas = 1; });

  EXPECT_EQ(outcome.result, OperationResult::kUnchanged);
  EXPECT_EQ(transport_.Requests().size(), 1U);
}

}  // namespace
}  // namespace kopp::k8s
