#pragma once

#include <functional>
#include <string>

#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::testing {

/// A call of an admission webhook by the API server: its clientConfig.
struct WebhookCall {
  std::string url{};        ///< "https://10.0.0.1:9443/validate"; empty: `service` is set
  ObjectKey service{};      ///< the Service of the webhook
  int port = 443;           ///< of the Service
  std::string path{};       ///< at the Service: "/validate"
  std::string ca_bundle{};  ///< PEM; empty: the CAs of the system
  std::string body{};       ///< an AdmissionReview
  Duration timeout{};       ///< the caller waits no longer
};

/// Calls a webhook. Returns the body of the response. Throws std::runtime_error if the webhook
/// cannot be called; the client of the write gets the text. Must be thread-safe.
using WebhookCaller = std::function<std::string(const WebhookCall& call)>;

}  // namespace kopp::testing
