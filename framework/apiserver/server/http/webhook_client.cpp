#include "http/webhook_client.hpp"

#include "base/duration.hpp"
#include "transport/redirected_transport.hpp"

#include <chrono>
#include <stdexcept>
#include <utility>

#include <kopp/config.hpp>

namespace kopp::apiserver {
namespace {

/// The cache is emptied when it has this size, for tests that create many configurations.
constexpr std::size_t kMaxTransports = 100;

}  // namespace

std::string WebhookClient::Call(const testing::WebhookCall& call) {
  const WebhookUrl url(call);
  if (!call.url.empty()) return Send(url, nullptr, call);
  detail::Endpoint address;
  try {
    address = resolve_(call.service, call.port);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(PostError(url, error.what()));
  }
  return Send(url, &address, call);
}

std::string WebhookClient::Send(const WebhookUrl& url, const detail::Endpoint* address,
                                const testing::WebhookCall& call) {
  ApiResponse response;
  try {
    response = TransportFor(url, address, call)
                   ->Call({.method = "POST", .target = url.target, .body = call.body});
  } catch (const TransportError& error) {
    const bool timed_out = error.kind() == TransportError::Kind::kTimeout;
    throw std::runtime_error(PostError(url, timed_out ? kDeadlineExceeded : error.what()));
  }
  if (response.status / 100 == 2) return std::move(response.body);
  throw std::runtime_error(ResponseError(response.status, response.body));
}

std::shared_ptr<Transport> WebhookClient::TransportFor(const WebhookUrl& url,
                                                       const detail::Endpoint* address,
                                                       const testing::WebhookCall& call) {
  const Duration timeout = std::chrono::ceil<std::chrono::seconds>(call.timeout);
  const std::string key = url.origin + '\n' + (address != nullptr ? address->HostAndPort() : "") +
                          '\n' + detail::FormatDuration(timeout) + '\n' + call.ca_bundle;
  auto transports = transports_.Lock();
  if (const auto found = transports->find(key); found != transports->end()) return found->second;
  Config config;
  config.server = url.origin;
  config.certificate_authority = call.ca_bundle;
  config.source = "the configuration of the webhook";
  const TransportOptions options{.user_agent = "kopp-apiserver", .call_timeout = timeout};
  std::shared_ptr<Transport> transport =
      address != nullptr ? detail::MakeRedirectedTransport(config, *address, options)
                         : MakeTransport(config, options);
  if (transports->size() == kMaxTransports) transports->clear();
  transports->emplace(key, transport);
  return transport;
}

}  // namespace kopp::apiserver
