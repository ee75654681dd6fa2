// Tests the certificates of the server of webhooks and of its clients.
#include "webhook_server_fixture.hpp"

namespace kopp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// O12
TEST_F(WebhookServerTest, ACertificateThatDoesNotMatchItsKeyIsNotUsed) {
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();
  const testing::CertificateAuthority second;
  const auto issued = second.IssueForLoopback();
  folder_.Write("tls.crt", issued.certificate);

  AdvanceUntilLogged("Cannot reload the TLS certificate, the last one stays in use");

  EXPECT_EQ(Send("/all", Review()).status, 200);
  EXPECT_THAT(served_->metrics().Text(),
              Not(HasSubstr("certwatcher_read_certificate_errors_total 0\n")));
  folder_.Write("tls.key", issued.key);
  AdvanceUntilLogged("Updated current TLS certificate");
  EXPECT_EQ(Send("/all", Review(), second).status, 200);
}

// O12
TEST_F(WebhookServerTest, ACertificateThatIsCutIsNotUsed) {
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();
  const auto issued = authority_.IssueForLoopback();
  folder_.Write("tls.crt", issued.certificate.substr(0, issued.certificate.size() / 2));

  AdvanceUntilLogged("Cannot reload the TLS certificate, the last one stays in use");

  EXPECT_EQ(Send("/all", Review()).status, 200);
}

TEST_F(WebhookServerTest, ReplacedCertificateFilesAreUsedWithoutRestart) {
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();
  const testing::CertificateAuthority second;
  WriteCertificate(second);

  AdvanceUntilLogged("Updated current TLS certificate");

  EXPECT_EQ(Send("/all", Review(), second).status, 200);
}

// O11
TEST_F(WebhookServerTest, AClientWithoutACertificateOfTheClientCaIsRejected) {
  const testing::CertificateAuthority clients;
  RequireClientsOf(clients);
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();

  EXPECT_THROW(Send("/all", Review()), TransportError);
  EXPECT_THROW(Send("/all", Review(), authority_, authority_.Issue({})), TransportError);
  EXPECT_EQ(Send("/all", Review(), authority_, clients.Issue({})).status, 200);
}

TEST_F(WebhookServerTest, AReplacedClientCaIsUsedWithoutRestart) {
  RequireClientsOf(testing::CertificateAuthority());
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();
  const testing::CertificateAuthority second;
  const testing::CertificateAndKey client = second.Issue({});
  EXPECT_THROW(Send("/all", Review(), authority_, client), TransportError);
  RequireClientsOf(second);

  AdvanceUntilLogged("Updated current TLS certificate");

  EXPECT_EQ(Send("/all", Review(), authority_, client).status, 200);
}

TEST_F(WebhookServerTest, AServerThatRequiresAClientCertificateIsReady) {
  RequireClientsOf(testing::CertificateAuthority());
  options_.health.bind_address = "127.0.0.1:0";
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();

  EXPECT_EQ(testing::Get(HealthPort(), "/readyz/webhook").status, 200);
}

TEST_F(WebhookServerTest, AClientCaWithoutACertificateIsAnErrorThatNamesTheFlag) {
  RequireClientsOf(authority_);
  folder_.Write("clients.crt", "no certificate");
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });

  EXPECT_EQ(served_->Run({}), 1);
  EXPECT_THAT(LogText(), AllOf(HasSubstr("--webhook-cert-path: "),
                               HasSubstr("clients.crt has no certificate in PEM")));
}

TEST_F(WebhookServerTest, IssuedCertificatesNeedTheServiceOfTheWebhooks) {
  options_.webhook.cert_path = "";
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });

  EXPECT_EQ(served_->Run({}), 1);
  EXPECT_THAT(LogText(), HasSubstr("pass --webhook-service=NAMESPACE/NAME"));
}

TEST_F(WebhookServerTest, AClientCaNeedsTheFolderOfACertificate) {
  options_.webhook.cert_path = "";
  options_.webhook.client_ca_name = "clients.crt";
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });

  EXPECT_EQ(served_->Run({}), 1);
  EXPECT_THAT(LogText(), HasSubstr("--webhook-client-ca-name is a file in --webhook-cert-path"));
}

}  // namespace
}  // namespace kopp
