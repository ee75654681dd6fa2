#include "webhook/certificate_issuer_fixture.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>

#include <kopp/config_error.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;

/// Reconciles until nothing is due. Returns the last state.
CertificateIssuer::State ReconcileAll(CertificateIssuer& issuer, const Client& client,
                                      const Clock& clock, bool is_leader = true) {
  CertificateIssuer::State state = issuer.Reconcile(client, is_leader);
  for (int step = 0; step < 10 && state.next <= clock.WallNow(); ++step) {
    state = issuer.Reconcile(client, is_leader);
  }
  EXPECT_GT(state.next, clock.WallNow()) << "the next step is always due";
  return state;
}

TEST_F(CertificateIssuerTest, AnEmptyClusterGetsASecretAndTheCaInEachWebhook) {
  CertificateIssuer issuer(IssuerOptions());

  EXPECT_EQ(issuer.Reconcile(client_, true).problem, "there are no certificates");
  const auto state = ReconcileAll(issuer, client_, clock_);

  EXPECT_EQ(state.problem, "");
  ASSERT_TRUE(state.certificates.has_value());
  EXPECT_EQ(WhyRejected(state.certificates->certificate, CaBundle(0), clock_.WallNow()), "");
  EXPECT_EQ(CaBundle(1), CaBundle(0));
  EXPECT_EQ(StoredSecret()->type, "kopp.dev/webhook-certificates");
}

TEST_F(CertificateIssuerTest, OnlyTheCaBundlesAreOwned) {
  CertificateIssuer issuer(IssuerOptions());
  ReconcileAll(issuer, client_, clock_);

  json owned;
  const json configuration = Configuration();
  for (const json& entry : configuration["metadata"]["managedFields"]) {
    if (entry["manager"] == kCertificateFieldManager) owned = entry["fieldsV1"];
  }

  const json ca_bundle{{".", json::object()},
                       {"f:clientConfig", {{"f:caBundle", json::object()}}},
                       {"f:name", json::object()}};
  EXPECT_EQ(owned, json({{"f:webhooks",
                          {{R"(k:{"name":"a.shop.example.com"})", ca_bundle},
                           {R"(k:{"name":"b.shop.example.com"})", ca_bundle}}}}));
}

TEST_F(CertificateIssuerTest, NothingIsWrittenWhenNothingIsDue) {
  CertificateIssuer issuer(IssuerOptions());
  ReconcileAll(issuer, client_, clock_);
  const std::string before = Configuration()["metadata"]["resourceVersion"];
  const std::string secret = StoredSecret()->metadata.resourceVersion;

  const auto state = issuer.Reconcile(client_, true);

  EXPECT_EQ(state.next, clock_.WallNow() + 10min);
  EXPECT_EQ(Configuration()["metadata"]["resourceVersion"], before);
  EXPECT_EQ(StoredSecret()->metadata.resourceVersion, secret);
}

TEST_F(CertificateIssuerTest, ACaBundleThatWasRemovedIsStoredAgain) {
  CertificateIssuer issuer(IssuerOptions());
  ReconcileAll(issuer, client_, clock_);
  client_.Dynamic(kConfigurations).Delete({"", "webhooks.shop"});
  CreateConfiguration({Webhook("/b")});

  EXPECT_EQ(ReconcileAll(issuer, client_, clock_).problem, "");

  EXPECT_EQ(CaBundle(), StoredSecret()->data["ca.crt"].data);
}

TEST_F(CertificateIssuerTest, AProgramThatKeepsReplacingTheCaBundleCausesOneWriteInTenSeconds) {
  CertificateIssuer issuer(IssuerOptions());
  ReconcileAll(issuer, client_, clock_);
  ReplaceCaBundle("Zm9yZWlnbg==");

  auto state = issuer.Reconcile(client_, true);

  EXPECT_EQ(
      state.problem,
      "ValidatingWebhookConfiguration \"webhooks.shop\" does not trust the certificate: there is "
      "no caBundle that can be read");
  EXPECT_EQ(state.next, clock_.WallNow() + 10s);
  EXPECT_EQ(CaBundle(), "foreign");
  clock_.Advance(10s);
  EXPECT_EQ(issuer.Reconcile(client_, true).problem, "");
  EXPECT_EQ(CaBundle(), StoredSecret()->data["ca.crt"].data);
}

