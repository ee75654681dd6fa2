// How the API server reaches a webhook: Services, and the certificates that it trusts.
#include "admission/webhook_test_server.hpp"
#include "support/certificates.hpp"

namespace kopp::conformance {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class WebhookServicesTest : public WebhookCallTest {
 protected:
  JsonResponse CreateService(const json& spec) {
    return Post(Path("services"), {{"metadata", {{"name", "hooks"}}}, {"spec", spec}});
  }
  /// Expects that the server does not call a webhook with this caBundle, because the authority of
  /// its certificate is unknown.
  void ExpectUntrusted(const std::string& ca_bundle) {
    Install(Type::kValidating, Webhook{.ca_bundle = ca_bundle});

    const JsonResponse created = CreateMap("m");

    EXPECT_EQ(created.status, 500) << created.text;
    EXPECT_THAT(created.message(), HasSubstr("failed to call webhook: Post \"https://127.0.0.1:"));
    // The second text is that of OpenSSL.
    EXPECT_THAT(created.message(), AnyOf(HasSubstr("certificate signed by unknown authority"),
                                         HasSubstr("unable to get local issuer certificate")));
    EXPECT_THAT(Requests(), SizeIs(0));
  }
};

// A45
TEST_F(WebhookServicesTest, AWebhookIsCalledByTheNameOfItsService) {
  ASSERT_EQ(CreateService({{"type", "ExternalName"}, {"externalName", "localhost"}}).status, 201);
  Install(Type::kValidating, Webhook{.at_service = true});

  const JsonResponse created =
      Eventually(201, [&] { return CreateMap(UniqueName("m")); });  // servers cache Services

  EXPECT_EQ(created.status, 201) << created.text;
  ASSERT_THAT(Requests(), SizeIs(1));
  EXPECT_THAT(Requests()[0].at("host").get<std::string>(), HasSubstr("hooks." + ns() + ".svc:"));
}

// A35
TEST_F(WebhookServicesTest, DotsAndRepeatedSlashesOfAUrlAreRemoved) {
  Install(Type::kValidating, Webhook{.has_unclean_path = true});

  EXPECT_EQ(CreateMap("m").status, 201);
  EXPECT_THAT(Requests(), SizeIs(1));
}

// A34
TEST_F(WebhookServicesTest, AServiceThatDoesNotExistIsAFailedCall) {
  Install(Type::kValidating, Webhook{.at_service = true});

  const JsonResponse created = CreateMap("m");

  EXPECT_EQ(created.status, 500) << created.text;
  EXPECT_THAT(
      created.message(),
      HasSubstr("Internal error occurred: failed calling webhook \"w0.example.com\": failed "
                "to call webhook: Post \"https://hooks." +
                ns() + ".svc:"));
  EXPECT_THAT(created.message(), HasSubstr("/0/0?timeout=5s\": service \"hooks\" not found"));
}

// A45
TEST_F(WebhookServicesTest, AServiceWithoutThePortIsAFailedCall) {
  ASSERT_EQ(CreateService({{"ports", {{{"port", 1}}}}}).status, 201);
  Install(Type::kValidating, Webhook{.at_service = true});

  const JsonResponse created = CreateMap("m");

  EXPECT_EQ(created.status, 500) << created.text;
  EXPECT_THAT(created.message(), HasSubstr("no service port "));
  EXPECT_THAT(created.message(), HasSubstr(" found for service \"hooks\""));
}

// A46
TEST_F(WebhookServicesTest, AnotherAuthorityThanThatOfTheCaBundleIsNotTrusted) {
  ExpectUntrusted(
      testing::CertificateAuthority(testing::CertificateAuthority(), "another authority")
          .certificate());
}

// A46
// WebhookClientSystemTrustTest has the authorities of the system, which only the process of the
// server can set.
TEST_F(WebhookServicesTest, WithoutACaBundleAnAuthorityThatIsNotOfTheSystemIsNotTrusted) {
  ExpectUntrusted("");
}

}  // namespace
}  // namespace kopp::conformance
