#include "skipping_clock.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>
#include <kopp/transport/rate_limiting_transport.hpp>

namespace kopp::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RateLimitingTransportTest : public ::testing::Test {
 protected:
  RateLimitingTransport Limited(RateLimit limit, int verbosity = 0) {
    const auto append = [this](std::string_view line) { log_ += line; };
    return {scripted_, limit, Logger({.verbosity = verbosity, .write = append}), clock_};
  }
  static void Call(Transport& transport, int count) {
    for (int i = 0; i < count; ++i) transport.Call({.target = "/api/v1/pods?limit=5"});
  }

  SkippingClock clock_;
  std::shared_ptr<ScriptedTransport> scripted_ = std::make_shared<ScriptedTransport>(clock_);
  std::string log_;
};

TEST_F(RateLimitingTransportTest, AfterTheBurstCallsWaitForTheirTurn) {
  auto transport = Limited({.qps = 10, .burst = 3});

  Call(transport, 3);
  EXPECT_THAT(clock_.waits(), ElementsAre());
  Call(transport, 2);

  EXPECT_THAT(clock_.waits(), ElementsAre(100ms, 100ms));
  EXPECT_EQ(scripted_->Requests().size(), 5U);
}

TEST_F(RateLimitingTransportTest, TheBurstIsTwiceTheRateByDefault) {
  auto transport = Limited({.qps = 2.5});

  Call(transport, 5);
  EXPECT_THAT(clock_.waits(), ElementsAre());
  Call(transport, 1);

  EXPECT_THAT(clock_.waits(), ElementsAre(400ms));
}

TEST_F(RateLimitingTransportTest, StreamsAreExempt) {
  auto transport = Limited({.qps = 1, .burst = 1});

  for (int i = 0; i < 5; ++i) transport.Open({.target = "/api/v1/pods"});
  Call(transport, 1);

  EXPECT_THAT(clock_.waits(), ElementsAre());
}

TEST_F(RateLimitingTransportTest, AWaitOfMoreThanOneSecondIsLogged) {
  auto transport = Limited({.qps = 0.5, .burst = 1});

  Call(transport, 2);

  EXPECT_THAT(log_, AllOf(HasSubstr("\"Waited before sending request\" delay=2"),
                          HasSubstr("verb=\"GET\" path=\"/api/v1/pods\"\n")));
}

TEST_F(RateLimitingTransportTest, AWaitOfMoreThan50msIsLoggedAtVerbosity3) {
  auto normal = Limited({.qps = 10, .burst = 1}, 2);
  Call(normal, 2);
  EXPECT_EQ(log_, "");

  auto verbose = Limited({.qps = 10, .burst = 1}, 3);
  Call(verbose, 2);
  EXPECT_THAT(log_, HasSubstr("\"Waited before sending request\" delay=0.1"));
}

TEST_F(RateLimitingTransportTest, AWaitOfUpTo50msIsNotLogged) {
  auto transport = Limited({.qps = 20, .burst = 1}, 9);

  Call(transport, 2);

  EXPECT_THAT(clock_.waits(), ElementsAre(50ms));
  EXPECT_EQ(log_, "");
}

TEST_F(RateLimitingTransportTest, AStopInterruptsTheWait) {
  FakeClock clock;
  const auto server = std::make_shared<ScriptedTransport>(clock);
  RateLimitingTransport transport{server, {.qps = 1, .burst = 1}, Logger(), clock};
  Call(transport, 1);
  std::optional<TransportError::Kind> kind;
  std::jthread caller([&](const std::stop_token& stop) {
    try {
      transport.Call({.target = "/"}, stop);
    } catch (const TransportError& error) {
      kind = error.kind();
    }
  });
  clock.AwaitSleepers(1);

  caller.request_stop();
  caller.join();

  EXPECT_EQ(kind, TransportError::Kind::kCancelled);
  EXPECT_EQ(server->Requests().size(), 1U);
}

TEST_F(RateLimitingTransportTest, ARateOf0IsRejected) {
  EXPECT_THROW(Limited({.qps = 0, .burst = 1}), std::invalid_argument);
}

}  // namespace
}  // namespace kopp::testing
