#pragma once

#include <string>

#include <kopp/testing/webhook_call.hpp>

namespace kopp::apiserver {

/// The parts of the URL of a call of a webhook.
struct WebhookUrl {
  explicit WebhookUrl(const testing::WebhookCall& call);

  std::string origin{};  ///< "https://webhooks.shop.svc:443"
  std::string path{};    ///< "/validate"
  std::string target{};  ///< "/validate?timeout=10s"
};

/// Returns the text of the error of client-go for a call without a response.
[[nodiscard]] std::string PostError(const WebhookUrl& url, const std::string& cause);
/// Returns the text of the error of client-go for a response with another status than 200.
[[nodiscard]] std::string ResponseError(int status, const std::string& body);

/// The cause if the time limit of a call has passed.
inline constexpr const char* kDeadlineExceeded = "context deadline exceeded";
/// The cause if nothing listens at the address of a webhook.
inline constexpr const char* kConnectionRefused = "dial tcp: connect: connection refused";

}  // namespace kopp::apiserver
