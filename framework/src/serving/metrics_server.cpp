#include "serving/metrics_server.hpp"

#include "net/certificate.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <kopp/config.hpp>

namespace kopp {
namespace {

constexpr AccessReviewOptions kReviews{};
constexpr std::size_t kSecureThreads = kReviews.max_pending + 2;

std::unique_ptr<CertificateWatcher> WatchCertificate(const Options& options, Metrics& metrics) {
  const std::filesystem::path folder(options.metrics_cert_path);
  try {
    return std::make_unique<CertificateWatcher>(CertificateWatcher::Options{
        .certificate = folder / options.metrics_cert_name,
        .key = folder / options.metrics_cert_key,
        .log = options.log,
        .clock = options.clock,
        .on_read = [&metrics](bool succeeded) { metrics.ObserveCertificateRead(succeeded); }});
  } catch (const ConfigError& error) {
    throw ConfigError(std::string("--metrics-cert-path: ") + error.what());
  }
}

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

MetricsServer::MetricsServer(const Options& options, Metrics& metrics, const Client& client,
                             HttpServer::Routes extra_routes) {
  HttpServer::Routes routes = std::move(extra_routes);
  routes["/metrics"] = [&metrics](const HttpRequest&) {
    return HttpResponse{.body = metrics.Text(), .content_type = std::string(Metrics::kContentType)};
  };
  std::optional<HttpServerTls> tls;
  if (options.metrics_secure) {
    reviewer_ = std::make_unique<AccessReviewer>(client, options.log, options.clock, kReviews);
    for (auto& [path, route] : routes) {
      route.handler = RequireAccess(std::move(route.handler), *reviewer_);
      route.threads = std::max(route.threads, kSecureThreads);
    }
    if (!options.metrics_cert_path.empty()) certificate_ = WatchCertificate(options, metrics);
    tls = certificate_ ? certificate_->initial() : SelfSignedTls();
  }
  server_ = ServeAt(options.metrics_bind_address, std::move(tls), std::move(routes));
  if (certificate_) {
    certificate_->Start([this](const HttpServerTls& next) { server_->SetCertificate(next); });
  }
  options.log.Info(
      "Serving metrics",
      {{"address", address()}, {"path", "/metrics"}, {"secure", options.metrics_secure}});
}

MetricsServer::~MetricsServer() {
  if (reviewer_) reviewer_->Stop();
}

}  // namespace kopp
