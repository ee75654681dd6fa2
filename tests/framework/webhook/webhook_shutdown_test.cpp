// Tests the server of webhooks while its program stops.
#include "webhook_server_fixture.hpp"

#include <latch>
#include <thread>

namespace kopp {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

/// Its manager stops all servers but that of webhooks only when the test has ended.
class StoppedWebhookServerTest : public WebhookServerTest {
 protected:
  ~StoppedWebhookServerTest() override {
    proceed_.count_down();
    StopServed();
  }

  std::latch proceed_{1};
};

TEST_F(StoppedWebhookServerTest, TheReadinessCheckFails) {
  options_.health.bind_address = "127.0.0.1:0";
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  served_->Add({.name = "last", .group = RunnableGroup::kServers},
               [this](const std::stop_token& stop) {
                 static_cast<void>(SleepUntil(clock_, TimePoint::max(), stop));
                 proceed_.wait();
               });
  StartManager();
  const std::uint16_t health = HealthPort();
  EXPECT_EQ(testing::Get(health, "/readyz/webhook").status, 200);

  manager_thread_.request_stop();
  AwaitLog("All workers finished");
  while (testing::Get(health, "/readyz/webhook").status == 200) {
  }

  EXPECT_EQ(testing::Get(health, "/readyz/webhook").status, 500);
}

TEST_F(WebhookServerTest, TheServerServesForADelayAfterAStopRequest) {
  options_.webhook.shutdown_delay = 9s;
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();

  manager_thread_.request_stop();
  AwaitLog("All workers finished");
  clock_.Advance(8s);

  EXPECT_EQ(Send("/all", Review()).status, 200);
  clock_.Advance(1s);
  StopServed();
  EXPECT_THROW(Send("/all", Review()), TransportError);
  EXPECT_EQ(code_, 0);
}

TEST_F(WebhookServerTest, ARequestThatRunsAtTheStopGetsItsResponse) {
  std::latch entered{1};
  std::latch proceed{1};
  NewManager().AddWebhook("/slow", [&](const AdmissionRequest&, AdmissionContext& context) {
    entered.count_down();
    proceed.wait();
    EXPECT_FALSE(context.stop.stop_requested());
    return AdmissionResponse{};
  });
  StartManager();
  std::jthread client([&] { EXPECT_EQ(Send("/slow", Review()).status, 200); });
  entered.wait();
  manager_thread_.request_stop();
  AwaitRefusedConnections();

  proceed.count_down();

  client.join();
  StopServed();
  EXPECT_EQ(code_, 0);
}

TEST_F(WebhookServerTest, ADelayThatIsLongerThanTheShutdownIsCutShort) {
  options_.webhook.shutdown_delay = 1h;
  options_.graceful_shutdown_timeout = 20s;  // API calls are cancelled after 15 s
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();
  manager_thread_.request_stop();
  AwaitLog("All workers finished");  // the time limit runs

  clock_.Advance(13s);

  StopServed();
  EXPECT_EQ(code_, 0);
  EXPECT_THAT(LogText(), Not(HasSubstr("takes too long")));
}

TEST_F(WebhookServerTest, WithoutATimeLimitOfTheShutdownNoFunctionIsStopped) {
  options_.graceful_shutdown_timeout = -1s;
  std::latch entered{1};
  std::latch proceed{1};
  NewManager().AddWebhook("/slow", [&](const AdmissionRequest&, AdmissionContext& context) {
    entered.count_down();
    proceed.wait();
    return context.stop.stop_requested() ? AdmissionResponse::Denied("stopped")
                                         : AdmissionResponse{};
  });
  StartManager();
  std::string body;
  std::jthread client([&] { body = Send("/slow", Review()).body; });
  entered.wait();
  manager_thread_.request_stop();
  AwaitRefusedConnections();

  proceed.count_down();

  client.join();
  EXPECT_EQ(json::parse(body).at("/response/allowed"_json_pointer), true);
}

TEST_F(WebhookServerTest, AFunctionThatRunsLongerThanTheShutdownIsStopped) {
  options_.graceful_shutdown_timeout = 20s;  // API calls are cancelled after 15 s
  std::latch entered{1};
  NewManager().AddWebhook("/endless", [&](const AdmissionRequest&, AdmissionContext& context) {
    entered.count_down();
    SleepUntil(clock_, TimePoint::max(), context.stop);
    return AdmissionResponse{};
  });
  StartManager();
  std::jthread client([&] { static_cast<void>(Send("/endless", Review())); });
  entered.wait();
  manager_thread_.request_stop();

  AwaitLog("All workers finished");  // the time limit runs

  clock_.Advance(15s);

  AwaitLog("The shutdown takes too long");
  client.join();
  StopServed();
}

}  // namespace
}  // namespace kopp
