#include "webhook/webhook_server.hpp"

#include "net/bind_address.hpp"
#include "net/certificate.hpp"
#include "net/connection.hpp"
#include "net/name_lookup.hpp"
#include "net/tls.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>
#include <vector>

#include <kopp/config_error.hpp>

namespace kopp {
namespace {

/// The time for running requests at the end of a shutdown that is shorter than the delay.
constexpr Duration kDrainTime = std::chrono::seconds(2);
constexpr Duration kDialTimeout = std::chrono::seconds(5);

/// Returns the address to listen at in the form of HttpServerOptions::address.
std::string AddressOf(const WebhookServerOptions& options) {
  const bool is_ipv6 = options.host.find(':') != std::string::npos;
  return (is_ipv6 ? '[' + options.host + ']' : options.host) + ':' + std::to_string(options.port);
}

/// The limits are those of controller-runtime's webhook server. The API server opens a connection
/// for each request in flight.
HttpServerOptions ServerOptionsOf(const WebhookServerOptions& options, const HttpServerTls& tls) {
  return {.address = AddressOf(options),
          .tls = tls,
          .max_connections = 512,
          .max_head = 1 << 20,
          .max_body = 7 << 20,
          .request_timeout = std::chrono::seconds(32),
          .idle_timeout = std::chrono::seconds(90)};
}

std::unique_ptr<HttpServer> Listen(const WebhookServerOptions& options, const HttpServerTls& tls,
                                   WebhookRegistry& webhooks) {
  try {
    return std::make_unique<HttpServer>(ServerOptionsOf(options, tls), webhooks.Routes());
  } catch (const ConfigError& error) {
    throw ConfigError(std::string("--webhook-port: ") + error.what());
  }
}

std::unique_ptr<CertificateWatcher> WatchFiles(const WebhookServing& serving) {
  const WebhookServerOptions& options = serving.options;
  if (options.cert_path.empty()) {
    throw ConfigError(
        "the program has webhooks, which are only served over HTTPS: set --webhook-cert-path to "
        "the folder of a certificate and its key, or --webhook-port=-1 to run without webhooks");
  }
  return WatchCertificate({.flag = "--webhook-cert-path",
                           .folder = options.cert_path,
                           .certificate = options.cert_name,
                           .key = options.cert_key,
                           .client_ca = options.client_ca_name},
                          serving.metrics, serving.log, serving.clock);
}

/// Returns the host to connect to: loopback for a server that listens at all addresses.
std::string DialHost(const std::string& host) { return host.empty() ? "localhost" : host; }

}  // namespace

WebhookServer::WebhookServer(const WebhookServing& serving)
    : serving_(serving),
      certificate_(WatchFiles(serving)),
      server_(Listen(serving.options, certificate_->initial(), serving.webhooks)) {
  serving.log.Info("Serving webhooks", {{"address", address()}});
  ReportExpiry(certificate_->initial().certificate);
  certificate_->Start([this](const HttpServerTls& next) {
    server_->SetCertificate(next);
    ReportExpiry(next.certificate);
  });
}

void WebhookServer::Stop() {
  serving_.webhooks.RequestStop();
  certificate_.reset();
  server_.reset();
}

void WebhookServer::ReportExpiry(const std::string& certificate) const {
  const auto chain = detail::ReadCertificates(certificate);
  if (chain.empty()) return;  // HttpServer has refused it
  serving_.metrics.SetWebhookCertificateExpiry(detail::ValidityOf(chain.front().get()).end);
}

std::optional<std::string> WebhookServer::Problem() const {
  const std::string host = DialHost(serving_.options.host);
  const TimePoint deadline = SaturatingAdd(Clock::Real().Now(), kDialTimeout);
  try {
    const detail::TlsContext tls({.source = "webhook", .insecure_skip_tls_verify = true}, host);
    const auto addresses = detail::NameLookup(host, server_->port()).Resolve(deadline, {});
    detail::Connection connection(addresses.front());
    connection.WaitUntilConnected(deadline);
    connection.Handshake(tls, deadline);
    return std::nullopt;
  } catch (const std::exception& error) {
    return "cannot connect to the webhooks at " + address() + ": " + error.what();
  }
}

void WebhookServer::AnnounceShutdown() {
  *serve_until_.Lock() = SaturatingAdd(serving_.clock.Now(), serving_.options.shutdown_delay);
  server_->DisableKeepAlive();
}

bool WebhookServer::Drain(TimePoint deadline) {
  const TimePoint until = std::exchange(*serve_until_.Lock(), TimePoint());
  const bool is_limited = deadline != TimePoint::max();
  SleepUntil(serving_.clock, is_limited ? std::min(until, deadline - kDrainTime) : until, {});
  return server_->Drain(serving_.clock, deadline);
}

}  // namespace kopp
