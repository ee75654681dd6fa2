// Tests the faults of calls of webhooks.
#include "admission/in_process_webhooks.hpp"

#include <chrono>
#include <string>
#include <thread>

#include <gmock/gmock.h>

#include <kopp/testing/environment.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using testing::Fault;
using ::testing::HasSubstr;
using Type = Fault::Type;

constexpr const char* kFailed =
    "Internal error occurred: failed calling webhook \"a.example.com\": ";

class WebhookFaultsTest : public testing::InProcessWebhooks {
 protected:
  WebhookFaultsTest() {
    on_call_ = [this](const testing::WebhookCall& call) {
      ++calls_;
      timeout_ = call.timeout;
    };
    Install("mutatingwebhookconfigurations", {{{"name", "a.example.com"}, {"timeoutSeconds", 5}}});
  }
  /// Returns the message of the error of a create, with the fault once.
  std::string ErrorWith(Type type) {
    server_.Inject({.type = type, .times = 1});
    return CreateError("m").status().message;
  }

  int calls_ = 0;
  Duration timeout_{};
};

TEST_F(WebhookFaultsTest, ARefusedConnectionFailsTheCall) {
  EXPECT_EQ(ErrorWith(Type::kWebhookRefuse),
            std::string(kFailed) +
                "failed to call webhook: Post \"https://x/a?timeout=5s\": dial "
                "tcp: connect: connection refused");
  EXPECT_EQ(calls_, 0);
  CreateMap("m");
}

TEST_F(WebhookFaultsTest, ATimeoutLastsForTheTimeLimitOfTheWebhook) {
  server_.Inject({.type = Type::kWebhookTimeout, .times = 1});
  std::string error;
  {
    const std::jthread create([&] { error = CreateError("m").status().message; });
    clock_.AwaitSleepers(1);
    clock_.Advance(5s);
  }

  EXPECT_EQ(error, std::string(kFailed) +
                       "failed to call webhook: Post "
                       "\"https://x/a?timeout=5s\": context deadline exceeded");
  EXPECT_EQ(calls_, 0);
}

TEST_F(WebhookFaultsTest, ALatencyDelaysTheCallAndReducesItsTimeLimit) {
  server_.Inject({.type = Type::kWebhookLatency, .times = 1, .delay = 2s});
  {
    const std::jthread create([&] { CreateMap("m"); });
    clock_.AwaitSleepers(1);
    clock_.Advance(2s);
  }

  EXPECT_EQ(calls_, 1);
  EXPECT_EQ(timeout_, 3s);
}

TEST_F(WebhookFaultsTest, ALatencyAboveTheTimeLimitIsATimeout) {
  server_.Inject({.type = Type::kWebhookLatency, .times = 1, .delay = 60s});
  std::string error;
  {
    const std::jthread create([&] { error = CreateError("m").status().message; });
    clock_.AwaitSleepers(1);
    clock_.Advance(5s);
  }

  EXPECT_THAT(error, HasSubstr("context deadline exceeded"));
  EXPECT_EQ(calls_, 0);
}

TEST_F(WebhookFaultsTest, ClearFaultsEndsTheWaits) {
  server_.Inject({.type = Type::kWebhookTimeout});
  std::string error;
  {
    const std::jthread create([&] { error = CreateError("m").status().message; });
    clock_.AwaitSleepers(1);
    server_.ClearFaults();
  }

  EXPECT_THAT(error, HasSubstr("context deadline exceeded"));
}

TEST_F(WebhookFaultsTest, AFaultSelectsTheWritesThatAreReviewed) {
  server_.Inject({.type = Type::kWebhookRefuse, .verb = "delete"});
  server_.Inject({.type = Type::kWebhookRefuse, .resource = "configmaps", .name = "b"});
  server_.Inject({.type = Type::kWebhookRefuse, .ns = "other"});
  server_.Inject({.type = Type::kWebhookRefuse, .user = "somebody"});

  CreateMap("a");

  EXPECT_EQ(CreateError("b").code(), 500);
  EXPECT_THROW(client_.Delete<ConfigMap>({"default", "a"}), ApiError);
}

TEST_F(WebhookFaultsTest, AFaultOfWebhooksDoesNotAffectOtherRequests) {
  server_.Inject({.type = Type::kWebhookRefuse});

  client_.Create(Secret{.metadata = {.name = "s", .ns = "default"}});

  EXPECT_THROW(server_.Inject({.type = Type::kWebhookRefuse, .verb = "list"}),
               std::invalid_argument);
}

TEST(EnvironmentWebhookFaultsTest, TheWebhooksOfAnOperatorCanFail) {
  testing::Environment env;
  env.manager().AddWebhook<ConfigMap>().Default(
      [](ConfigMap& map) { map.data.emplace("size", "1"); });
  env.ServeWebhooks();
  env.server().Inject({.type = Type::kWebhookRefuse, .resource = "configmaps", .times = 1});
  const ConfigMap map{.metadata = {.name = "m", .ns = "default"}};

  EXPECT_THROW(env.client().Create(map), ApiError);
  EXPECT_EQ(env.client().Create(map).data, StringMap({{"size", "1"}}));
}

}  // namespace
}  // namespace kopp
