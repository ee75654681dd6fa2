#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/leader_election/write_fence.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>
#include <kopp/transport/retrying_transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kFencedPath = "/api/v1/namespaces/shop/configmaps/a";

/// Blocks until `token` is stopped.
void AwaitFenceStop(const std::stop_token& token) {
  std::promise<void> stopped;
  const std::stop_callback wake(token, [&] { stopped.set_value(); });
  stopped.get_future().wait();
}

/// A transport that calls a function.
class FunctionTransport final : public Transport {
 public:
  using Function = std::function<ApiResponse(const ApiRequest&, const std::stop_token&)>;
  explicit FunctionTransport(Function function) : function_(std::move(function)) {}
  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    return function_(request, stop);
  }
  std::unique_ptr<Stream> Open(const ApiRequest&, std::stop_token) override { return nullptr; }

 private:
  Function function_;
};

class WriteFenceTest : public ::testing::Test {
 protected:
  [[nodiscard]] TimePoint In(Duration delay) const { return clock_.Now() + delay; }

  testing::FakeClock clock_;
  WriteFence fence_{clock_};
};

TEST_F(WriteFenceTest, ANewFenceIsClosed) {
  EXPECT_FALSE(fence_.IsOpen());
  EXPECT_EQ(fence_.OpenToken(), std::nullopt);
  EXPECT_FALSE(fence_.Extend(In(1s)));
  EXPECT_FALSE(fence_.IsOpen());
}

TEST_F(WriteFenceTest, TheFenceIsOpenUntilItsTimeAndThenStopsItsToken) {
  const std::stop_token token = fence_.Open(In(10s));
  clock_.AwaitSleepers(1);
  clock_.Advance(10s - 1ns);
  clock_.AwaitSleepers(1);
  EXPECT_TRUE(fence_.IsOpen());
  EXPECT_FALSE(token.stop_requested());

  clock_.Advance(1ns);

  EXPECT_FALSE(fence_.IsOpen());
  AwaitFenceStop(token);
}

TEST_F(WriteFenceTest, AnExtendedFenceClosesAtTheNewTime) {
  const std::stop_token token = fence_.Open(In(10s));
  clock_.AwaitSleepers(1);
  clock_.Advance(6s);
  clock_.AwaitSleepers(1);
  EXPECT_TRUE(fence_.Extend(In(10s)));

  clock_.Advance(4s);
  clock_.AwaitSleepers(1);
  EXPECT_TRUE(fence_.IsOpen());
  EXPECT_FALSE(token.stop_requested());

  clock_.Advance(6s);
  AwaitFenceStop(token);
}

TEST_F(WriteFenceTest, AFenceWhoseTimeHasPassedCannotBeExtended) {
  fence_.Open(In(10s));
  clock_.Advance(10s);

  EXPECT_FALSE(fence_.Extend(In(10s)));
  EXPECT_FALSE(fence_.IsOpen());
}

TEST_F(WriteFenceTest, CloseStopsTheTokenAndOpenReturnsANewOne) {
  const std::stop_token first = fence_.Open(In(10s));

  fence_.Close();

  EXPECT_TRUE(first.stop_requested());
  EXPECT_FALSE(fence_.IsOpen());
  const std::stop_token second = fence_.Open(In(10s));
  EXPECT_TRUE(fence_.IsOpen());
  EXPECT_FALSE(second.stop_requested());
}

class FencedTransportTest : public WriteFenceTest {
 protected:
  static ApiRequest Write(const std::string& method = "PATCH") {
    return {.method = method, .target = kFencedPath, .body = "{}"};
  }
  /// Sends a write through `next` and returns the NotLeaderError that it throws.
  NotLeaderError NotLeaderErrorOf(const std::shared_ptr<Transport>& next) {
    try {
      FencedTransport(next, fence_).Call(Write());
    } catch (const NotLeaderError& error) {
      return error;
    }
    throw std::logic_error("the write did not throw NotLeaderError");
  }

  std::shared_ptr<testing::ScriptedTransport> scripted_ =
      std::make_shared<testing::ScriptedTransport>(clock_);
};

TEST_F(FencedTransportTest, AWritePassesWhileTheFenceIsOpen) {
  scripted_->Respond("PATCH", kFencedPath, 409, "conflict");
  fence_.Open(In(10s));

  EXPECT_EQ(FencedTransport(scripted_, fence_).Call(Write()).status, 409);
}

