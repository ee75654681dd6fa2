#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kDeployments = "/apis/apps/v1/namespaces/shop/deployments";

/// Fixture with a client whose requests all succeed. The tests check what it sends.
class ClientOptionsTest : public ::testing::Test {
 protected:
  ClientOptionsTest() {
    const std::string web = std::string(kDeployments) + "/web";
    transport_.Respond("POST", kDeployments, 201, "{}");
    transport_.Respond("DELETE", kDeployments, 200, "{}");
    for (const std::string method : {"GET", "PUT", "PATCH", "DELETE"}) {
      transport_.Respond(method, web, 200, "{}");
      transport_.Respond(method, web + "/status", 200, "{}");
      transport_.Respond(method, web + "/scale", 200, R"({"spec":{"replicas":3}})");
    }
  }

  static json Web() { return {{"metadata", {{"name", "web"}, {"namespace", "shop"}}}}; }
  ApiRequest LastRequest() { return transport_.Requests().back(); }
  /// Returns path and query of the last request after "…/deployments".
  std::string LastTarget() { return LastRequest().target.substr(std::strlen(kDeployments)); }

  const ObjectKey web_{"shop", "web"};
  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_, "shop-operator"};
};

TEST_F(ClientOptionsTest, WritesSendFieldManagerDryRunAndFieldValidation) {
  const WriteOptions options{
      .field_manager = "other", .dry_run = true, .field_validation = FieldValidation::kStrict};
  const std::string query = "?fieldManager=other&dryRun=All&fieldValidation=Strict";

  client_.Create<Deployment>(Web(), options);
  EXPECT_EQ(LastTarget(), query);
  client_.Update<Deployment>(Web(), options);
  EXPECT_EQ(LastTarget(), "/web" + query);
  client_.UpdateStatus<Deployment>(Web(), options);
  EXPECT_EQ(LastTarget(), "/web/status" + query);
  client_.Patch<Deployment>(web_, Patch::Merge(json::object()), options);
  EXPECT_EQ(LastTarget(), "/web" + query);
  client_.PatchStatus<Deployment>(web_, Patch::Merge(json::object()), options);
  EXPECT_EQ(LastTarget(), "/web/status" + query);
}

TEST_F(ClientOptionsTest, AnObjectWithTextThatIsNotUtf8IsRejectedBeforeARequestIsSent) {
  json web = Web();
  web["spec"]["paused"] = "\xff";

  EXPECT_THROW(client_.Create<Deployment>(web), json::exception);
  EXPECT_THROW(client_.Update<Deployment>(web), json::exception);
  EXPECT_THROW(client_.Apply<Deployment>(web), json::exception);

  EXPECT_TRUE(transport_.Requests().empty());
}

TEST_F(ClientOptionsTest, WritesByKindSendTheSameOptions) {
  const Kind& kind = Deployment::kKind;
  const WriteOptions options{.dry_run = true};
  const std::string query = "?fieldManager=shop-operator&dryRun=All";

  client_.Dynamic(kind).Create(Web(), options);
  EXPECT_EQ(LastTarget(), query);
  client_.Dynamic(kind).Update(Web(), options);
  EXPECT_EQ(LastTarget(), "/web" + query);
  client_.Dynamic(kind).UpdateStatus(Web(), options);
  EXPECT_EQ(LastTarget(), "/web/status" + query);
  client_.Dynamic(kind).Patch(web_, Patch::Merge(json::object()), options);
  EXPECT_EQ(LastTarget(), "/web" + query);
  client_.Dynamic(kind).PatchStatus(web_, Patch::Merge(json::object()), options);
  EXPECT_EQ(LastTarget(), "/web/status" + query);
  client_.Dynamic(kind).Apply(Web(), {.dry_run = true, .force = false});
  EXPECT_EQ(LastTarget(), "/web" + query);
}

TEST_F(ClientOptionsTest, ApplySendsItsOptionsAndNoForceIfItIsFalse) {
  client_.Apply<Deployment>(Web(), {.field_manager = "other",
                                    .dry_run = true,
                                    .field_validation = FieldValidation::kIgnore,
                                    .force = false});

  EXPECT_EQ(LastTarget(), "/web?fieldManager=other&dryRun=All&fieldValidation=Ignore");
}

TEST_F(ClientOptionsTest, ApplyOfASubresourceUsesItsPath) {
  client_.Apply<Deployment>(Web(), {.subresource = "status"});

  EXPECT_EQ(LastTarget(), "/web/status?fieldManager=shop-operator&force=true");
}

TEST_F(ClientOptionsTest, FieldValidationOfAClientAppliesUnlessTheCallOverridesIt) {
  const Client strict = client_.WithFieldValidation(FieldValidation::kStrict);

  strict.Create<Deployment>(Web());
  EXPECT_THAT(LastTarget(), HasSubstr("fieldValidation=Strict"));
  strict.Create<Deployment>(Web(), {.field_validation = FieldValidation::kWarn});
  EXPECT_THAT(LastTarget(), ::testing::Not(HasSubstr("fieldValidation")))
      << "Warn is the default of the API server";
}

