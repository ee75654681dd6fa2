#pragma once

#include "config/credential_material.hpp"
#include "net/tls.hpp"

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include <kopp/transport.hpp>

namespace kopp::detail {

/// The credentials of one request and its connection. Immutable.
struct Credentials {
  std::shared_ptr<const TlsContext> tls;  ///< with the client certificate; null for http://
  SecretString authorization;             ///< the Authorization header; empty: none
};

/// How long a request waits for a renewal although it could use the previous credentials.
struct RenewalGrace {
  Duration files = std::chrono::seconds(1);
  Duration plugin = std::chrono::seconds(10);  ///< a plugin may have to log in
};

/// Supplies the credentials for requests to one server and renews them while the process runs:
///
/// - Files (token, CA, client certificate and key) are read again once a minute and after a
///   rejection, then at most once a second. A file that cannot be used, or a key that does not
///   match its certificate, leaves the previous credentials in use.
/// - A credential plugin runs before the first request, after its credential has expired, and once
///   after a rejection. After a failure or a second rejection it does not run again for 10 s.
///
/// Files are read and plugins run by threads that exist only meanwhile, and never while a lock is
/// held that requests need. A file system that hangs delays requests by one second, once; until it
/// responds, the files are not read again, but the plugin runs. Thread-safe.
class CredentialsProvider {
 public:
  /// Reads the files; does not run the plugin. The server certificate must be valid for
  /// `server_name`; empty: no TLS. Throws ConfigError if the configuration cannot be used.
  CredentialsProvider(const Config& config, const std::string& server_name,
                      const TransportOptions& options, const RenewalGrace& grace = {});
  /// Kills a running plugin and waits for its end.
  ~CredentialsProvider();
  CredentialsProvider(const CredentialsProvider&) = delete;
  CredentialsProvider& operator=(const CredentialsProvider&) = delete;

  /// Returns the credentials for the next request. Blocks while a renewal runs: at most for the
  /// RenewalGrace if the previous credentials can still be used, else until `deadline` or a stop.
  /// Never waits longer for files than the RenewalGrace. Throws TransportError if there are no
  /// credentials; its text does not name the request.
  [[nodiscard]] std::shared_ptr<const Credentials> Get(TimePoint deadline,
                                                       const std::stop_token& stop);

  /// Reports a 401 for `credentials`, or that a TLS handshake with them failed as untrusted. The
  /// next Get renews them, unless they have been renewed meanwhile.
  void Invalidate(const std::shared_ptr<const Credentials>& credentials);

 private:
  class Renewer;
  std::shared_ptr<Renewer> renewer_;  // shared with its threads, which a hanging file system blocks
};

}  // namespace kopp::detail
