#pragma once

#include <string>

namespace kopp {

/// How a Manager serves /metrics.
struct MetricsServerOptions {
  /// --metrics-bind-address: the address that serves /metrics over HTTPS (see `secure`), in the
  /// format of HttpServerOptions::address; "0": metrics are neither collected nor served.
  std::string bind_address = "0";

  /// --metrics-secure: serve metrics over HTTPS, to clients whose token is valid and may `get` the
  /// path /metrics.
  bool secure = true;
  /// --metrics-cert-path: the folder of the certificate and key files; empty: a self-signed
  /// certificate.
  std::string cert_path{};
  std::string cert_name = "tls.crt";  ///< --metrics-cert-name
  std::string cert_key = "tls.key";   ///< --metrics-cert-key
};

}  // namespace kopp
