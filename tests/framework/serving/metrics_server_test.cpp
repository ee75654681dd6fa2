#include "serving/metrics_server.hpp"

#include "reviewing_api_server.hpp"
#include "support/certificates.hpp"
#include "support/raw_client.hpp"
#include "support/scratch_folder.hpp"

#include <latch>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/config.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::RawClient;

class MetricsServerTest : public ::testing::Test {
 protected:
  void Serve(HttpServer::Routes extra = {}) {
    server_.emplace(options_, metrics_, api_.client(), std::move(extra), log_, clock_);
  }
  [[nodiscard]] std::uint16_t port() const {
    const std::string address = server_->address();
    return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }
  /// Returns the response to a request over HTTPS. `authority` is the CA to trust; empty: any.
  ApiResponse Scrape(const std::string& token, const std::string& path = "/metrics",
                     const std::string& authority = "") {
    Config config;
    config.server = "https://" + server_->address();
    config.certificate_authority = authority;
    config.insecure_skip_tls_verify = authority.empty();
    config.token = SecretString(token);
    return MakeTransport(config)->Call({.target = path});
  }
  /// Returns the message of the ConfigError of the constructor, or "none".
  std::string StartError() {
    try {
      Serve();
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "none";
  }

  testing::FakeClock clock_;
  testing::ReviewingApiServer api_{clock_};
  Metrics metrics_;
  std::string logged_;
  Logger log_{{.write = [this](std::string_view line) { logged_ += line; }}};
  MetricsServerOptions options_{.bind_address = "127.0.0.1:0"};
  std::optional<MetricsServer> server_;
};

TEST_F(MetricsServerTest, ServesMetricsOverHttpsToAuthorizedTokensOnly) {
  Serve();

  const ApiResponse response = Scrape("good");
  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.body, HasSubstr("process_cpu_seconds_total"));
  EXPECT_EQ(Scrape("").status, 401);
  EXPECT_EQ(Scrape("bad").status, 401);
  EXPECT_EQ(Scrape("other").status, 403);
  EXPECT_THAT(logged_, AllOf(HasSubstr("Serving metrics"), HasSubstr("secure=true")));
}

TEST_F(MetricsServerTest, ServesPlainHttpWithoutTokenIfNotSecure) {
  options_.secure = false;
  Serve();

  EXPECT_THAT(testing::Get(port(), "/metrics").body, HasSubstr("process_open_fds"));
  EXPECT_EQ(api_.token_reviews(), 0);
}

TEST_F(MetricsServerTest, FurtherRoutesNeedAuthorizationToo) {
  Serve({{"/extra", [](const HttpRequest&) { return HttpResponse{.body = "extra"}; }}});

  EXPECT_EQ(Scrape("", "/extra").status, 401);
  EXPECT_EQ(Scrape("good", "/extra").status, 403);
}

TEST_F(MetricsServerTest, ReplacedCertificateFilesAreUsedWithoutRestart) {
  const testing::ScratchFolder folder;
  const auto write = [&](const testing::CertificateAuthority& authority) {
    const auto issued = authority.IssueForLoopback();
    folder.Write("tls.crt", issued.certificate);
    folder.Write("tls.key", issued.key);
  };
  const testing::CertificateAuthority first;
  const testing::CertificateAuthority second;
  write(first);
  options_.cert_path = (folder / "").string();
  Serve();
  clock_.AwaitSleepers(1);
  EXPECT_EQ(Scrape("good", "/metrics", first.certificate()).status, 200);

  write(second);
  clock_.Advance(10s);
  clock_.AwaitSleepers(1);

  EXPECT_THAT(Scrape("good", "/metrics", second.certificate()).body,
              HasSubstr("\ncertwatcher_read_certificate_total 2\n"));
  EXPECT_THROW(Scrape("good", "/metrics", first.certificate()), TransportError);
}

TEST_F(MetricsServerTest, UnusableCertificateOrAddressAtStartIsAConfigErrorThatNamesTheFlag) {
  options_.cert_path = "/does-not-exist";
  EXPECT_THAT(StartError(),
              AllOf(HasSubstr("--metrics-cert-path: "), HasSubstr("/does-not-exist/tls.crt")));
  options_.cert_path.clear();
  const HttpServer other({.address = "127.0.0.1:0"}, {});
  options_.bind_address = other.address();

  EXPECT_THAT(StartError(),
              AllOf(HasSubstr("--metrics-bind-address: "), HasSubstr("another program")));
}

TEST_F(MetricsServerTest, HalfOpenConnectionsAndRequestsWithoutTokenDoNotStopScrapes) {
  Serve();
  std::vector<std::unique_ptr<RawClient>> half_open;
  for (int i = 0; i < 20; ++i) {
    half_open.push_back(std::make_unique<RawClient>(port()));
    if (i % 2 == 0) half_open.back()->Send(std::string("\x16\x03\x01\x02\x00\x01", 6));
  }
  std::vector<std::jthread> flood;
  for (int i = 0; i < 4; ++i) {
    flood.emplace_back([this] {
      for (int j = 0; j < 10; ++j) EXPECT_EQ(Scrape("").status, 401);
    });
  }

  EXPECT_EQ(Scrape("good").status, 200);
}

TEST_F(MetricsServerTest, MoreHalfOpenConnectionsThanTheLimitDoNotStopScrapes) {
  Serve();
  std::vector<std::unique_ptr<RawClient>> half_open;
  for (int i = 0; i < 100; ++i) half_open.push_back(std::make_unique<RawClient>(port()));

  EXPECT_EQ(Scrape("good").status, 200);
}

/// A transport whose calls block until they are cancelled.
class HangingTransport final : public Transport {
 public:
  ApiResponse Call(const ApiRequest&, std::stop_token stop) override {
    entered_.count_down();
    (void)SleepUntil(Clock::Real(), TimePoint::max(), stop);
    throw TransportError(TransportError::Kind::kCancelled, "cancelled");
  }
  std::unique_ptr<Stream> Open(const ApiRequest&, std::stop_token) override { return nullptr; }
  void AwaitCall() const { entered_.wait(); }

 private:
  std::latch entered_{1};
};

TEST_F(MetricsServerTest, DestructorCancelsARunningReview) {
  HangingTransport hanging;
  server_.emplace(options_, metrics_, Client(hanging));
  const std::jthread scraper([address = server_->address()] {
    Config config;
    config.server = "https://" + address;
    config.insecure_skip_tls_verify = true;
    config.token = SecretString("good");
    try {
      (void)MakeTransport(config)->Call({.target = "/metrics"});
    } catch (const TransportError&) {  // the server may close the connection before it responds
    }
  });
  hanging.AwaitCall();

  server_.reset();
}

}  // namespace
}  // namespace kopp
