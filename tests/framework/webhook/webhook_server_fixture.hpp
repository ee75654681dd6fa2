#pragma once

#include "manager/served_manager.hpp"
#include "support/certificates.hpp"
#include "support/raw_client.hpp"
#include "support/scratch_folder.hpp"
#include "webhook_fixture.hpp"

#include <cstdint>
#include <string>
#include <system_error>
#include <thread>

#include <gmock/gmock.h>

#include <kopp/config.hpp>

namespace kopp {

/// Webhooks over HTTPS: a Manager that serves them.
class WebhookServerTest : public ServedManagerTest {
 protected:
  WebhookServerTest() {
    WriteCertificate(authority_);
    options_.webhook = {.port = 0,
                        .host = "127.0.0.1",
                        .cert_path = (folder_ / "").string(),
                        .shutdown_delay = Duration::zero()};
  }
  ~WebhookServerTest() override { StopServed(); }

  void WriteCertificate(const testing::CertificateAuthority& authority) {
    const auto issued = authority.IssueForLoopback();
    folder_.Write("tls.crt", issued.certificate);
    folder_.Write("tls.key", issued.key);
  }
  Manager& NewManager() { return served_.emplace(options_); }
  void StopServed() {
    manager_thread_.request_stop();
    if (manager_thread_.joinable()) manager_thread_.join();
  }
  /// Runs the manager in a thread, without waiting for a server.
  void StartManagerWithoutPort() {
    manager_thread_ =
        std::jthread([this](const std::stop_token& stop) { code_ = served_->Run(stop); });
  }
  /// Makes the server accept only clients with a certificate of `authority`.
  void RequireClientsOf(const testing::CertificateAuthority& authority) {
    folder_.Write("clients.crt", authority.certificate());
    options_.webhook.client_ca_name = "clients.crt";
  }
  /// Sends a review over HTTPS, to a server whose certificate `authority` has issued, as a client
  /// with a certificate, or without one.
  ApiResponse Send(const std::string& path, const std::string& body,
                   const testing::CertificateAuthority& authority,
                   const testing::CertificateAndKey& client = {}) const {
    Config config;
    config.server = "https://127.0.0.1:" + std::to_string(port_);
    config.certificate_authority = authority.certificate();
    config.client_certificate = client.certificate;
    config.client_key = client.key;
    return MakeTransport(config)->Call(
        {.method = "POST", .target = path, .body = body, .content_type = "application/json"});
  }
  ApiResponse Send(const std::string& path, const std::string& body) const {
    return Send(path, body, authority_);
  }
  /// Blocks until health checks are served, and returns their port.
  std::uint16_t HealthPort() {
    const std::string served = "Serving health checks";
    const std::string address = "127.0.0.1:";
    AwaitLog(served);
    const std::string log = LogText();
    return static_cast<std::uint16_t>(
        std::stoi(log.substr(log.find(address, log.find(served)) + address.size())));
  }
  /// Blocks until the server does not accept connections any more.
  void AwaitRefusedConnections() const {
    try {
      while (true) const testing::RawClient client(port_);
    } catch (const std::system_error&) {
    }
  }
  /// Returns the number of requests for `path` with this status in the metrics, or "".
  std::string CountOf(const std::string& path, int status) {
    const std::string series = "\ncontroller_runtime_webhook_requests_total{code=\"" +
                               std::to_string(status) + "\",webhook=\"" + path + "\"} ";
    const std::string text = served_->metrics().Text();
    const auto found = text.find(series);
    if (found == std::string::npos) return "";
    const auto begin = found + series.size();
    return text.substr(begin, text.find('\n', begin) - begin);
  }
  static std::string Review() {
    return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":
        {"uid":"u-1","operation":"CREATE","object":{"metadata":{"name":"w"}}}})";
  }

  const testing::ScratchFolder folder_;
  const testing::CertificateAuthority authority_;
  Options options_{
      .name = "test-operator", .log = RecordingLogger(), .transport = transport_, .clock = clock_};
};

}  // namespace kopp
