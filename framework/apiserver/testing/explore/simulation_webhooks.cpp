// The webhooks of the operator in a Simulation, and their disturbances.
#include "admission/webhook_url.hpp"
#include "explore/simulation.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace kopp::apiserver::explore {
namespace {

using nlohmann::json;

/// How long before its time limit a slow webhook answers.
constexpr Duration kSlowMargin = std::chrono::seconds(1);

/// Returns the response of a webhook that denies the write in a review.
std::string DenialOf(const std::string& text) {
  json review = json::parse(text);
  review["response"] = {
      {"uid", StringAt(review, "/request/uid")},
      {"allowed", false},
      {"status", {{"code", 403}, {"reason", "Forbidden"}, {"message", "for the exploration"}}}};
  review.erase("request");
  return review.dump();
}

}  // namespace

void Simulation::ServeWebhooks() {
  webhook_process_ = std::make_unique<OperatorProcess>(
      cluster_, plan_.setup, plan_.options, [this](OperatorProcess&, const ApiRequest& request) {
        return Execute(request, "a webhook");
      });
  webhook_process_->Start(std::nullopt);
  ApplyManifests(cluster_.transport(), webhooks_.Serve(webhook_process_->webhooks()));
}

std::string Simulation::CallWebhook(testing::WebhookCall call) {
  if (in_operator_call_) {
    const std::size_t number = ++result_.webhook_calls;
    const std::string webhook = "the webhook " + call.path;
    if (Applies(Type::kWebhookRefused, number, webhook + " cannot be reached")) {
      throw std::runtime_error(PostError(WebhookUrl(call), kConnectionRefused));
    }
    if (Applies(Type::kWebhookTimeout, number, webhook + " does not answer")) {
      cluster_.clock().Advance(call.timeout);
      throw std::runtime_error(PostError(WebhookUrl(call), kDeadlineExceeded));
    }
    if (Applies(Type::kWebhookDenied, number, webhook + " denies the write")) {
      return DenialOf(call.body);
    }
    if (Applies(Type::kWebhookSlow, number, webhook + " is slow")) {
      const Duration delay = std::max(call.timeout - kSlowMargin, Duration::zero());
      cluster_.clock().Advance(delay);
      call.timeout -= delay;
    }
  }
  if (webhook_process_) {  // its reads are never stale
    webhook_process_->ReceiveEvents();
    for (CacheView& view : webhook_process_->views()) {
      while (view.HasPending()) view.Deliver();
    }
  }
  return webhooks_.Call(call);
}

}  // namespace kopp::apiserver::explore
