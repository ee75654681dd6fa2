#pragma once

#include "environment/manifests.hpp"
#include "webhook/webhook_registry.hpp"

#include <memory>
#include <string>
#include <vector>

#include <kopp/http_server.hpp>
#include <kopp/testing/webhook_call.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// The webhooks of an operator in this process, which an API server calls without sockets.
/// Thread-safe. The clock must outlive it.
class OperatorWebhooks {
 public:
  explicit OperatorWebhooks(Clock& clock) : clock_(clock) {}

  /// Serves the webhooks of `registry`, which must outlive this object, and closes it. Returns the
  /// configurations to install; none if there are no webhooks or if they are served already.
  [[nodiscard]] std::vector<Manifest> Serve(WebhookRegistry& registry);
  /// Calls a webhook, in this thread. The same as a testing::WebhookCaller. The webhooks of other
  /// configurations than those of Serve cannot be called.
  [[nodiscard]] std::string Call(const testing::WebhookCall& call);

 private:
  Clock& clock_;
  detail::Guarded<std::shared_ptr<const HttpServer::Routes>> routes_;  // null before Serve
};

}  // namespace kopp::apiserver
