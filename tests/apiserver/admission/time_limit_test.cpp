// Tests the time limit of all webhooks of a request.
#include "admission/in_process_webhooks.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using AdmissionTimeLimitTest = testing::InProcessWebhooks;

// A36
TEST_F(AdmissionTimeLimitTest, AllWebhooksOfARequestHave34Seconds) {
  std::vector<Duration> limits;
  on_call_ = [&](const testing::WebhookCall& call) {
    limits.push_back(call.timeout);
    clock_.Advance(call.timeout);
    throw std::runtime_error("context deadline exceeded");
  };
  const json slow{{"failurePolicy", "Ignore"}, {"timeoutSeconds", 30}};
  json first = slow;
  first["name"] = "a.example.com";
  json second = slow;
  second["name"] = "b.example.com";
  Install("mutatingwebhookconfigurations", {first, second});

  const ApiError error = CreateError("m");

  EXPECT_EQ(error.code(), 504);
  EXPECT_THAT(error.what(),
              HasSubstr("Timeout: request did not complete within requested timeout"));
  EXPECT_THAT(limits, ElementsAre(30s, 4s));
  EXPECT_FALSE(client_.Get<ConfigMap>({"default", "m"}));
}

// A36
TEST_F(AdmissionTimeLimitTest, EachRequestHasItsOwnTimeLimit) {
  on_call_ = [&](const testing::WebhookCall&) {
    clock_.Advance(9s);
    throw std::runtime_error("refused");
  };
  Install("validatingwebhookconfigurations",
          {{{"name", "a.example.com"}, {"failurePolicy", "Ignore"}}});

  for (int i = 0; i < 5; ++i) CreateMap("m" + std::to_string(i));

  EXPECT_TRUE(client_.Get<ConfigMap>({"default", "m4"}));
}

}  // namespace
}  // namespace kopp
