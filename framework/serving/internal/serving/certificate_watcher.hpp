#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include <kopp/http_server.hpp>
#include <kopp/log.hpp>
#include <kopp/metrics.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// Reads the certificate and key of a server from files, and again every ten seconds, so that a
/// renewed certificate is used without a restart. cert-manager and mounted Secrets replace the
/// files. Reads their content instead of watching the folder, so it does not depend on how the
/// files are replaced.
class CertificateWatcher {
 public:
  struct Options {
    std::filesystem::path certificate{};  ///< PEM: the server certificate, then the intermediates
    std::filesystem::path key{};          ///< PEM
    /// PEM, at least one certificate; empty: HttpServerTls::client_ca is not set.
    std::filesystem::path client_ca{};
    Duration interval = std::chrono::seconds(10);
    Logger log{};
    Clock& clock = Clock::Real();  ///< must outlive the watcher
    /// Called after each read with whether the certificate can be used; may be empty.
    std::function<void(bool succeeded)> on_read{};
  };
  /// Uses a new certificate, or new client CAs. Throws ConfigError if it cannot be used: for
  /// example, if the key was not replaced yet. It is then passed again after the next read.
  using Apply = std::function<void(const HttpServerTls& tls)>;

  /// Reads the files. Throws ConfigError if it cannot.
  explicit CertificateWatcher(Options options);

  /// Returns the certificate and key that the constructor has read. Call it before Start.
  [[nodiscard]] const HttpServerTls& initial() const { return current_; }

  /// Starts a thread that calls `apply` for each change. A failure is logged, and the last
  /// certificate stays in use. Call it once. The destructor ends the thread.
  void Start(Apply apply);

 private:
  [[nodiscard]] HttpServerTls ReadFiles() const;
  void ReportRead(bool succeeded) const;
  void Reload();

  const Options options_;
  HttpServerTls current_;
  std::string last_error_;  // the same error is logged once
  Apply apply_;
  std::jthread thread_;  // last: it uses everything above
};

/// The files of a server certificate, as flags name them.
struct CertificateFiles {
  std::string flag{};  ///< the name of the flag for `folder`, for errors: "--metrics-cert-path"
  std::filesystem::path folder{};
  std::string certificate{};
  std::string key{};
  std::string client_ca{};  ///< the CAs of the clients that may connect; empty: any client may
};

/// Returns a watcher of the files, which counts its reads in `metrics`. `metrics` and `clock` must
/// outlive it. Throws ConfigError, which names the flag, if it cannot read them.
[[nodiscard]] std::unique_ptr<CertificateWatcher> WatchCertificate(const CertificateFiles& files,
                                                                   Metrics& metrics,
                                                                   const Logger& log, Clock& clock);

}  // namespace kopp
