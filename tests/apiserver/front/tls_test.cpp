// HTTPS, and who asks.
#include "authority.hpp"
#include "front_fixture.hpp"
#include "users.hpp"

#include <stdexcept>

namespace kopp {
namespace {

using apiserver::Authority;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class FrontTlsTest : public FrontTest {
 protected:
  FrontTlsTest() {
    options_.tls = true;
    answer_ = [this](const Ask& ask) {
      user_ = ask.user;
      return Reply{};
    };
  }

  Response Call(const Config& config) { return Connect(config)->Call({.target = "/"}); }

  apiserver::User user_;
};

constexpr const char* kUnauthorized =
    R"({"apiVersion":"v1","code":401,"kind":"Status","message":"Unauthorized","metadata":{},)"
    R"("reason":"Unauthorized","status":"Failure"})"
    "\n";

TEST_F(FrontTlsTest, ATokenIsAUser) {
  Serve();

  const auto answer = Call(front_->ConfigFor({"jane", {"devs", "system:authenticated"}}));

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(user_.name, "jane");
  EXPECT_THAT(user_.groups, ElementsAre("devs", "system:authenticated"));
}

TEST_F(FrontTlsTest, ACertificateIsAUser) {
  Serve();

  const auto answer =
      Call(front_->ConfigWithCertificate({"jane", {"devs", "ops", "system:authenticated"}}));

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(user_.name, "jane");
  EXPECT_THAT(user_.groups, ElementsAre("devs", "ops", "system:authenticated"));
}

TEST_F(FrontTlsTest, ACertificateIsOfANameOfAnyLength) {
  const std::string name(90, 'n');
  const std::string group(90, 'g');
  Serve();

  const auto answer = Call(front_->ConfigWithCertificate({name, {group}}));

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(user_.name, name);
  EXPECT_THAT(user_.groups, ElementsAre(group, "system:authenticated"));
}

TEST_F(FrontTlsTest, WhoShowsNothingIsAnonymous) {
  Serve();
  Config config = front_->ConfigFor({"jane"});
  config.token.clear();

  EXPECT_EQ(Call(config).status, 200);

  EXPECT_EQ(user_.name, "system:anonymous");
  EXPECT_THAT(user_.groups, ElementsAre("system:unauthenticated"));
}

TEST_F(FrontTlsTest, AWrongTokenIsRefused) {
  Serve();
  Config config = front_->ConfigFor({"jane"});
  config.token = "wrong";

  const auto answer = Call(config);

  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.body, kUnauthorized);
}

TEST_F(FrontTlsTest, AStrangersCertificateIsRefused) {
  Serve();
  const auto stranger = Authority().IssueForUser({"jane", {}});
  Config config = front_->ConfigFor({"jane"});
  config.token.clear();
  config.client_certificate = stranger.certificate;
  config.client_key = stranger.key;

  const auto answer = Call(config);

  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.body, kUnauthorized);
}

TEST_F(FrontTlsTest, ATokenCountsBesideAStrangersCertificate) {
  Serve();
  const auto stranger = Authority().IssueForUser({"john", {}});
  Config config = front_->ConfigFor({"jane"});
  config.client_certificate = stranger.certificate;
  config.client_key = stranger.key;

  EXPECT_EQ(Call(config).status, 200);

  EXPECT_EQ(user_.name, "jane");
}

TEST_F(FrontTlsTest, ACertificateOfAnotherServersAuthorityIsNotTrusted) {
  Serve();
  Config config = front_->ConfigFor({"jane"});
  config.certificate_authority = Authority().certificate();

  try {
    Call(config);
    FAIL() << "it was trusted";
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kUntrusted);
  }
}

TEST_F(FrontTlsTest, ItsCertificateIsForEachNameOfTheLoopback) {
  options_.address = ":0";
  Serve();
  Config config = front_->ConfigFor({"jane"});
  const std::string port_text = std::to_string(PortOf(config));

  for (const char* host : {"127.0.0.1", "[::1]", "localhost"}) {
    config.server = std::string("https://") + host + ':' + port_text;
    EXPECT_EQ(Call(config).status, 200) << host;
  }
}

