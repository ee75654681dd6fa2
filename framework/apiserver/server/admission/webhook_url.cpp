#include "admission/webhook_url.hpp"

#include "base/duration.hpp"
#include "schema/go_quoted.hpp"

#include <chrono>

namespace kopp::apiserver {
WebhookUrl::WebhookUrl(const testing::WebhookCall& call) {
  std::string path = call.path;
  if (call.url.empty()) {
    origin = "https://" + call.service.name + '.' + call.service.ns +
             ".svc:" + std::to_string(call.port);
  } else {
    const auto slash = call.url.find('/', call.url.find("//") + 2);
    origin = call.url.substr(0, slash);
    path = slash == std::string::npos ? "" : call.url.substr(slash);
  }
  const Duration timeout = std::chrono::ceil<std::chrono::seconds>(call.timeout);
  target = (path.empty() ? "/" : path) + "?timeout=" + detail::FormatDuration(timeout);
}

std::string PostError(const WebhookUrl& url, const std::string& cause) {
  return "Post " + schema::GoQuoted(url.origin + url.target) + ": " + cause;
}

}  // namespace kopp::apiserver
