#pragma once

#include "webhook/certificate_issuer.hpp"

#include <exception>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include <kopp/client.hpp>
#include <kopp/http_server.hpp>
#include <kopp/informer/key_queue.hpp>
#include <kopp/standalone_cache.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// The options of IssuedCertificates.
struct IssuedCertificatesOptions {
  CertificateIssuerOptions issuer;
  const Client& client;  ///< must outlive the object
  std::function<bool()> is_leader{};
  /// Called with each new certificate, on the thread of the object.
  std::function<void(const HttpServerTls& certificate)> apply{};
};

/// Certificates that the program issues for its own webhooks. Watches their Secret and their
/// configurations, and calls a CertificateIssuer for each change and when a step is due. Each
/// replica has one, so a new certificate is served by all of them within a second.
class IssuedCertificates {
 public:
  /// Starts a thread, and informers with a thread each.
  explicit IssuedCertificates(IssuedCertificatesOptions options);
  ~IssuedCertificates() { Stop(); }
  IssuedCertificates(const IssuedCertificates&) = delete;
  IssuedCertificates& operator=(const IssuedCertificates&) = delete;

  /// Does at once what is due. Call it when this replica becomes the leader. Thread-safe.
  void Check() { queue_.Add(secret_); }

  /// Cancels the calls, and blocks until the threads have ended. May be called again.
  void Stop();

  /// Returns why the API server cannot verify the certificates; "" if it can. Thread-safe,
  /// also during and after Stop().
  [[nodiscard]] std::string Problem() const { return *problem_.Lock(); }

 private:
  void Watch(const Kind& kind);
  void Run();
  void Reconcile();
  void Report(const std::exception& error);
  void ReportOnce(const std::string& error);

  const IssuedCertificatesOptions options_;
  const ObjectKey secret_;
  CertificateIssuer issuer_;
  std::stop_source stop_;
  WebhookCertificates applied_;
  std::string last_error_;  // the same error is logged once
  mutable detail::Guarded<std::string> problem_{"the certificates have not been read yet"};
  workqueue::RateLimitingQueue<ObjectKey> queue_;
  StandaloneCache cache_;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace kopp
