#include "serving/certificate_watcher.hpp"

#include "config/config_input.hpp"

#include <exception>
#include <stop_token>
#include <utility>

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
  return {.certificate = detail::ReadFile(options_.certificate, "server certificate"),
          .key = detail::ReadFile(options_.key, "server key")};
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
    if (next.certificate != current_.certificate || next.key != current_.key) {
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

}  // namespace kopp
