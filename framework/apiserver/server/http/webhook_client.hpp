#pragma once

#include "admission/webhook_url.hpp"
#include "net/endpoint.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <kopp/testing/webhook_call.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Calls webhooks by HTTPS requests. It trusts only the CAs of a call, unless there are none.
/// Connections are kept for later calls of the same server. Thread-safe.
class WebhookClient {
 public:
  /// Returns the address of a port of a Service. Throws std::runtime_error if there is none.
  using Resolver = std::function<detail::Endpoint(const ObjectKey& service, int port)>;

  /// `resolve` must be thread-safe.
  explicit WebhookClient(Resolver resolve) : resolve_(std::move(resolve)) {}

  /// The same as a testing::WebhookCaller. Blocks until the response has arrived.
  [[nodiscard]] std::string Call(const testing::WebhookCall& call);

 private:
  /// Sends a call. Connects to `address` in place of the origin of `url`, unless it is null.
  [[nodiscard]] std::string Send(const WebhookUrl& url, const detail::Endpoint* address,
                                 const testing::WebhookCall& call);
  /// Returns the transport of a call, and creates it if there is none.
  [[nodiscard]] std::shared_ptr<Transport> TransportFor(const WebhookUrl& url,
                                                        const detail::Endpoint* address,
                                                        const testing::WebhookCall& call);

  const Resolver resolve_;
  detail::Guarded<std::map<std::string, std::shared_ptr<Transport>>> transports_;  // by destination
};

}  // namespace kopp::apiserver
