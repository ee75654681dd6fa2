#include "environment/operator_webhooks.hpp"

#include "admission/webhook_url.hpp"
#include "base/duration.hpp"
#include "schema/yaml.hpp"
#include "webhook/webhook_configurations.hpp"

#include <stdexcept>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

constexpr int kMaxDepth = 20;

/// Counts the calls of webhooks in each other.
class NestedCall {
 public:
  explicit NestedCall(int& depth) : depth_(depth) { ++depth_; }
  ~NestedCall() { --depth_; }
  NestedCall(const NestedCall&) = delete;
  NestedCall& operator=(const NestedCall&) = delete;

 private:
  int& depth_;
};

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
  *routes_.Lock() = std::make_shared<const HttpServer::Routes>(registry.Routes());
  const WebhookManifestOptions names{.program = "operator", .service = WebhookService()};
  for (const nlohmann::json& configuration :
       schema::ParseManifests(PrintWebhooks(registry.kinds(), names))) {
    manifests.push_back({.object = configuration, .origin = "the webhooks of the operator"});
  }
  return manifests;
}

std::string OperatorWebhooks::Call(const testing::WebhookCall& call) {
  const WebhookUrl url(call);
  if (call.service != WebhookService()) {
    throw std::runtime_error(
        PostError(url, "only the webhooks of the operator can be called in this process"));
  }
  const std::shared_ptr<const HttpServer::Routes> routes = *routes_.Lock();
  const auto route = routes ? routes->find(call.path) : HttpServer::Routes::const_iterator();
  if (!routes || route == routes->end()) {
    throw std::runtime_error("the server could not find the requested resource");
  }
  // A webhook may write objects for which it is called: a real server would wait until the timeout.
  thread_local int depth = 0;
  const NestedCall nested(depth);
  const TimePoint deadline = SaturatingAdd(clock_.Now(), call.timeout);
  if (depth > kMaxDepth) throw std::runtime_error(PostError(url, kDeadlineExceeded));
  const HttpResponse response =
      route->second.handler({.method = "POST",
                             .path = call.path,
                             .query = "timeout=" + detail::FormatDuration(call.timeout),
                             .body = call.body,
                             .headers = {{"content-type", "application/json"}}});
  if (clock_.Now() >= deadline) throw std::runtime_error(PostError(url, kDeadlineExceeded));
  if (response.status == 200) return response.body;
  throw std::runtime_error(response.body);
}

}  // namespace kopp::apiserver
