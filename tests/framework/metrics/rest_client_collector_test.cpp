#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/metrics.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>
#include <kopp/transport/observing_transport.hpp>
#include <kopp/transport/transport_policies.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class RestClientMetricsTest : public ::testing::Test {
 protected:
  [[nodiscard]] bool Has(const std::string& line) const {
    return metrics_.Text().find('\n' + line + '\n') != std::string::npos;
  }

  Metrics metrics_;
};

TEST_F(RestClientMetricsTest, RequestAndResponseSizesAreObserved) {
  metrics_.ObserveRequest({.method = "POST",
                           .host = "h:1",
                           .status = 201,
                           .request_bytes = 300,
                           .response_bytes = 20'000'000});

  const std::string series = R"({host="h:1",verb="POST")";
  EXPECT_TRUE(Has("rest_client_request_size_bytes_bucket" + series + ",le=\"256\"} 0"));
  EXPECT_TRUE(Has("rest_client_request_size_bytes_bucket" + series + ",le=\"512\"} 1"));
  EXPECT_TRUE(Has("rest_client_response_size_bytes_bucket" + series + ",le=\"16777216\"} 0"));
  EXPECT_TRUE(Has("rest_client_response_size_bytes_bucket" + series + ",le=\"+Inf\"} 1"));
}

TEST_F(RestClientMetricsTest, StreamsAndFailuresHaveNoResponseSize) {
  metrics_.ObserveRequest({.method = "GET", .host = "h:1", .stream = true, .status = 200});
  metrics_.ObserveRequest(
      {.method = "GET", .host = "h:1", .error = TransportError::Kind::kTimeout});

  EXPECT_THAT(metrics_.Text(), Not(HasSubstr("rest_client_response_size_bytes")));
  EXPECT_TRUE(Has(R"(rest_client_request_size_bytes_count{host="h:1",verb="GET"} 2)"));
}

TEST_F(RestClientMetricsTest, RetriesAreCountedByTheirResult) {
  metrics_.ObserveRequest({.method = "GET", .host = "h:1", .attempt = 1, .status = 503});
  EXPECT_THAT(metrics_.Text(), Not(HasSubstr("rest_client_request_retries_total")));
  metrics_.ObserveRequest({.method = "GET", .host = "h:1", .attempt = 2, .status = 503});
  metrics_.ObserveRequest({.method = "GET", .host = "h:1", .attempt = 3, .status = 200});

  EXPECT_TRUE(Has(R"(rest_client_request_retries_total{code="503",host="h:1",verb="GET"} 1)"));
  EXPECT_TRUE(Has(R"(rest_client_request_retries_total{code="200",host="h:1",verb="GET"} 1)"));
}

TEST_F(RestClientMetricsTest, WaitsForTheRateLimitAreObserved) {
  testing::FakeClock clock;
  auto scripted = std::make_shared<testing::ScriptedTransport>(clock);
  const auto transport = WithPolicies(
      scripted,
      {.rate_limit = {.qps = 1, .burst = 1},
       .on_rate_limit = [this](std::string_view method,
                               Duration wait) { metrics_.ObserveRateLimiter(method, "h:1", wait); },
       .clock = clock});

  (void)transport->Call({.target = "/a"});

  EXPECT_TRUE(Has(
      R"(rest_client_rate_limiter_duration_seconds_bucket{host="h:1",verb="GET",le="0.005"} 1)"));
  metrics_.ObserveRateLimiter("GET", "h:1", 300ms);
  EXPECT_TRUE(
      Has(R"(rest_client_rate_limiter_duration_seconds_bucket{host="h:1",verb="GET",le="0.5"} 2)"));
}

TEST_F(RestClientMetricsTest, ReadsOfCertificatesAreCountedFromZero) {
  EXPECT_TRUE(Has("certwatcher_read_certificate_total 0"));
  EXPECT_TRUE(Has("certwatcher_read_certificate_errors_total 0"));

  metrics_.ObserveCertificateRead(true);
  metrics_.ObserveCertificateRead(false);

  EXPECT_TRUE(Has("certwatcher_read_certificate_total 2"));
  EXPECT_TRUE(Has("certwatcher_read_certificate_errors_total 1"));
}

}  // namespace
}  // namespace kopp
