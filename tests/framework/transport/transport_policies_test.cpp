#include "skipping_clock.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/testing/scripted_transport.hpp>
#include <kopp/transport/transport_policies.hpp>

namespace kopp::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class TransportPoliciesTest : public ::testing::Test {
 protected:
  std::unique_ptr<Transport> Make(RateLimit limit = {}, int verbosity = 0) {
    const auto append = [this](std::string_view line) { log_ += line; };
    const auto record = [this](const RequestEvent& event) {
      events_.push_back(std::to_string(event.attempt) + " " + std::string(event.host) + " " +
                        std::to_string(event.status));
    };
    return WithPolicies(scripted_, {.rate_limit = limit,
                                    .observers = {record},
                                    .host = "host",
                                    .log = Logger({.verbosity = verbosity, .write = append}),
                                    .clock = clock_});
  }

  SkippingClock clock_;
  std::shared_ptr<ScriptedTransport> scripted_ = std::make_shared<ScriptedTransport>(clock_);
  std::string log_;
  std::vector<std::string> events_;
};

TEST_F(TransportPoliciesTest, EachTryIsObservedAndTakesItsTurnInTheRateLimit) {
  scripted_->On("GET", "/", [](const ApiRequest& request) {
    return ApiResponse{.status = request.attempt < 3 ? 429 : 200, .retry_after = 0s};
  });

  Make({.qps = 1, .burst = 1})->Call({.target = "/"});

  EXPECT_THAT(events_, ElementsAre("1 host 429", "2 host 429", "3 host 200"));
  EXPECT_GE(clock_.Now() - TimePoint{}, 1999ms) << "one call per second";
}

TEST_F(TransportPoliciesTest, WithoutARateLimitCallsDoNotWait) {
  const auto transport = Make();

  for (int i = 0; i < 1000; ++i) transport->Call({.target = "/"});

  EXPECT_THAT(clock_.waits(), ElementsAre());
}

TEST_F(TransportPoliciesTest, WarningsAreLoggedAtAnyVerbosity) {
  scripted_->On("GET", "/", [](const ApiRequest&) {
    return ApiResponse{.status = 200, .warnings = {"deprecated"}};
  });

  Make()->Call({.target = "/"});

  EXPECT_THAT(log_, HasSubstr("warning=\"deprecated\""));
}

TEST_F(TransportPoliciesTest, RequestsAreLoggedAtVerbosity6) {
  Make({}, 5)->Call({.target = "/"});
  EXPECT_EQ(log_, "");

  Make({}, 6)->Call({.target = "/"});
  EXPECT_THAT(log_, HasSubstr("verb=\"GET\" path=\"/\" status=404"));
}

TEST_F(TransportPoliciesTest, StreamsAreObserved) {
  Make({.qps = 1, .burst = 1})->Open({.target = "/api/v1/pods?watch=true"});

  EXPECT_THAT(events_, ElementsAre("1 host 200"));
}

TEST(TransportOptionsTest, TimeoutsThatAreNotPositiveAreRejected) {
  for (Duration TransportOptions::*timeout :
       {&TransportOptions::connect_timeout, &TransportOptions::handshake_timeout,
        &TransportOptions::call_timeout}) {
    for (const Duration value : {Duration(0), Duration(-1), Duration::min()}) {
      TransportOptions options;
      options.*timeout = value;
      EXPECT_THROW(
          (void)MakeTransport({.server = "http://127.0.0.1:1", .source = "a test"}, options),
          std::invalid_argument);
    }
  }
}

TEST(UserAgentTest, TheUserAgentHasTheVersionsOfTheProgramAndOfKopp) {
  EXPECT_THAT(
      UserAgent("web-operator", "v1.2"),
      MatchesRegex("web-operator/v1\\.2 \\(linux/[a-z0-9]+\\) kopp/[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(UserAgentTest, AMissingVersionIsUnknown) {
  EXPECT_THAT(UserAgent("web-operator", ""), HasSubstr("web-operator/unknown ("));
}

}  // namespace
}  // namespace kopp::testing