TEST_F(CertificateIssuerTest, TheCaOfCertManagerIsNotReplaced) {
  client_.Dynamic(kConfigurations)
      .Patch({"", "webhooks.shop"},
             Patch::Merge(
                 {{"metadata",
                   {{"annotations", {{"cert-manager.io/inject-ca-from", "shop/certificate"}}}}}}));
  ReplaceCaBundle("Zm9yZWlnbg==");
  CertificateIssuer issuer(IssuerOptions());

  const auto state = ReconcileAll(issuer, client_, clock_);

  EXPECT_EQ(
      state.error,
      "ValidatingWebhookConfiguration \"webhooks.shop\" gets its CA from cert-manager: remove "
      "the annotation, or set --webhook-cert-path");
  EXPECT_THAT(state.problem, HasSubstr("no caBundle that can be read"));
  EXPECT_EQ(CaBundle(), "foreign");
}

TEST_F(CertificateIssuerTest, AConfigurationThatCannotBeChangedDoesNotPreventARenewal) {
  CertificateIssuer issuer(IssuerOptions());
  ReconcileAll(issuer, client_, clock_);
  const auto before = StoredSecret()->data["tls.crt"];
  const std::string ca_bundle = CaBundle();
  ReplaceCaBundle(detail::EncodeBase64(ca_bundle + ca_bundle));  // trusts the certificate
  clock_.Advance(61 * 24h);
  server_.Inject({.verb = "patch", .status = 500});

  auto state = issuer.Reconcile(client_, true);
  EXPECT_EQ(state.problem, "");
  EXPECT_THAT(state.error, HasSubstr("500"));

  state = issuer.Reconcile(client_, true);
  EXPECT_NE(state.certificates->certificate, before.data);
}

TEST_F(CertificateIssuerTest, ADamagedCaIsNotStoredInTheConfigurations) {
  CertificateIssuer issuer(IssuerOptions());
  ReconcileAll(issuer, client_, clock_);
  clock_.Advance(1min);
  const std::string ca_bundle = CaBundle();
  Secret damaged = *StoredSecret();
  damaged.data["ca.crt"] = damaged.data["ca.crt"].data.substr(0, 100);
  client_.Replace(damaged);

  issuer.Reconcile(client_, true);
  EXPECT_EQ(CaBundle(), ca_bundle);

  EXPECT_EQ(ReconcileAll(issuer, client_, clock_).problem, "");
}

TEST_F(CertificateIssuerTest, AFollowerIsReadyWhileANewCaIsNotStoredYet) {
  CertificateIssuer leader(IssuerOptions());
  CertificateIssuer follower(IssuerOptions());
  ReconcileAll(leader, client_, clock_);
  clock_.Advance(std::chrono::days(1216));
  ReconcileAll(leader, client_, clock_);  // renews the certificate
  clock_.Advance(std::chrono::days(2));
  leader.Reconcile(client_, true);  // a new CA in the Secret, and then a crash

  EXPECT_EQ(follower.Reconcile(client_, false).problem, "");
}

TEST_F(CertificateIssuerTest, AFollowerReplacesACaBundleThatDoesNotTrustTheCertificate) {
  CertificateIssuer leader(IssuerOptions());
  CertificateIssuer follower(IssuerOptions());
  ReconcileAll(leader, client_, clock_);
  ReplaceCaBundle("Zm9yZWlnbg==");

  EXPECT_EQ(follower.Reconcile(client_, false).problem, "");

  EXPECT_EQ(CaBundle(), StoredSecret()->data["ca.crt"].data);
}

TEST_F(CertificateIssuerTest, WebhooksOfOtherServicesAreNotChanged) {
  client_.Dynamic(kConfigurations).Delete({"", "webhooks.shop"});
  CreateConfiguration({Webhook("/a"), Webhook("/b", "other")});
  CertificateIssuer issuer(IssuerOptions());

  ReconcileAll(issuer, client_, clock_);

  EXPECT_NE(CaBundle(0), "");
  EXPECT_EQ(CaBundle(1), "");
}

TEST_F(CertificateIssuerTest, AnAbsentConfigurationIsAProblemThatSaysWhatToDo) {
  client_.Dynamic(kConfigurations).Delete({"", "webhooks.shop"});
  CertificateIssuer issuer(IssuerOptions());

  const auto state = ReconcileAll(issuer, client_, clock_);

  EXPECT_EQ(state.problem,
            "there is no ValidatingWebhookConfiguration \"webhooks.shop\": apply the output of "
            "--print-webhooks");
  EXPECT_TRUE(state.certificates.has_value());  // so it is served when the configuration is applied
  EXPECT_EQ(client_.Dynamic(kConfigurations).Get({"", "webhooks.shop"}), std::nullopt);

  CreateConfiguration({Webhook("/a", "other")});
  EXPECT_EQ(ReconcileAll(issuer, client_, clock_).problem,
            "ValidatingWebhookConfiguration \"webhooks.shop\" has no webhook at the Service "
            "shop/webhooks: apply the output of --print-webhooks");
}