TEST_F(ClientOptionsTest, FieldManagerOfAClientCanBeReplaced) {
  client_.WithFieldManager("migration").Create<Deployment>(Web());

  EXPECT_EQ(LastTarget(), "?fieldManager=migration");
}

TEST_F(ClientOptionsTest, AClientWithDryRunSendsItWithAllWrites) {
  const Client dry_run = client_.WithDryRun();

  dry_run.Create<Deployment>(Web());
  EXPECT_THAT(LastTarget(), HasSubstr("dryRun=All"));
  dry_run.Apply<Deployment>(Web());
  EXPECT_THAT(LastTarget(), HasSubstr("dryRun=All"));
  dry_run.Delete<Deployment>(web_);
  EXPECT_EQ(json::parse(LastRequest().body).at("dryRun"), json{"All"});
  dry_run.DeleteAllOf<Deployment>({.ns = "shop"});
  EXPECT_EQ(json::parse(LastRequest().body).at("dryRun"), json{"All"});
}

TEST_F(ClientOptionsTest, GetSendsSubresourceAndResourceVersion) {
  (void)client_.Get<Deployment>(web_, {.subresource = "status", .resource_version = "0"});

  EXPECT_EQ(LastTarget(), "/web/status?resourceVersion=0");
}

TEST_F(ClientOptionsTest, CreateOfASubresourcePostsToTheObjectWithTheTypeOfTheSubresource) {
  constexpr const char* kWeb = "/api/v1/namespaces/shop/pods/web";
  transport_.Respond("POST", std::string(kWeb) + "/eviction", 201, R"({"kind":"Status"})");
  const json response =
      client_.Dynamic(Pod::kKind).Create(Web(), {.subresource = "eviction"}).Json();

  EXPECT_EQ(response, json::parse(R"({"kind":"Status"})"));
  EXPECT_EQ(LastRequest().target, std::string(kWeb) + "/eviction?fieldManager=shop-operator");
  EXPECT_EQ(json::parse(LastRequest().body),
            json::parse(R"({"apiVersion":"policy/v1","kind":"Eviction",
                            "metadata":{"name":"web","namespace":"shop"}})"));
}

TEST_F(ClientOptionsTest, ASubresourceThatWouldChangeTheUrlPathIsRejectedBeforeTheRequest) {
  for (const std::string subresource : {"..", "status/x", "status%2fx"}) {
    EXPECT_THROW((void)client_.Get<Deployment>(web_, {.subresource = subresource}),
                 std::invalid_argument)
        << subresource;
  }
  EXPECT_TRUE(transport_.Requests().empty());
}

TEST_F(ClientOptionsTest, DeleteSendsGracePeriodAndDryRun) {
  client_.Delete<Deployment>(web_, {.grace_period = 0s, .dry_run = true});

  EXPECT_EQ(json::parse(LastRequest().body),
            json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions",
                            "gracePeriodSeconds":0,"dryRun":["All"]})"));
}

TEST_F(ClientOptionsTest, DeleteAllOfSendsOneRequestWithTheSelectors) {
  client_.DeleteAllOf<Deployment>({.ns = "shop", .labels = "app=web", .fields = "metadata.name=a"},
                                  {.propagation = DeletionPropagation::kOrphan});

  EXPECT_EQ(transport_.Requests().size(), 1);
  EXPECT_EQ(LastRequest().method, "DELETE");
  EXPECT_EQ(LastTarget(), "?labelSelector=app%3Dweb&fieldSelector=metadata.name%3Da");
  EXPECT_EQ(json::parse(LastRequest().body).at("propagationPolicy"), "Orphan");
}

TEST_F(ClientOptionsTest, DeleteSendsAPropagationPolicyOnlyIfItIsSet) {
  const auto policy = [&](const DeleteOptions& options) {
    client_.Delete<Deployment>({"shop", "web"}, options);
    return json::parse(LastRequest().body).value("propagationPolicy", "none");
  };

  EXPECT_EQ(policy({}), "none");
  EXPECT_EQ(policy({.propagation = DeletionPropagation::kBackground}), "Background");
  EXPECT_EQ(policy({.propagation = DeletionPropagation::kForeground}), "Foreground");
  EXPECT_EQ(policy({.propagation = DeletionPropagation::kOrphan}), "Orphan");
}

TEST_F(ClientOptionsTest, DeleteAllOfWithANamespaceThrowsForAClusterScopedKind) {
  EXPECT_THROW(client_.DeleteAllOf<Namespace>({.ns = "shop"}), std::invalid_argument);
  EXPECT_TRUE(transport_.Requests().empty());
}

