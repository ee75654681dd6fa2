#include "admission/webhook_url.hpp"

#include "base/duration.hpp"
#include "schema/go_quoted.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <vector>

namespace kopp::apiserver {
namespace {

/// Returns a path as client-go sends it: without empty segments, "." and "..".
std::string CleanPath(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), segment.size() + 1));
    if (segment == ".." && !segments.empty()) segments.pop_back();
    if (!segment.empty() && segment != "." && segment != "..") segments.push_back(segment);
  }
  std::string clean;
  for (const std::string_view segment : segments) clean.append("/").append(segment);
  return clean.empty() ? "/" : clean;
}

}  // namespace

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
  target = CleanPath(path) + "?timeout=" + detail::FormatDuration(timeout);
}

std::string PostError(const WebhookUrl& url, const std::string& cause) {
  return "Post " + schema::GoQuoted(url.origin + url.target) + ": " + cause;
}

}  // namespace kopp::apiserver
