#include "skipping_clock.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>
#include <kopp/transport/retrying_transport.hpp>

namespace kopp::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ErrorKind = TransportError::Kind;

constexpr const char* kPath = "/api/v1/namespaces/shop/pods/a";

ApiResponse Rejected(int status, std::optional<Duration> retry_after) {
  return {.status = status, .body = "{}", .retry_after = retry_after};
}

/// Sends requests through a RetryingTransport without jitter to a server that fails at first.
class RetryingTransportTest : public ::testing::Test {
 protected:
  /// Makes the server return `response` to the first `times` requests with `method`, then 200.
  void Respond(const std::string& method, const ApiResponse& response, int times = 1) {
    scripted_->On(method, kPath, [response, times](const ApiRequest& request) {
      return request.attempt <= times ? response : ApiResponse{.status = 200, .body = "done"};
    });
  }
  /// Makes the first `times` requests with `method` fail, then return 200.
  void Fail(const std::string& method, ErrorKind kind, int times = 1) {
    scripted_->On(method, kPath, [kind, times](const ApiRequest& request) {
      if (request.attempt <= times) throw TransportError(kind, "no response");
      return ApiResponse{.status = 200, .body = "done"};
    });
  }
  ApiResponse Call(const std::string& method = "GET") {
    RetryingTransport transport{scripted_, policy_, clock_, [this] { return random_; }};
    return transport.Call({.method = method, .target = kPath});
  }
  std::size_t Tries() { return scripted_->Requests().size(); }

  SkippingClock clock_;
  std::shared_ptr<ScriptedTransport> scripted_ = std::make_shared<ScriptedTransport>(clock_);
  RetryPolicy policy_;
  double random_ = 0;
};

TEST_F(RetryingTransportTest, EveryMethodIsRetriedAfter429And503WithRetryAfter) {
  for (const std::string method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    for (const int status : {429, 503}) {
      Respond(method, Rejected(status, 2s));
      EXPECT_EQ(Call(method).body, "done") << method << " " << status;
      EXPECT_EQ(clock_.waits().back(), 2s);
    }
  }
}

TEST_F(RetryingTransportTest, OnlyAGetIsRetriedAfterAnother5xxWithRetryAfter) {
  for (const int status : {500, 502, 504}) {
    Respond("GET", Rejected(status, 1s));
    Respond("POST", Rejected(status, 1s));

    EXPECT_EQ(Call("GET").status, 200) << status;
    EXPECT_EQ(Call("POST").status, status) << "the server may have executed it";
  }
}

TEST_F(RetryingTransportTest, AResponseWithoutRetryAfterIsNotRetried) {
  for (const int status : {429, 500, 502, 503, 504}) {
    for (const std::string method : {"GET", "POST"}) {
      Respond(method, Rejected(status, std::nullopt));
      EXPECT_EQ(Call(method).status, status) << method;
    }
  }
}

TEST_F(RetryingTransportTest, AClientErrorIsNotRetriedEvenWithRetryAfter) {
  for (const int status : {400, 403, 404, 409, 422}) {
    Respond("GET", Rejected(status, 1s));
    EXPECT_EQ(Call().status, status);
  }
}

TEST_F(RetryingTransportTest, EveryMethodIsRetriedIfTheServerIsUnreachable) {
  for (const std::string method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    Fail(method, ErrorKind::kUnreachable);
    EXPECT_EQ(Call(method).body, "done") << method;
  }
}

TEST_F(RetryingTransportTest, OnlyAGetIsRetriedIfTheConnectionBreaks) {
  for (const std::string method : {"POST", "PUT", "PATCH", "DELETE"}) {
    Fail(method, ErrorKind::kBroken);
    EXPECT_THROW(Call(method), TransportError) << method;
  }
  Fail("GET", ErrorKind::kBroken);
  EXPECT_EQ(Call("GET").body, "done");
}

TEST_F(RetryingTransportTest, OtherTransportErrorsAreNotRetried) {
  for (const auto kind :
       {ErrorKind::kUntrusted, ErrorKind::kTimeout, ErrorKind::kMalformed, ErrorKind::kTooLarge,
        ErrorKind::kCancelled, ErrorKind::kNoCredentials, ErrorKind::kForbiddenByProxy}) {
    Fail("GET", kind);
    EXPECT_THROW(Call(), TransportError);
  }
  EXPECT_THAT(clock_.waits(), ElementsAre());
}