TEST_F(FrontTlsTest, ItsCertificateIsForTheAddressThatItListensOn) {
  options_.address = "127.0.0.2:0";
  Serve();
  const Config config = front_->ConfigFor({"jane"});

  EXPECT_THAT(config.server, StartsWith("https://127.0.0.2:"));
  EXPECT_EQ(Call(config).status, 200);
}

TEST_F(FrontTlsTest, PlainHttpIsToldToUseHttps) {
  Serve();
  RawClient client(port());

  client.SendGet("/");

  EXPECT_EQ(client.ReadToEnd(),
            "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n");
}

TEST_F(FrontTlsTest, GarbageIsClosedAndNobodyElseNotices) {
  Serve();
  const auto other = Connect(front_->ConfigFor({"jane"}));
  EXPECT_EQ(other->Call({.target = "/"}).status, 200);
  RawClient client(port());

  client.Send(std::string("\x16\x03\x01\x00\x05garbage", 12));

  EXPECT_TRUE(client.IsClosedWithin(5s));
  EXPECT_EQ(other->Call({.target = "/"}).status, 200);
}

TEST_F(FrontTlsTest, AHandshakeThatGoesNowhereHasAnEnd) {
  options_.request_timeout = 50ms;
  Serve();
  RawClient silent(port());
  RawClient half(port());

  half.Send(std::string("\x16\x03\x01\x02\x00\x01", 6));

  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_TRUE(half.IsClosedWithin(5s));
}

TEST_F(FrontTlsTest, ALargeBodyAndALargeAnswerArriveWhole) {
  const std::string large(8 << 20, 'x');
  std::size_t size = 0;
  answer_ = [&](const Ask& ask) {
    size = ask.body.size();
    return Reply{.body = large};
  };
  Serve();

  const auto answer =
      Connect(config())->Call({.method = "POST", .target = "/", .body = std::string(3 << 20, 'b')});

  EXPECT_EQ(size, 3U << 20);
  EXPECT_EQ(answer.body, large);
}

TEST_F(FrontTlsTest, TooLargeABodyIsRefused) {
  Serve();

  const auto answer =
      Connect(config())->Call({.method = "POST", .target = "/", .body = std::string(5 << 20, 'b')});

  EXPECT_EQ(answer.status, 413);
}

// Without TLS.

TEST_F(FrontTest, NoTokenIsGivenForPlainHttp) {
  Serve();

  EXPECT_EQ(front_->ConfigFor({"jane"}).token, "");
  EXPECT_THROW((void)front_->ConfigWithCertificate({"jane"}), std::logic_error);
}

TEST_F(FrontTest, ATokenThatIsSentOverPlainHttpIsLookedAt) {
  Serve();
  RawClient client(port());

  client.SendGet("/", "Authorization: Bearer wrong\r\n");

  EXPECT_EQ(client.Read().status, 401);
}

// Users.

TEST(UsersTest, ASchemeIsReadInAnyCase) {
  apiserver::Users users;
  const std::string token = users.NewToken({"jane"});

  for (const char* scheme : {"Bearer ", "bearer ", "BEARER  "}) {
    EXPECT_EQ(users.Find(scheme + token, {}).value().name, "jane") << scheme;
  }
}

TEST(UsersTest, AnotherSchemeIsNobodyInParticular) {
  apiserver::Users users;

  EXPECT_EQ(users.Find("Basic amFuZTpqYW5l", {}).value().name, "system:anonymous");
  EXPECT_EQ(users.Find("Bearer ", {}).value().name, "system:anonymous");
}

TEST(UsersTest, TwoTokensDiffer) {
  apiserver::Users users;

  EXPECT_NE(users.NewToken({"jane"}), users.NewToken({"jane"}));
}

}  // namespace
}  // namespace kopp
