// The faults of calls of webhooks.
#include "admission/webhook_url.hpp"
#include "faults/fault_injector.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns the write in a review, as far as faults select by it.
ServerRequest ReviewedWrite(const json& review) {
  const std::string operation = StringAt(review, "/request/operation");
  ServerRequest write{.method = operation == "CREATE"   ? "POST"
                                : operation == "DELETE" ? "DELETE"
                                                        : "PUT"};
  write.target.is_resource = true;
  write.target.group = StringAt(review, "/request/requestResource/group");
  write.target.plural = StringAt(review, "/request/requestResource/resource");
  write.target.ns = StringAt(review, "/request/namespace");
  write.target.name = StringAt(review, "/request/name");
  write.user.name = StringAt(review, "/request/userInfo/username");
  return write;
}

}  // namespace

std::string FaultInjector::CallWebhook(testing::WebhookCall call,
                                       const testing::WebhookCaller& next) {
  if (plan_.IsEmpty()) return next(call);
  const std::stop_token stop =
      webhook_waits_.Lock()->get_token();  // before Clear can remove a fault
  const ServerRequest write = ReviewedWrite(json::parse(call.body));
  const std::optional<testing::Fault> fault =
      plan_.Match({FaultContext::Kind::kWebhook, write, write.target.ns, write.target.name});
  if (!fault) return next(call);
  const WebhookUrl url(call);
  if (fault->type == testing::Fault::Type::kWebhookRefuse) {
    throw std::runtime_error(PostError(url, kConnectionRefused));
  }
  const bool is_latency = fault->type == testing::Fault::Type::kWebhookLatency;
  const Duration delay = is_latency ? std::min(fault->delay, call.timeout) : call.timeout;
  Clock& clock = context_.clock();
  static_cast<void>(SleepUntil(clock, SaturatingAdd(clock.Now(), delay), stop));
  call.timeout -= delay;
  if (call.timeout > Duration::zero()) return next(call);
  throw std::runtime_error(PostError(url, kDeadlineExceeded));
}

void FaultInjector::Clear() {
  plan_.Clear();
  std::exchange(*webhook_waits_.Lock(), std::stop_source()).request_stop();
}

}  // namespace kopp::apiserver
