// Tests of ApiHttpServer over TLS, and of the authentication of users.
#include "api_http_server_fixture.hpp"
#include "http/certificate_authority.hpp"
#include "http/users.hpp"

#include <stdexcept>

namespace kopp {
namespace {

using apiserver::CertificateAuthority;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ApiHttpServerTlsTest : public ApiHttpServerTest {
 protected:
  ApiHttpServerTlsTest() {
    options_.tls = true;
    handler_ = [this](const ServerRequest& request) {
      user_ = request.user;
      return ServerResponse{};
    };
  }

  ApiResponse Call(const Config& config) { return Connect(config)->Call({.target = "/"}); }

  apiserver::User user_;
};

constexpr const char* kUnauthorized =
    R"({"apiVersion":"v1","code":401,"kind":"Status","message":"Unauthorized","metadata":{},)"
    R"("reason":"Unauthorized","status":"Failure"})"
    "\n";

TEST_F(ApiHttpServerTlsTest, BearerTokenAuthenticatesUser) {
  Serve();

  const auto response = Call(http_server_->ConfigFor({"jane", {"devs", "system:authenticated"}}));

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(user_.name, "jane");
  EXPECT_THAT(user_.groups, ElementsAre("devs", "system:authenticated"));
}

TEST_F(ApiHttpServerTlsTest, ClientCertificateAuthenticatesUser) {
  Serve();

  const auto response =
      Call(http_server_->ConfigWithCertificate({"jane", {"devs", "ops", "system:authenticated"}}));

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(user_.name, "jane");
  EXPECT_THAT(user_.groups, ElementsAre("devs", "ops", "system:authenticated"));
}

TEST_F(ApiHttpServerTlsTest, ClientCertificateMayHaveLongUserAndGroupNames) {
  const std::string name(90, 'n');
  const std::string group(90, 'g');
  Serve();

  const auto response = Call(http_server_->ConfigWithCertificate({name, {group}}));

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(user_.name, name);
  EXPECT_THAT(user_.groups, ElementsAre(group, "system:authenticated"));
}

TEST_F(ApiHttpServerTlsTest, RequestWithoutCredentialsIsAnonymous) {
  Serve();
  Config config = http_server_->ConfigFor({"jane"});
  config.token.clear();

  EXPECT_EQ(Call(config).status, 200);

  EXPECT_EQ(user_.name, "system:anonymous");
  EXPECT_THAT(user_.groups, ElementsAre("system:unauthenticated"));
}

TEST_F(ApiHttpServerTlsTest, UnknownTokenIsUnauthorized) {
  Serve();
  Config config = http_server_->ConfigFor({"jane"});
  config.token = "wrong";

  const auto response = Call(config);

  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(response.body, kUnauthorized);
}

TEST_F(ApiHttpServerTlsTest, ClientCertificateOfAnotherAuthorityIsUnauthorized) {
  Serve();
  const auto untrusted = CertificateAuthority().IssueForUser({"jane", {}});
  Config config = http_server_->ConfigFor({"jane"});
  config.token.clear();
  config.client_certificate = untrusted.chain;
  config.client_key = untrusted.key;

  const auto response = Call(config);

  EXPECT_EQ(response.status, 401);
  EXPECT_EQ(response.body, kUnauthorized);
}

TEST_F(ApiHttpServerTlsTest, ValidTokenIsAcceptedWithUntrustedClientCertificate) {
  Serve();
  const auto untrusted = CertificateAuthority().IssueForUser({"john", {}});
  Config config = http_server_->ConfigFor({"jane"});
  config.client_certificate = untrusted.chain;
  config.client_key = untrusted.key;

  EXPECT_EQ(Call(config).status, 200);

  EXPECT_EQ(user_.name, "jane");
}

TEST_F(ApiHttpServerTlsTest, ServerCertificateIsValidForAllLoopbackNames) {
  options_.address = ":0";
  Serve();
  Config config = http_server_->ConfigFor({"jane"});
  const std::string port_text = std::to_string(PortOf(config));

  for (const char* host : {"127.0.0.1", "[::1]", "localhost"}) {
    config.server = std::string("https://") + host + ':' + port_text;
    EXPECT_EQ(Call(config).status, 200) << host;
  }
}

TEST_F(ApiHttpServerTlsTest, ServerCertificateIsValidForListenAddress) {
  options_.address = "127.0.0.2:0";
  Serve();
  const Config config = http_server_->ConfigFor({"jane"});

  EXPECT_THAT(config.server, StartsWith("https://127.0.0.2:"));
  EXPECT_EQ(Call(config).status, 200);
}

TEST_F(ApiHttpServerTlsTest, TooLargeRequestBodyIsRejected) {
  Serve();

  const auto response =
      Connect(config())->Call({.method = "POST", .target = "/", .body = std::string(5 << 20, 'b')});

  EXPECT_EQ(response.status, 413);
}

// Plain HTTP.

TEST_F(ApiHttpServerTest, PlainHttpServerIssuesNoCredentials) {
  Serve();

  EXPECT_EQ(http_server_->ConfigFor({"jane"}).token, "");
  EXPECT_THROW((void)http_server_->ConfigWithCertificate({"jane"}), std::logic_error);
}

TEST_F(ApiHttpServerTest, UnknownTokenOverPlainHttpIsUnauthorized) {
  Serve();
  RawClient client(port());

  client.SendGet("/", "Authorization: Bearer wrong\r\n");

  EXPECT_EQ(client.Read().status, 401);
}

// Users.

class UsersTest : public ::testing::Test {
 protected:
  testing::FakeClock clock_;
  apiserver::ServerContext context_{
      clock_, 1, {.clock = clock_}, {}, {.catalog = apiserver::ServerCatalog()}};
  apiserver::Users users_{context_};
};

TEST_F(UsersTest, BearerSchemeIsCaseInsensitive) {
  const std::string token = users_.NewToken({"jane"});

  for (const char* scheme : {"Bearer ", "bearer ", "BEARER  "}) {
    EXPECT_EQ(users_.Authenticate(scheme + token, {}).value().name, "jane") << scheme;
  }
}

TEST_F(UsersTest, OtherSchemeOrEmptyTokenIsAnonymous) {
  EXPECT_EQ(users_.Authenticate("Basic amFuZTpqYW5l", {}).value().name, "system:anonymous");
  EXPECT_EQ(users_.Authenticate("Bearer ", {}).value().name, "system:anonymous");
}

TEST_F(UsersTest, NewTokenReturnsADifferentTokenEachTime) {
  EXPECT_NE(users_.NewToken({"jane"}), users_.NewToken({"jane"}));
}

}  // namespace
}  // namespace kopp
