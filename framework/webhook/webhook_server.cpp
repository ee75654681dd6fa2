#include "webhook/webhook_server.hpp"

#include "net/certificate.hpp"
#include "net/connection.hpp"
#include "net/name_lookup.hpp"
#include "net/server_tls.hpp"
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
/// A health check must return within a second.
constexpr Duration kDialTimeout = std::chrono::milliseconds(900);

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

/// Completes a TLS handshake. Returns why it cannot, or "".
std::string Dial(const detail::Address& to, const detail::TlsContext& tls, TimePoint deadline) {
  try {
    detail::Connection connection(to);
    connection.WaitUntilConnected(deadline);
    connection.Handshake(tls, deadline);
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

WebhookServer::WebhookServer(const WebhookServing& serving, const HttpServerTls& certificate)
    : serving_(serving),
      server_(Listen(serving.options, certificate, serving.webhooks)),
      address_(server_->address()),
      port_(server_->port()) {
  serving.log.Info("Serving webhooks", {{"address", address_}});
}

void WebhookServer::RequireUsable(const HttpServerTls& certificate, Clock& clock) {
  try {
    static_cast<void>(detail::MakeServerTls(
        {.chain = certificate.certificate, .key = certificate.key}, certificate.client_ca));
    const auto chain = detail::ReadCertificates(certificate.certificate);
    if (detail::ValidityOf(chain.at(0).get()).end > clock.WallNow()) return;
  } catch (const std::exception& error) {
    throw ConfigError("--webhook-cert-path: the certificate cannot be used: " +
                      std::string(error.what()));
  }
  throw ConfigError("--webhook-cert-path: the certificate has expired");
}

void WebhookServer::SetCertificate(const HttpServerTls& certificate) {
  server_->SetCertificate(certificate);
  ReportExpiry(certificate.certificate);
}

void WebhookServer::Stop() {
  stopped_ = true;
  serving_.webhooks.RequestStop();
  server_.reset();
}

void WebhookServer::ReportExpiry(const std::string& certificate) const {
  try {
    const auto chain = detail::ReadCertificates(certificate);
    serving_.metrics.SetWebhookCertificateExpiry(detail::ValidityOf(chain.at(0).get()).end);
  } catch (const std::exception& error) {  // the certificate is in use all the same
    serving_.log.Error("Cannot read the validity of the certificate for webhooks",
                       {{"err", error.what()}});
  }
}

std::optional<std::string> WebhookServer::Problem() const {
  if (stopped_) return "the webhooks are not served any more";
  const std::string host = serving_.options.host.empty() ? "localhost" : serving_.options.host;
  const TimePoint deadline = SaturatingAdd(Clock::Real().Now(), kDialTimeout);
  std::string problem;
  try {
    const detail::TlsContext tls({.source = "webhook", .insecure_skip_tls_verify = true}, host);
    for (const detail::Address& to : detail::NameLookup(host, port_).Resolve(deadline, {})) {
      problem = Dial(to, tls, deadline);
      if (problem.empty()) return std::nullopt;
    }
  } catch (const std::exception& error) {
    problem = error.what();
  }
  return "cannot connect to the webhooks at " + address_ + ": " + problem;
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
