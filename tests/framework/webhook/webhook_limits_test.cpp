// Tests the limits of requests for webhooks.
#include "support/hang_timeout.hpp"
#include "webhook_server_fixture.hpp"

#include <array>
#include <atomic>
#include <latch>
#include <semaphore>
#include <thread>
#include <vector>

namespace kopp {
namespace {

using namespace std::chrono_literals;

// O2
TEST_F(WebhookServerTest, ABodyOfMoreThan7MiBIsRejectedWith413) {
  std::atomic<int> calls = 0;
  NewManager().AddWebhook<Widget>().Validate([&](const Widget&) { ++calls; });
  StartManager();
  const std::string path = "/validate-shop-example-com-v1-widget";
  std::string body = Review();
  body.resize(7 << 20, ' ');

  EXPECT_EQ(Send(path, body).status, 200);
  const ApiResponse rejected = Send(path, body + ' ');

  EXPECT_EQ(rejected.status, 413);
  EXPECT_EQ(rejected.body, "the body of a request is limited to 7340032 bytes\n");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(CountOf(path, 413), "1");
}

// O2
TEST_F(WebhookServerTest, ABodyThatIsTooLargeDoesNotAffectOtherRequests) {
  std::latch entered{1};
  std::latch proceed{1};
  std::atomic<int> calls = 0;
  NewManager().AddWebhook("/slow",
                          [&](const AdmissionRequest&, AdmissionContext&) {
                            if (++calls == 1) {
                              entered.count_down();
                              proceed.wait();
                            }
                            return AdmissionResponse{};
                          },
                          {.threads = 2, .max_in_flight = 2});
  served_->AddWebhook("/fast", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();
  std::jthread first([&] { EXPECT_EQ(Send("/slow", Review()).status, 200); });
  entered.wait();

  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Send("/slow", std::string((7 << 20) + 1, ' ')).status, 413) << "not in flight";
  }

  EXPECT_EQ(Send("/fast", Review()).status, 200);
  proceed.count_down();
  first.join();
  EXPECT_EQ(Send("/slow", Review()).status, 200);
}

// O11
TEST_F(WebhookServerTest, AHeadOfMoreThan1MiBIsRejectedWith431) {
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();

  EXPECT_EQ(Send("/all?x=" + std::string((1 << 20) - 1000, 'x'), Review()).status, 200);
  EXPECT_EQ(Send("/all?x=" + std::string(1 << 20, 'x'), Review()).status, 431);
}

TEST_F(WebhookServerTest, MoreRequestsInFlightThanTheLimitAreRejectedWith429) {
  std::latch entered{1};
  std::latch proceed{1};
  std::atomic<int> calls = 0;
  NewManager().AddWebhook("/slow",
                          [&](const AdmissionRequest&, AdmissionContext&) {
                            if (++calls == 1) {
                              entered.count_down();
                              proceed.wait();
                            }
                            return AdmissionResponse{};
                          },
                          {.threads = 2, .max_in_flight = 1});
  served_->AddWebhook("/fast", [](const auto&, auto&) { return AdmissionResponse{}; },
                      {.threads = 1, .max_in_flight = 1});
  StartManager();
  std::jthread first([&] { EXPECT_EQ(Send("/slow", Review()).status, 200); });
  entered.wait();

  const ApiResponse second = Send("/slow", Review());
  EXPECT_EQ(second.status, 429);
  EXPECT_EQ(second.retry_after, std::optional<Duration>(1s));
  EXPECT_EQ(Send("/fast", Review()).status, 200) << "other paths are not affected";
  EXPECT_EQ(CountOf("/slow", 429), "1");
  EXPECT_EQ(CountOf("/fast", 429), "");
  proceed.count_down();
  first.join();

  EXPECT_EQ(calls, 1);
  EXPECT_EQ(Send("/slow", Review()).status, 200);
}

TEST_F(WebhookServerTest, RequestsBelowTheLimitWaitForAThread) {
  std::latch entered{1};
  std::latch proceed{1};
  std::counting_semaphore rejected{0};
  NewManager().AddWebhook("/slow",
                          [&](const AdmissionRequest&, AdmissionContext&) {
                            if (!entered.try_wait()) entered.count_down();
                            proceed.wait();
                            return AdmissionResponse{};
                          },
                          {.threads = 1, .max_in_flight = 2});
  StartManager();
  const std::jthread first([&] { EXPECT_EQ(Send("/slow", Review()).status, 200); });
  entered.wait();
  std::array<int, 2> codes{};
  {
    std::vector<std::jthread> others;
    for (int& code : codes) {
      others.emplace_back([&] {
        code = Send("/slow", Review()).status;
        if (code == 429) rejected.release();
      });
    }
    EXPECT_TRUE(rejected.try_acquire_for(testing::kHangTimeout));
    proceed.count_down();
  }

  EXPECT_THAT(codes, ::testing::UnorderedElementsAre(200, 429));
}

}  // namespace
}  // namespace kopp
