#pragma once

#include "net/tls.hpp"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <kopp/config.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// The current token and TLS context of a configuration, and how to load them again: from files and
/// from the credential plugin. Not thread-safe; all functions that load may block. To load without
/// a lock, load with a copy, and then take over what the copy has loaded.
///
/// A function that throws ConfigError leaves the token and the TLS context as they were. Its
/// message never contains a credential.
class CredentialMaterial {
 public:
  /// Reads the files; does not run the plugin. The server certificate must be valid for
  /// `server_name`; empty: no TLS. Throws ConfigError if the configuration cannot be used.
  CredentialMaterial(const Config& config, std::string server_name);

  [[nodiscard]] bool HasFiles() const;
  [[nodiscard]] bool HasPlugin() const { return !config_.exec.command.empty(); }

  void ReadTokenFile();  ///< does nothing if there is none
  void ReadTlsFiles();   ///< CA, client certificate and key; does nothing if there are none
  /// `now` is the time at which the credential must not have expired.
  void RunPlugin(WallTime now, const std::stop_token& stop);

  /// Takes over what RunPlugin of a copy has loaded. Throws ConfigError.
  void AdoptPlugin(const CredentialMaterial& loaded);
  /// Takes over what ReadTokenFile and ReadTlsFiles of a copy have loaded. Throws ConfigError.
  void AdoptFiles(const CredentialMaterial& loaded);

  [[nodiscard]] const SecretString& token() const { return config_.token; }
  /// Returns the same context until the CA, the client certificate or the key changes. Null without
  /// TLS.
  [[nodiscard]] const std::shared_ptr<const TlsContext>& tls() const { return tls_; }
  /// Returns when the credential of the plugin expires; nullopt: never.
  [[nodiscard]] std::optional<WallTime> expires() const { return expires_; }

 private:
  void Adopt(Config next);
  void Adopt(Config next, const CredentialMaterial& loaded);

  Config config_;  // with the current contents of the files
  std::string server_name_;
  std::shared_ptr<const TlsContext> tls_;
  std::optional<WallTime> expires_;
};

}  // namespace kopp::detail
