// Tests of the HTTPS requests to webhooks, and of the addresses of Services.
#include "http/webhook_client.hpp"

#include "crd/server_catalog.hpp"
#include "http/service_resolver.hpp"
#include "support/certificates.hpp"
#include "support/raw_server.hpp"
#include "support/scoped_variable.hpp"
#include "support/scratch_folder.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/http_server.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

detail::Endpoint NoService(const ObjectKey& /*service*/, int /*port*/) {
  throw std::runtime_error("no endpoints");
}

template <class F>
std::string ErrorOf(const F& function) {
  try {
    static_cast<void>(function());
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

/// Fixture with a webhook server whose certificate is for the Service shop/webhooks only.
class WebhookClientTest : public ::testing::Test {
 protected:
  /// Starts a server that follows `script` on each connection.
  void Serve(const testing::Script& script) {
    server_.emplace(
        std::vector<testing::Script>(3, script),
        testing::RawServer::Tls{authority_.Issue({.subject_alt_names = "DNS:webhooks.shop.svc"})});
  }
  [[nodiscard]] testing::WebhookCall Call() const {
    return {.service = {"shop", "webhooks"},
            .port = 8443,
            .path = "/validate",
            .ca_bundle = authority_.certificate(),
            .body = "{}",
            .timeout = 5s};
  }
  [[nodiscard]] detail::Endpoint Address() const {
    return {.tls = true, .host = "127.0.0.1", .port = server_->port(), .base_path = {}};
  }
  static testing::Step Ok() {
    return testing::Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  }

  testing::CertificateAuthority authority_;
  std::optional<testing::RawServer> server_;
  WebhookClient client_{[this](const ObjectKey&, int) { return Address(); }};
};

// A45
TEST_F(WebhookClientTest, AServiceIsCalledByItsNameAtAnotherAddress) {
  Serve({testing::ReadRequest(), Ok()});

  EXPECT_EQ(client_.Call(Call()), "{}");

  EXPECT_THAT(server_->Requests()[0].head,
              HasSubstr("POST /validate?timeout=5s HTTP/1.1\r\nHost: webhooks.shop.svc:8443\r\n"));
}

// A45
TEST_F(WebhookClientTest, TheDefaultPortIsNotInTheHostHeader) {
  Serve({testing::ReadRequest(), Ok()});
  testing::WebhookCall call = Call();
  call.port = 443;

  EXPECT_EQ(client_.Call(call), "{}");

  EXPECT_THAT(server_->Requests()[0].head, HasSubstr("\r\nHost: webhooks.shop.svc\r\n"));
}

// A45
TEST_F(WebhookClientTest, ACertificateForAnotherNameIsRejected) {
  Serve({testing::ReadRequest(), Ok()});
  testing::WebhookCall call = Call();
  call.service.name = "other";

  EXPECT_THAT(ErrorOf([&] { return client_.Call(call); }),
              HasSubstr("Post \"https://other.shop.svc:8443/validate?timeout=5s\": "));
  EXPECT_THAT(server_->Requests(), IsEmpty());
}

// A46
TEST_F(WebhookClientTest, ACertificateOfAnotherAuthorityIsRejected) {
  Serve({testing::ReadRequest(), Ok()});
  testing::WebhookCall call = Call();
  call.ca_bundle = testing::CertificateAuthority().certificate();

  EXPECT_THAT(ErrorOf([&] { return client_.Call(call); }), HasSubstr("certificate"));
  EXPECT_THAT(server_->Requests(), IsEmpty());
}

/// Fixture whose server has a certificate of `authority_`. A file has the CAs of the system.
class WebhookClientSystemTrustTest : public WebhookClientTest {
 protected:
  WebhookClientSystemTrustTest() { Serve({testing::ReadRequest(), Ok()}); }

  /// Makes `authority` the only CA of the system.
  void TrustOnSystem(const testing::CertificateAuthority& authority) const {
    folder_.Write("system.pem", authority.certificate());
  }
  [[nodiscard]] testing::WebhookCall CallWithCaBundle(const std::string& ca_bundle) const {
    testing::WebhookCall call = Call();
    call.ca_bundle = ca_bundle;
    return call;
  }
  /// Returns an authority with another name than that of `authority_`.
  static testing::CertificateAuthority AnotherAuthority() {
    return {testing::CertificateAuthority(), "another authority"};
  }
  /// Expects that `call` fails because the authority of the certificate is unknown.
  void ExpectUnknownAuthority(const testing::WebhookCall& call) {
    EXPECT_THAT(ErrorOf([&] { return client_.Call(call); }),
                HasSubstr("the server certificate was rejected: unable to get local issuer "
                          "certificate"));
    EXPECT_THAT(server_->Requests(), IsEmpty());
  }

 private:
  const testing::ScratchFolder folder_;
  const testing::ScopedVariable file_{"SSL_CERT_FILE", (folder_ / "system.pem").string()};
  const testing::ScopedVariable directory_{"SSL_CERT_DIR", (folder_ / "empty").string()};
};

// A46
TEST_F(WebhookClientSystemTrustTest, WithoutACaBundleAnAuthorityOfTheSystemIsTrusted) {
  TrustOnSystem(authority_);

  EXPECT_EQ(client_.Call(CallWithCaBundle("")), "{}");
}

// A46
TEST_F(WebhookClientSystemTrustTest, WithoutACaBundleAnotherAuthorityIsRejected) {
  TrustOnSystem(AnotherAuthority());

  ExpectUnknownAuthority(CallWithCaBundle(""));
}

// A46
TEST_F(WebhookClientSystemTrustTest, WithACaBundleAnAuthorityOfTheSystemIsRejected) {
  TrustOnSystem(authority_);

  ExpectUnknownAuthority(CallWithCaBundle(AnotherAuthority().certificate()));
}

// A46
TEST_F(WebhookClientSystemTrustTest, TheNameIsCheckedForAnAuthorityOfTheSystem) {
  TrustOnSystem(authority_);
  testing::WebhookCall call = CallWithCaBundle("");
  call.service.name = "other";

  EXPECT_THAT(ErrorOf([&] { return client_.Call(call); }),
              HasSubstr("the certificate is valid for webhooks.shop.svc"));
  EXPECT_THAT(server_->Requests(), IsEmpty());
}

TEST_F(WebhookClientTest, LaterCallsUseTheSameConnection) {
  Serve({testing::ReadRequest(), Ok(), {.type = testing::Step::Type::kRepeat}});

  for (int i = 0; i < 3; ++i) EXPECT_EQ(client_.Call(Call()), "{}");

  EXPECT_EQ(server_->Connections(), 1);
}

TEST_F(WebhookClientTest, ACallThatTheServerMayHaveProcessedIsNotRepeated) {
  Serve({testing::ReadRequest(), Ok(), testing::ReadRequest(), testing::Close()});
  EXPECT_EQ(client_.Call(Call()), "{}");

  EXPECT_THAT(ErrorOf([&] { return client_.Call(Call()); }), HasSubstr("Post \"https://webhooks."));

  EXPECT_THAT(server_->Requests(), SizeIs(2));
}

// A34
TEST_F(WebhookClientTest, AServiceWithoutAnAddressIsAnErrorOfTheRequest) {
  WebhookClient client(&NoService);

  EXPECT_EQ(ErrorOf([&] { return client.Call(Call()); }),
            "Post \"https://webhooks.shop.svc:8443/validate?timeout=5s\": no endpoints");
}

// A35
TEST(WebhookUrlTest, AUrlHasThePathAndTheTimeLimitInWholeSeconds) {
  const auto text_of = [](const std::string& url) {
    const WebhookUrl parts({.url = url, .timeout = 1500ms});
    return parts.origin + ' ' + parts.target;
  };

  EXPECT_EQ(text_of("https://h:1/a/b"), "https://h:1 /a/b?timeout=2s");
  EXPECT_EQ(text_of("https://h"), "https://h /?timeout=2s");
  EXPECT_EQ(text_of("https://h//a/./b/../c/"), "https://h /a/c?timeout=2s");
  EXPECT_EQ(text_of("https://h//"), "https://h /?timeout=2s");
}

/// Fixture of tests of ServiceResolver with the Service shop/webhooks, whose port 443 is named
/// "https".
class ServiceResolverTest : public ::testing::Test {
 protected:
  ServiceResolverTest() {
    Store("services", {{"spec", {{"ports", {{{"name", "https"}, {"port", 443}}}}}}});
  }

  void Store(const std::string& resource, json object) {
    object["metadata"]["name"] = kService.name;
    object["metadata"]["namespace"] = kService.ns;
    ASSERT_NE(context_.store().Put(resource, kService, nullptr, object, {}), nullptr);
  }
  void StoreSlice(const json& endpoints) {
    Store("endpointslices.discovery.k8s.io",
          {{"metadata", {{"labels", {{"kubernetes.io/service-name", "webhooks"}}}}},
           {"ports", {{{"name", "metrics"}, {"port", 8080}}, {{"name", "https"}, {"port", 9443}}}},
           {"endpoints", endpoints}});
  }
  std::string Resolve(const ObjectKey& service, int port = 443,
                      const std::vector<testing::ServiceAddress>& known = {}) {
    try {
      return ServiceResolver(context_, known).Resolve(service, port).HostAndPort();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }

  const ObjectKey kService{"shop", "webhooks"};
  ServerContext context_{Clock::Real(), 1, {}, {}, {.catalog = ServerCatalog()}};
};

TEST_F(ServiceResolverTest, AReadyEndpointOfASliceIsUsed) {
  StoreSlice({{{"addresses", {"10.0.0.1"}}, {"conditions", {{"ready", false}}}},
              {{"addresses", {"10.0.0.2"}}}});

  EXPECT_EQ(Resolve(kService), "10.0.0.2:9443");
}

TEST_F(ServiceResolverTest, AServiceWithoutReadyEndpointsHasNoAddress) {
  EXPECT_EQ(Resolve(kService), "no endpoints available for service \"webhooks\"");

  StoreSlice({{{"addresses", {"10.0.0.1"}}, {"conditions", {{"ready", false}}}}});

  EXPECT_EQ(Resolve(kService), "no endpoints available for service \"webhooks\"");
}

TEST_F(ServiceResolverTest, APortOrServiceThatDoesNotExistHasNoAddress) {
  EXPECT_EQ(Resolve(kService, 80), "no service port 80 found for service \"webhooks\"");
  EXPECT_EQ(Resolve({"shop", "other"}), "service \"other\" not found");
}

TEST_F(ServiceResolverTest, AKnownAddressIsUsedForItsPortOnly) {
  const std::vector<testing::ServiceAddress> known{
      {.service = {"shop", "other"}, .port = 443, .address = "127.0.0.1:9443"}};

  EXPECT_EQ(Resolve({"shop", "other"}, 443, known), "127.0.0.1:9443");
  EXPECT_EQ(Resolve({"shop", "other"}, 80, known), "service \"other\" not found");
}

TEST_F(ServiceResolverTest, AnInvalidAddressIsAConfigError) {
  EXPECT_THROW(testing::ApiServer({.resolve = {{.service = kService, .address = "a b"}}}),
               ConfigError);
}

}  // namespace
}  // namespace kopp::apiserver