TEST_F(CertificateIssuerTest, ASecretOfAnotherTypeIsNotOverwritten) {
  const Secret foreign{.metadata = {.name = "webhooks-cert", .ns = "shop"},
                       .data = {{"tls.crt", "foreign"}, {"tls.key", "foreign"}},
                       .type = "kubernetes.io/tls"};
  client_.Create(foreign);
  CertificateIssuer issuer(IssuerOptions());

  try {
    issuer.Reconcile(client_, true);
    ADD_FAILURE() << "the Secret was accepted";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("the Secret shop/webhooks-cert was not created for the certificates of "
                          "webhooks: its type is kubernetes.io/tls"));
  }
  EXPECT_EQ(StoredSecret()->data, foreign.data);
}

TEST_F(CertificateIssuerTest, ADamagedSecretIsRepaired) {
  CertificateIssuer issuer(IssuerOptions());
  ReconcileAll(issuer, client_, clock_);
  Secret damaged = *StoredSecret();
  damaged.data.erase("tls.key");
  client_.Replace(damaged);

  auto state = issuer.Reconcile(client_, false);
  EXPECT_EQ(state.certificates, std::nullopt);
  EXPECT_EQ(state.problem, "tls.key is not the key of tls.crt");
  EXPECT_THAT(state.error, HasSubstr("Compare the clocks of the nodes"));  // repaired just before
  EXPECT_EQ(state.next, clock_.WallNow() + 10s);

  clock_.Advance(10s);
  state = issuer.Reconcile(client_, false);
  EXPECT_EQ(state.error, "");
  EXPECT_EQ(ReconcileAll(issuer, client_, clock_, false).problem, "");
}

TEST_F(CertificateIssuerTest, AFollowerLeavesWhatIsNotUrgentToTheLeader) {
  CertificateIssuer leader(IssuerOptions());
  CertificateIssuer follower(IssuerOptions());
  ReconcileAll(leader, client_, clock_);
  const auto before = StoredSecret()->data;
  clock_.Advance(61 * 24h);

  ReconcileAll(follower, client_, clock_, false);
  EXPECT_EQ(StoredSecret()->data, before);

  ReconcileAll(leader, client_, clock_);
  EXPECT_NE(StoredSecret()->data, before);
}

TEST_F(CertificateIssuerTest, AFollowerIssuesTheFirstCertificate) {
  CertificateIssuer follower(IssuerOptions());

  EXPECT_EQ(ReconcileAll(follower, client_, clock_, false).problem, "");
  EXPECT_EQ(CaBundle(), StoredSecret()->data["ca.crt"].data);
}

/// Passes calls on to a server, and runs a function before the next write.
class InterruptedTransport final : public Transport {
 public:
  explicit InterruptedTransport(Transport& server) : server_(server) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    if (request.method != "GET") {
      if (const auto next = std::exchange(before_next_write, nullptr)) next();
    }
    return server_.Call(request, std::move(stop));
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    return server_.Open(request, std::move(stop));
  }

  std::function<void()> before_next_write;

 private:
  Transport& server_;
};

TEST_F(CertificateIssuerTest, TheSecondOfTwoConcurrentIssuersGetsAConflict) {
  InterruptedTransport transport(server_.transport());
  CertificateIssuer first(IssuerOptions());
  CertificateIssuer second(IssuerOptions());
  transport.before_next_write = [&] { ReconcileAll(second, client_, clock_); };

  EXPECT_THROW(first.Reconcile(Client(transport), true), ApiError);

  const auto data = StoredSecret()->data;
  EXPECT_EQ(ReconcileAll(first, client_, clock_).problem, "");
  EXPECT_EQ(StoredSecret()->data, data);
}

TEST_F(CertificateIssuerTest, AFormerLeaderDoesNotStoreAnOlderCa) {
  InterruptedTransport transport(server_.transport());
  CertificateIssuer former(IssuerOptions());
  CertificateIssuer leader(IssuerOptions());
  ReconcileAll(leader, client_, clock_);
  client_.Dynamic(kConfigurations).Delete({"", "webhooks.shop"});
  CreateConfiguration({Webhook("/a")});
  transport.before_next_write = [&] {
    clock_.Advance(std::chrono::years(4));  // the CA is due
    ReconcileAll(leader, client_, clock_);
  };

  EXPECT_THROW(former.Reconcile(Client(transport), true), ApiError);

  EXPECT_EQ(CaBundle(), StoredSecret()->data["ca.crt"].data);
}

}  // namespace
}  // namespace kopp
