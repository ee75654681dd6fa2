// Tests the check of certificates in files against the caBundles of an API server.
#include "webhook/ca_bundle_check.hpp"

#include "support/certificates.hpp"
#include "support/log_recorder.hpp"
#include "webhook/certificate_issuer_fixture.hpp"

#include <latch>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include <kopp/transport.hpp>

namespace kopp {
namespace {

using ::testing::HasSubstr;

/// Delays the requests of informers until Release.
class HeldInformersTransport final : public Transport {
 public:
  explicit HeldInformersTransport(Transport& server) : server_(server) {}

  void Release() { released_.count_down(); }

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    Hold(request);
    return server_.Call(request, std::move(stop));
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override {
    Hold(request);
    return server_.Open(request, std::move(stop));
  }

 private:
  void Hold(const ApiRequest& request) {
    if (request.target.find("fieldSelector") != std::string::npos) released_.wait();
  }

  Transport& server_;
  std::latch released_{1};
};

/// Fixture with a configuration whose caBundles trust `authority_`.
class CaBundleCheckTest : public CertificateIssuerTest {
 protected:
  CaBundleCheckTest() { ReplaceCaBundle(detail::EncodeBase64(authority_.certificate())); }

  static std::string Issue(const testing::CertificateAuthority& authority) {
    return authority.Issue({.subject_alt_names = "DNS:webhooks.shop.svc"}).certificate;
  }
  [[nodiscard]] CaBundleCheckOptions CheckOptions() { return CheckOptions(client_); }
  [[nodiscard]] CaBundleCheckOptions CheckOptions(const Client& client) {
    return {.service = {"shop", "webhooks"},
            .configuration_kinds = {&kConfigurations},
            .client = client,
            .log = log_.NewLogger(),
            .clock = Clock::Real()};
  }
  void AwaitProblem(int count = 1) { log_.Await("API servers cannot call the webhooks", count); }
  void AwaitNoProblem(int count = 1) { log_.Await("API servers can call the webhooks", count); }

  const testing::CertificateAuthority authority_;
  const testing::CertificateAuthority other_authority_;
  testing::LogRecorder log_;
};

TEST_F(CaBundleCheckTest, ACertificateThatTheConfigurationsTrustIsNoProblem) {
  const CaBundleCheck check(CheckOptions(), Issue(authority_));
  AwaitNoProblem();

  EXPECT_EQ(check.Problem(), "");
}

TEST_F(CaBundleCheckTest, AnotherCaIsAProblemUntilTheOldOneIsStoredAgain) {
  const CaBundleCheck check(CheckOptions(), Issue(authority_));
  AwaitNoProblem();

  ReplaceCaBundle(detail::EncodeBase64(other_authority_.certificate()));
  AwaitProblem();
  EXPECT_THAT(check.Problem(),
              HasSubstr("ValidatingWebhookConfiguration \"webhooks.shop\" does not trust the "
                        "certificate: certificate signature failure"));

  ReplaceCaBundle(detail::EncodeBase64(authority_.certificate()));
  AwaitNoProblem(2);
  EXPECT_EQ(check.Problem(), "");
}

TEST_F(CaBundleCheckTest, ANewCertificateIsVerified) {
  CaBundleCheck check(CheckOptions(), Issue(other_authority_));
  AwaitProblem();

  check.SetCertificate(Issue(authority_));
  AwaitNoProblem();

  check.SetCertificate(Issue(other_authority_));
  AwaitProblem(2);
}

TEST_F(CaBundleCheckTest, AnAbsentConfigurationIsAProblem) {
  const CaBundleCheck check(CheckOptions(), Issue(authority_));

  client_.Dynamic(kConfigurations).Delete({"", "webhooks.shop"});
  AwaitProblem();

  EXPECT_EQ(check.Problem(),
            "there is no ValidatingWebhookConfiguration \"webhooks.shop\": apply the output of "
            "--print-webhooks");
}

TEST_F(CaBundleCheckTest, AConfigurationThatIsDeletedBeforeTheFirstListIsAProblem) {
  HeldInformersTransport transport(server_.transport());
  const Client client(transport, "test");
  const CaBundleCheck check(CheckOptions(client), Issue(authority_));
  AwaitNoProblem();

  client_.Dynamic(kConfigurations).Delete({"", "webhooks.shop"});
  transport.Release();

  AwaitProblem();
}

TEST_F(CaBundleCheckTest, AConfigurationThatCannotBeReadIsNoProblem) {
  server_.Inject({.verb = "get", .times = 1});
  const CaBundleCheck check(CheckOptions(), Issue(authority_));

  log_.Await("Cannot keep the certificates of the webhooks up to date");
  EXPECT_EQ(check.Problem(), "");

  AwaitNoProblem();
}

}  // namespace
}  // namespace kopp