TEST_F(RetryingTransportTest, EachTryHasItsNumber) {
  Fail("GET", ErrorKind::kUnreachable, 2);
  Call();

  std::vector<int> attempts;
  for (const ApiRequest& request : scripted_->Requests()) attempts.push_back(request.attempt);
  EXPECT_THAT(attempts, ElementsAre(1, 2, 3));
}

TEST_F(RetryingTransportTest, TheWaitDoublesAndTheLastErrorIsThrownAfterMaxElapsedTime) {
  Fail("GET", ErrorKind::kUnreachable, 100);

  EXPECT_THROW(Call(), TransportError);

  EXPECT_THAT(clock_.waits(), ElementsAre(100ms, 200ms, 400ms, 800ms, 1600ms));
}

TEST_F(RetryingTransportTest, RetryAfter0IsRetriedWithBackoff) {
  Respond("GET", Rejected(429, 0s), 2);

  EXPECT_EQ(Call().status, 200);

  EXPECT_THAT(clock_.waits(), ElementsAre(100ms, 200ms));
}

TEST_F(RetryingTransportTest, ARetryAfterOfUpTo5SecondsIsWaitedForAndALongerOneIsReturned) {
  Respond("GET", Rejected(429, 5s));
  EXPECT_EQ(Call().status, 200);

  Respond("GET", Rejected(429, 5s + 1ms));
  const ApiResponse response = Call();
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.retry_after, 5s + 1ms);
  EXPECT_THAT(clock_.waits(), ElementsAre(5s));
}

TEST_F(RetryingTransportTest, TheWaitsOfACallTogetherAreLimitedByMaxElapsedTime) {
  Respond("GET", Rejected(429, 2s), 100);

  EXPECT_EQ(Call().status, 429);

  EXPECT_THAT(clock_.waits(), ElementsAre(2s, 2s));
}

TEST_F(RetryingTransportTest, ATryThatTakesLongerThanMaxElapsedTimeIsNotRetried) {
  scripted_->On("GET", kPath, [this](const ApiRequest&) {
    clock_.Advance(6s);
    return Rejected(429, 1s);
  });

  EXPECT_EQ(Call().status, 429);
  EXPECT_EQ(Tries(), 1U);
}

TEST_F(RetryingTransportTest, ACallIsTriedAtMost10Times) {
  policy_.max_elapsed_time = 1h;
  Respond("GET", Rejected(503, 1s), 100);

  EXPECT_EQ(Call().status, 503);

  EXPECT_EQ(Tries(), 10U);
}

TEST_F(RetryingTransportTest, MaxTries1DisablesRetries) {
  policy_.max_tries = 1;
  Respond("GET", Rejected(429, 1s));

  EXPECT_EQ(Call().status, 429);
}

TEST_F(RetryingTransportTest, TheJitterLengthensAWaitByUpToAHalf) {
  random_ = 1;
  Respond("GET", Rejected(429, 4s));

  Call();

  EXPECT_THAT(clock_.waits(), ElementsAre(6s));
}

TEST_F(RetryingTransportTest, AStopInterruptsTheWait) {
  FakeClock clock;
  const auto server = std::make_shared<ScriptedTransport>(clock);
  server->On("GET", kPath, [](const ApiRequest&) { return Rejected(429, 5s); });
  RetryingTransport transport{server, {}, clock};
  std::optional<ErrorKind> kind;
  std::string message;
  std::jthread caller([&](const std::stop_token& stop) {
    try {
      transport.Call({.target = kPath}, stop);
    } catch (const TransportError& error) {
      kind = error.kind();
      message = error.what();
    }
  });
  clock.AwaitSleepers(1);

  caller.request_stop();
  caller.join();

  EXPECT_EQ(kind, ErrorKind::kCancelled);
  EXPECT_THAT(message, HasSubstr(std::string("GET ") + kPath));
}

TEST_F(RetryingTransportTest, AStreamIsOpenedOnce) {
  Fail("GET", ErrorKind::kUnreachable);
  RetryingTransport transport{scripted_, policy_, clock_};

  EXPECT_THROW(transport.Open({.target = kPath}), TransportError);

  EXPECT_EQ(Tries(), 1U);
}

}  // namespace
}  // namespace kopp::testing
