#include "serving/certificate_watcher.hpp"

#include "config/config_input.hpp"
#include "net/certificate.hpp"

#include <exception>
#include <stop_token>
#include <utility>

#include <kopp/config_error.hpp>

namespace kopp {

CertificateWatcher::CertificateWatcher(Options options) : options_(std::move(options)) {
  try {
    current_ = ReadFiles();
  } catch (...) {
    ReportRead(false);
    throw;
  }
  ReportRead(true);
}

HttpServerTls CertificateWatcher::ReadFiles() const {
  HttpServerTls tls{.certificate = detail::ReadFile(options_.certificate, "server certificate"),
                    .key = detail::ReadFile(options_.key, "server key")};
  if (options_.client_ca.empty()) return tls;
  tls.client_ca = detail::ReadFile(options_.client_ca, "client CA");
  try {
    if (!detail::ReadCertificates(*tls.client_ca).empty()) return tls;
  } catch (const ConfigError& error) {
    throw ConfigError("client CA: " + options_.client_ca.string() + ": " + error.what());
  }
  throw ConfigError("client CA: " + options_.client_ca.string() + " has no certificate in PEM");
}

void CertificateWatcher::ReportRead(bool succeeded) const {
  if (options_.on_read) options_.on_read(succeeded);
}

void CertificateWatcher::Start(Apply apply) {
  apply_ = std::move(apply);
  thread_ = std::jthread([this](const std::stop_token& stop) {
    Clock& clock = options_.clock;
    while (SleepUntil(clock, SaturatingAdd(clock.Now(), options_.interval), stop)) Reload();
  });
}

void CertificateWatcher::Reload() {
  try {
    HttpServerTls next = ReadFiles();
    if (next != current_) {
      apply_(next);
      current_ = std::move(next);
      options_.log.Info("Updated current TLS certificate",
                        {{"certificate", options_.certificate.string()}});
    }
    last_error_.clear();
    ReportRead(true);
  } catch (const std::exception& error) {
    const bool is_new_error = last_error_ != error.what();
    last_error_ = error.what();
    if (is_new_error) {
      options_.log.Error("Cannot reload the TLS certificate, the last one stays in use",
                         {{"certificate", options_.certificate.string()}, {"err", last_error_}});
    }
    ReportRead(false);
  }
}

std::unique_ptr<CertificateWatcher> WatchCertificate(const CertificateFiles& files,
                                                     Metrics& metrics, const Logger& log,
                                                     Clock& clock) {
  try {
    return std::make_unique<CertificateWatcher>(CertificateWatcher::Options{
        .certificate = files.folder / files.certificate,
        .key = files.folder / files.key,
        .client_ca = files.client_ca.empty() ? "" : files.folder / files.client_ca,
        .log = log,
        .clock = clock,
        .on_read = [&metrics](bool succeeded) { metrics.ObserveCertificateRead(succeeded); }});
  } catch (const ConfigError& error) {
    throw ConfigError(files.flag + ": " + error.what());
  }
}

}  // namespace kopp