TEST_F(ClientOptionsTest, DeleteAllOfWithoutANamespaceThrowsForANamespacedKind) {
  EXPECT_THROW(client_.DeleteAllOf<Deployment>({.labels = "app=web"}), std::invalid_argument);
  EXPECT_TRUE(transport_.Requests().empty());
}

TEST_F(ClientOptionsTest, StrategicMergePatchHasItsContentType) {
  client_.Patch<Deployment>(web_, Patch::StrategicMerge({{"spec", {{"paused", true}}}}));

  EXPECT_EQ(LastRequest().content_type, "application/strategic-merge-patch+json");
  EXPECT_EQ(LastRequest().body, R"({"spec":{"paused":true}})");
}

TEST_F(ClientOptionsTest, UpdateScalePutsAScaleWithTheReplicasAndTheResourceVersion) {
  const Scale scale = client_.UpdateScale<Deployment>(
      {.metadata = {.name = "web", .ns = "shop", .resourceVersion = "7"}, .spec = {.replicas = 3}});

  EXPECT_EQ(scale.spec.replicas, 3);
  EXPECT_EQ(LastRequest().method, "PUT");
  EXPECT_EQ(LastTarget(), "/web/scale?fieldManager=shop-operator");
  const json body = json::parse(LastRequest().body);
  EXPECT_EQ(body.at("kind"), "Scale");
  EXPECT_EQ(body.at("apiVersion"), "autoscaling/v1");
  EXPECT_EQ(body.at("metadata").at("resourceVersion"), "7");
  EXPECT_EQ(body.at("spec"), json::parse(R"({"replicas":3})"));
}

TEST_F(ClientOptionsTest, GetScaleOfAMissingObjectReturnsNothing) {
  EXPECT_EQ(client_.GetScale<Deployment>(web_)->spec.replicas, 3);
  EXPECT_FALSE(client_.GetScale<Deployment>({"shop", "absent"}).has_value());
}

TEST_F(ClientOptionsTest, AClientInANamespaceAddsTheNamespaceWhereItIsMissing) {
  const Client shop = client_.InNamespace("shop");
  const json web{{"metadata", {{"name", "web"}}}};

  shop.Create<Deployment>(web);
  EXPECT_EQ(json::parse(LastRequest().body).at("metadata").at("namespace"), "shop");
  shop.Update<Deployment>(web);
  EXPECT_THAT(LastTarget(), HasSubstr("/web?"));
  shop.Apply<Deployment>(web);
  EXPECT_THAT(LastTarget(), HasSubstr("/web?"));
  shop.Patch<Deployment>({"", "web"}, Patch::Merge(json::object()));
  EXPECT_THAT(LastTarget(), HasSubstr("/web?"));
  (void)shop.Get<Deployment>({"", "web"});
  EXPECT_EQ(LastTarget(), "/web");
  shop.Delete<Deployment>({"", "web"});
  EXPECT_EQ(LastTarget(), "/web");
  shop.DeleteAllOf<Deployment>({});
  EXPECT_EQ(LastTarget(), "");
  transport_.Respond("GET", kDeployments, 200, R"({"metadata":{},"items":[]})");
  (void)shop.List<Deployment>();
  EXPECT_EQ(LastTarget(), "?limit=500");
}

TEST_F(ClientOptionsTest, AClientInANamespaceRejectsAnotherNamespaceBeforeTheRequest) {
  const Client prod = client_.InNamespace("prod");

  EXPECT_THROW(prod.Create<Deployment>(Web()), std::invalid_argument);
  EXPECT_THROW(prod.Apply<Deployment>(Web()), std::invalid_argument);
  EXPECT_THROW((void)prod.Get<Deployment>(web_), std::invalid_argument);
  EXPECT_THROW((void)prod.List<Deployment>({.ns = "shop"}), std::invalid_argument);
  EXPECT_THROW((void)prod.Watch<Deployment>({.ns = "shop"}, {.resource_version = "7"}),
               std::invalid_argument);
  EXPECT_THROW((void)prod.PodLogs({"shop", "web-0"}), std::invalid_argument);
  EXPECT_THROW((void)prod.InNamespace("shop"), std::invalid_argument);
  EXPECT_TRUE(transport_.Requests().empty());
}

TEST_F(ClientOptionsTest, AClientInANamespaceReadsClusterScopedKinds) {
  (void)client_.InNamespace("shop").Get<Namespace>({"", "prod"});

  EXPECT_EQ(LastRequest().target, "/api/v1/namespaces/prod");
}

TEST_F(ClientOptionsTest, AnObjectWhoseMetadataIsNotAnObjectIsRejectedBeforeTheRequest) {
  EXPECT_THROW(client_.InNamespace("shop").Create<Deployment>({{"metadata", "web"}}),
               std::invalid_argument);
  EXPECT_TRUE(transport_.Requests().empty());
}

}  // namespace
}  // namespace kopp
