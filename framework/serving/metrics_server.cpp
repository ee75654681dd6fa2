#include "serving/metrics_server.hpp"

#include "net/certificate.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <kopp/config_error.hpp>

namespace kopp {
namespace {

constexpr AccessReviewOptions kReviews{};
constexpr std::size_t kSecureThreads = kReviews.max_pending + 2;

HttpServerTls SelfSignedTls() {
  auto certificate = detail::SelfSignedCertificate();
  return {.certificate = std::move(certificate.chain), .key = std::move(certificate.key)};
}

std::unique_ptr<HttpServer> ServeAt(const std::string& address, std::optional<HttpServerTls> tls,
                                    HttpServer::Routes routes) {
  try {
    return std::make_unique<HttpServer>(
        HttpServerOptions{.address = address, .tls = std::move(tls)}, std::move(routes));
  } catch (const ConfigError& error) {
    throw ConfigError(std::string("--metrics-bind-address: ") + error.what());
  }
}

}  // namespace

MetricsServer::MetricsServer(const MetricsServerOptions& options, Metrics& metrics,
                             const Client& client, HttpServer::Routes extra_routes,
                             const Logger& log, Clock& clock) {
  HttpServer::Routes routes = std::move(extra_routes);
  routes["/metrics"] = [&metrics](const HttpRequest&) {
    return HttpResponse{.body = metrics.Text(), .content_type = std::string(Metrics::kContentType)};
  };
  std::optional<HttpServerTls> tls;
  if (options.secure) {
    reviewer_ = std::make_unique<AccessReviewer>(client, log, clock, kReviews);
    for (auto& [path, route] : routes) {
      route.handler = RequireAccess(std::move(route.handler), *reviewer_);
      route.threads = std::max(route.threads, kSecureThreads);
    }
    if (!options.cert_path.empty()) {
      certificate_ = WatchCertificate({.flag = "--metrics-cert-path",
                                       .folder = options.cert_path,
                                       .certificate = options.cert_name,
                                       .key = options.cert_key},
                                      metrics, log, clock);
    }
    tls = certificate_ ? certificate_->initial() : SelfSignedTls();
  }
  server_ = ServeAt(options.bind_address, std::move(tls), std::move(routes));
  if (certificate_) {
    certificate_->Start([this](const HttpServerTls& next) { server_->SetCertificate(next); });
  }
  log.Info("Serving metrics",
           {{"address", address()}, {"path", "/metrics"}, {"secure", options.secure}});
}

MetricsServer::~MetricsServer() {
  if (reviewer_) reviewer_->Stop();
}

}  // namespace kopp
