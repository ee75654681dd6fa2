#pragma once

#include "api/request.hpp"
#include "api/response.hpp"
#include "faults/fault_plan.hpp"
#include "storage/server_context.hpp"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include <kopp/testing/fault.hpp>
#include <kopp/testing/webhook_call.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Returns the error response of a fault, with the text of a real server. Returns std::nullopt if
/// the fault's type is not an error response, or if the request is for a resource that the server
/// does not have.
[[nodiscard]] std::optional<ServerResponse> ErrorResponseFor(const testing::Fault& fault,
                                                             const ServerRequest& request,
                                                             ServerContext& context);

/// Forwards requests to another handler and injects faults. Thread-safe. `context` and `server`
/// must outlive it.
class FaultInjector final : public RequestHandler {
 public:
  FaultInjector(ServerContext& context, RequestHandler& server, std::uint64_t seed)
      : context_(context), server_(server), plan_(seed) {}

  ServerResponse Handle(const ServerRequest& request) override;

  /// Adds a fault. Throws std::invalid_argument for a fault that is not valid.
  void Inject(testing::Fault fault);
  /// Removes all faults, and ends the waits of calls of webhooks.
  void Clear();
  /// Calls a webhook by `next`, with the fault that applies to the write in its review. Blocks for
  /// the time of a fault. Throws std::runtime_error like a testing::WebhookCaller.
  [[nodiscard]] std::string CallWebhook(testing::WebhookCall call,
                                        const testing::WebhookCaller& next);

 private:
  ServerResponse HandleWithPlan(const ServerRequest& request);
  ServerResponse HandleWithFault(const ServerRequest& request, const testing::Fault& fault);
  ServerResponse ListOldVersion(const ServerRequest& request, ResourceVersion versions);

  ServerContext& context_;
  RequestHandler& server_;
  FaultPlan plan_;
  detail::Guarded<std::stop_source> webhook_waits_;
};

}  // namespace kopp::apiserver
