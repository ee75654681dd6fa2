#pragma once

#include "support/scoped_variable.hpp"
#include "support/scratch_folder.hpp"
#include "transport_fixture.hpp"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::testing {

constexpr const char* kServerBehindHttpsProxy = "https://api.invalid:6443";
constexpr const char* kConnectionEstablished = "HTTP/1.1 200 Connection established\r\n\r\n";

/// A script in which the proxy opens a tunnel and the server accepts a TLS connection inside it.
inline Script InsideTunnel(const Script& script) {
  Script all{ReadRequest(), Send(kConnectionEstablished), StartTls()};
  all.insert(all.end(), script.begin(), script.end());
  return all;
}

/// Tests connections through an https:// proxy. One RawServer plays the proxy and, inside the
/// tunnel, the API server: api.invalid has no address of its own. The CAs of the proxy and of the
/// server differ.
class HttpsProxyTest : public TransportConformanceTest {
 protected:
  HttpsProxyTest() {
    TrustOnSystem(proxy_authority_);
    config_.certificate_authority = authority_.certificate();
  }

  /// Makes `authority` the only CA of the system.
  void TrustOnSystem(const CertificateAuthority& authority) const {
    folder_.Write("system.pem", authority.certificate());
  }

  /// Returns the identities of a proxy on loopback and of a server behind it.
  [[nodiscard]] RawServer::Tls ProxyAndServer() const {
    return {.identity = authority_.Issue({.subject_alt_names = "DNS:api.invalid"}),
            .proxy = proxy_authority_.IssueForLoopback()};
  }
  /// Returns the identity of a proxy that opens no tunnel.
  [[nodiscard]] RawServer::Tls ProxyOnly() const {
    return {.identity = proxy_authority_.IssueForLoopback()};
  }

  std::unique_ptr<Transport> TransportThrough(const RawServer& proxy,
                                              const std::string& server = kServerBehindHttpsProxy,
                                              const std::string& user = "") {
    config_.proxy_url = "https://" + user + "127.0.0.1:" + std::to_string(proxy.port());
    return TransportTo(server);
  }

  /// Returns the error of a call through `proxy`. It must name the server and the proxy; returns
  /// the rest of its message.
  Failure FailureThrough(const RawServer& proxy) {
    Failure failure = FailureOfCall(*TransportThrough(proxy), {.target = "/api"});
    const std::string names =
        std::string("GET ") + kServerBehindHttpsProxy +
        "/api: through the proxy https://127.0.0.1:" + std::to_string(proxy.port()) + ": ";
    EXPECT_THAT(failure.message, ::testing::StartsWith(names));
    failure.message.erase(0, names.size());
    return failure;
  }

  CertificateAuthority proxy_authority_;
  ScratchFolder folder_;
  ScopedVariable file_{"SSL_CERT_FILE", (folder_ / "system.pem").string()};
  ScopedVariable directory_{"SSL_CERT_DIR", (folder_ / "empty").string()};
};

}  // namespace kopp::testing