TEST_F(FencedTransportTest, EachWriteIsRefusedAndNotSentWhileTheFenceIsClosed) {
  FencedTransport transport(scripted_, fence_);
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    EXPECT_THROW(transport.Call(Write(method)), NotLeaderError) << method;
  }
  EXPECT_THROW(transport.Open(Write("POST")), NotLeaderError);

  EXPECT_THAT(scripted_->Requests(), IsEmpty());
  const NotLeaderError error = NotLeaderErrorOf(scripted_);
  EXPECT_FALSE(error.sent());
  EXPECT_EQ(error.kind(), TransportError::Kind::kCancelled);
  EXPECT_THAT(error.what(), HasSubstr(std::string("PATCH ") + kFencedPath + ": not sent"));
}

TEST_F(FencedTransportTest, AReadPassesWhileTheFenceIsClosed) {
  scripted_->Respond("GET", kFencedPath, 200, "{}");

  EXPECT_EQ(FencedTransport(scripted_, fence_).Call({.target = kFencedPath}).status, 200);
}

TEST_F(FencedTransportTest, AWriteIsNotSentIfTheFenceClosesBetweenTheCallAndTheSend) {
  // As if the process was stopped for a while: no other thread has run since.
  const auto slow =
      std::make_shared<FunctionTransport>([&](const ApiRequest& request, const std::stop_token&) {
        clock_.Advance(10s);
        return scripted_->Call(request);
      });
  fence_.Open(In(10s));

  EXPECT_FALSE(NotLeaderErrorOf(slow).sent());
  EXPECT_THAT(scripted_->Requests(), IsEmpty());
}

TEST_F(FencedTransportTest, AWriteOfAnEarlierLeadershipIsNotSentInALaterOne) {
  const auto slow =
      std::make_shared<FunctionTransport>([&](const ApiRequest& request, const std::stop_token&) {
        fence_.Close();
        fence_.Open(In(10s));
        return scripted_->Call(request);
      });
  fence_.Open(In(10s));

  EXPECT_FALSE(NotLeaderErrorOf(slow).sent());
  EXPECT_THAT(scripted_->Requests(), IsEmpty());
}

TEST_F(FencedTransportTest, ARetryThatIsDueAfterTheFenceHasClosedIsNotSent) {
  scripted_->On("PATCH", kFencedPath,
                [](const ApiRequest&) { return ApiResponse{.status = 503, .retry_after = 3s}; });
  const auto retrying =
      std::make_shared<RetryingTransport>(scripted_, RetryPolicy{}, clock_, [] { return 0.0; });
  fence_.Open(In(2s));
  auto error = std::async(std::launch::async, [&] { return NotLeaderErrorOf(retrying); });
  clock_.AwaitSleepers(2);  // the retry and the fence

  clock_.Advance(3s);

  EXPECT_THAT(error.get().what(), HasSubstr("may have lost the leader's lease"));
  EXPECT_THAT(scripted_->Requests(), SizeIs(1));
}

TEST_F(FencedTransportTest, AWriteWithoutResponseIsCancelledWhenTheFenceCloses) {
  std::promise<void> called;
  const auto hanging = std::make_shared<FunctionTransport>(
      [&](const ApiRequest&, const std::stop_token& stop) -> ApiResponse {
        called.set_value();
        AwaitFenceStop(stop);
        throw TransportError(TransportError::Kind::kCancelled, "stopped");
      });
  fence_.Open(In(10s));
  auto error = std::async(std::launch::async, [&] { return NotLeaderErrorOf(hanging); });
  called.get_future().wait();

  clock_.Advance(10s);

  const NotLeaderError cancelled = error.get();
  EXPECT_TRUE(cancelled.sent());
  EXPECT_THAT(cancelled.what(), HasSubstr("the API server may have executed it"));
}

TEST_F(FencedTransportTest, AStopOfTheCallerIsNotReportedAsALostLease) {
  std::stop_source stop;
  stop.request_stop();
  fence_.Open(In(10s));

  try {
    FencedTransport(scripted_, fence_).Call(Write(), stop.get_token());
    ADD_FAILURE() << "the call did not throw";
  } catch (const NotLeaderError& error) {
    ADD_FAILURE() << error.what();
  } catch (const TransportError& error) {
    EXPECT_EQ(error.kind(), TransportError::Kind::kCancelled);
  }
}

TEST_F(FencedTransportTest, TheBeforeSendOfTheCallerIsCalledToo) {
  scripted_->Respond("PATCH", kFencedPath, 200, "{}");
  fence_.Open(In(10s));
  int calls = 0;
  ApiRequest request = Write();
  request.before_send = [&] { ++calls; };

  FencedTransport(scripted_, fence_).Call(request);

  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace kopp
