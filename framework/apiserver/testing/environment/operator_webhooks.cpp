#include "environment/operator_webhooks.hpp"

#include "admission/webhook_url.hpp"
#include "base/duration.hpp"
#include "webhook/webhook_configurations.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

constexpr int kMaxDepth = 20;

std::string NestedTooDeep() {
  return std::to_string(kMaxDepth) +
         " calls of webhooks are running, each of them for a write of the one before; a real "
         "server would wait until their timeouts: a webhook must not write objects that it reviews";
}

/// Returns the Service in the configurations of the webhooks. It does not exist.
const ObjectKey& WebhookService() {
  static const ObjectKey service{"operator", "webhooks"};
  return service;
}

}  // namespace

std::vector<Manifest> OperatorWebhooks::Serve(WebhookRegistry& registry) {
  std::vector<Manifest> manifests;
  if (registry.empty() || *routes_.Lock()) return manifests;
  registry.Close();
  for (nlohmann::json& configuration :
       NewConfigurations(registry.kinds(), {.service = WebhookService()})) {
    manifests.push_back(
        {.object = std::move(configuration), .origin = "the webhooks of the operator"});
  }
  *routes_.Lock() = std::make_shared<const HttpServer::Routes>(registry.Routes());
  return manifests;
}

std::string OperatorWebhooks::Call(const testing::WebhookCall& call) {
  const WebhookUrl url(call);
  if (call.service != WebhookService()) {
    throw std::runtime_error(
        PostError(url, "only the webhooks of the operator can be called in this process"));
  }
  const std::shared_ptr<const HttpServer::Routes> routes = *routes_.Lock();
  if (!routes) throw std::runtime_error(PostError(url, kConnectionRefused));
  const auto route = routes->find(url.path);
  if (route == routes->end()) throw std::runtime_error(ResponseError(404, ""));
  thread_local int depth = 0;
  ++depth;
  const std::shared_ptr<void> on_return(nullptr, [](void*) { --depth; });
  const TimePoint deadline = SaturatingAdd(clock_.Now(), call.timeout);
  if (depth > kMaxDepth) throw std::runtime_error(PostError(url, NestedTooDeep()));
  const HttpResponse response =
      route->second.handler({.method = "POST",
                             .path = url.path,
                             .query = "timeout=" + detail::FormatDuration(call.timeout),
                             .body = call.body,
                             .headers = {{"content-type", "application/json"}}});
  if (clock_.Now() >= deadline) throw std::runtime_error(PostError(url, kDeadlineExceeded));
  if (response.status == 200) return response.body;
  throw std::runtime_error(ResponseError(response.status, response.body));
}

}  // namespace kopp::apiserver
