#include "controller/controller_fixture.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(ControllerTest, AnExceptionIsLoggedAndRetriedWithADelayThatDoubles) {
  SetPods({PodJson("a")});
  std::vector<TimePoint> calls;
  Controller& controller =
      manager_.AddController<Pod>({.name = "pods"}).Reconcile([&](const Pod&, Context&) -> Result {
        calls.push_back(clock_.Now());
        RecordCall("call");
        if (calls.size() == 1) throw std::runtime_error("disk full");
        if (calls.size() == 2) throw 42;  // NOLINT: not a std::exception
        return {};
      });
  Start();
  AwaitCalls(1);
  AdvanceUntilCalls(controller, 3, 1ms);
  Stop();

  EXPECT_GE(calls[1] - calls[0], 5ms);
  EXPECT_GE(calls[2] - calls[1], 10ms);
  EXPECT_THAT(LogText(),
              HasSubstr("\"Reconciler error\" controller=\"pods\" controllerGroup=\"\" "
                        "controllerKind=\"Pod\" Pod=\"ns/a\" namespace=\"ns\" name=\"a\" "));
  EXPECT_THAT(LogText(), HasSubstr("err=\"disk full\""));
  EXPECT_THAT(LogText(), HasSubstr("an object that is not a std::exception"));
}

TEST_F(ControllerTest, ATerminalErrorIsLoggedAndNotRetriedUntilTheObjectChanges) {
  SetPods({PodJson("a")});
  manager_.AddController<Pod>().Reconcile([this](const Pod& pod, Context&) -> Result {
    RecordCall(pod.metadata.name);
    if (pod.metadata.name == "a") throw TerminalError("invalid spec");
    return {};
  });
  Start();
  AwaitCalls(1);
  SendPodEvent("ADDED", PodJson("b"));
  AwaitCalls(2);  // the worker has finished handling the exception
  for (int i = 0; i < 5; ++i) {
    AwaitIdle();
    clock_.Advance(10s);
  }
  SendPodEvent("ADDED", PodJson("c"));
  EXPECT_THAT(AwaitCalls(3), ElementsAre("a", "b", "c"));
  EXPECT_THAT(LogText(), HasSubstr("not until the object changes"));

  SendPodEvent("MODIFIED", PodJson("a"));
  EXPECT_THAT(AwaitCalls(4), ElementsAre("a", "b", "c", "a"));
}

TEST_F(ControllerTest, RequeueAfterReconcilesAgainAfterTheDelay) {
  SetPods({PodJson("a")});
  std::vector<TimePoint> calls;
  Controller& controller =
      manager_.AddController<Pod>().Reconcile([&](const Pod&, Context&) -> Result {
        calls.push_back(clock_.Now());
        RecordCall("call");
        return {.requeue_after = 5s};
      });
  Start();
  AwaitCalls(1);
  AdvanceUntilCalls(controller, 2, 1s);
  Stop();

  EXPECT_GE(calls[1] - calls[0], 5s);
}

TEST_F(ControllerTest, AKeyIsNotRetriedBeforeTheRetryAfterOfAnApiError) {
  SetPods({PodJson("a")});
  std::vector<TimePoint> calls;
  Controller& controller =
      manager_.AddController<Pod>().Reconcile([&](const Pod&, Context&) -> Result {
        calls.push_back(clock_.Now());
        RecordCall("call");
        if (calls.size() == 1) throw ApiError::FromBody("GET /x", 429, "", 30s);
        if (calls.size() == 2) throw ApiError::FromBody("GET /x", 503, "", 1h);
        return {};
      });
  Start();
  AwaitCalls(1);
  AdvanceUntilCalls(controller, 3, 1s);
  Stop();

  EXPECT_GE(calls[1] - calls[0], 30s);
  EXPECT_GE(calls[2] - calls[1], 1min);
  EXPECT_LE(calls[2] - calls[1], 91s) << "the maximum is 1 min, and its half as jitter";
}

TEST_F(ControllerTest, AServerThatRejectsCallsGetsOneCallPerKeyUntilItsRetryAfter) {
  constexpr std::size_t kKeys = 20;
  constexpr const char* kShared = "/api/v1/namespaces/ns/pods/shared";
  std::vector<std::string> pods;
  for (std::size_t i = 0; i < kKeys; ++i) pods.push_back(PodJson("pod-" + std::to_string(i)));
  SetPods(pods);
  transport_->On("PATCH", kShared,
                 [](const ApiRequest&) { return ApiResponse{.status = 429, .retry_after = 30s}; });
  Controller& controller =
      manager_.AddController<Pod>().Reconcile([&](const Pod&, Context& context) -> Result {
        RecordCall("call");
        (void)context.client.Patch<Pod>({"ns", "shared"}, Patch{.text = "{}"});
        return {};
      });
  Start();
  transport_->Await("PATCH", kShared, kKeys);
  for (int second = 0; second < 29; ++second) {
    AwaitIdle();
    clock_.Advance(1s);
  }
  AwaitIdle();
  EXPECT_EQ(transport_->Await("PATCH", kShared, kKeys).size(), kKeys);

  AdvanceUntilCalls(controller, 2 * kKeys, 1s);
  Stop();
}

TEST_F(ControllerTest, AfterARateLimiterExceptionTheKeyIsRetriedAfterOneSecond) {
  class Thrower final : public workqueue::RateLimiter<ObjectKey> {
   public:
    Duration When(const ObjectKey&) override {
      if (++calls_ == 1) throw std::runtime_error("limiter broken");
      throw 42;  // NOLINT: not a std::exception
    }
    void Forget(const ObjectKey&) override {}
    int NumRequeues(const ObjectKey&) override { return 0; }

   private:
    int calls_ = 0;
  };
  SetPods({PodJson("a")});
  int calls = 0;
  Controller& controller = manager_.AddController<Pod>({.limiter = std::make_unique<Thrower>()})
                               .Reconcile([&](const Pod&, Context&) -> Result {
                                 RecordCall("call");
                                 if (++calls <= 2) throw std::runtime_error("try again");
                                 return {};
                               });
  Start();
  AwaitCalls(1);

  AdvanceUntilCalls(controller, 3, 100ms);

  EXPECT_GE(clock_.Now() - TimePoint{}, 2s);
  EXPECT_THAT(LogText(), HasSubstr("limiter broken"));
  EXPECT_THAT(LogText(), HasSubstr("the rate limiter threw an object that is not"));
  Stop();
}

}  // namespace
}  // namespace kopp
