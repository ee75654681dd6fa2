#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

namespace kopp {

/// A configuration that cannot be used. what() is one line: what, where, what to do.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How to reach one API server, and as whom. Everything but the token file is read already.
struct Config {
  std::string server{};                   ///< "https://10.0.0.1:6443"
  std::string certificate_authority{};    ///< PEM; empty: the system's
  bool insecure_skip_tls_verify = false;  ///< never together with a certificate_authority
  std::string tls_server_name{};          ///< checked instead of the server's host, where set
  std::string client_certificate{};       ///< PEM chain
  std::string client_key{};               ///< PEM
  std::string token{};                    ///< bearer token
  std::filesystem::path token_file{};     ///< wins over `token`, reread while running
  std::string ns = "default";             ///< the context's or the pod's namespace
  std::string source{};  ///< where this came from, for messages: a file, "in-cluster" or "--master"
};

/// Where LoadConfig looks. The defaults are the real machine; tests give their own.
struct ConfigSources {
  std::string kubeconfig{};  ///< --kubeconfig
  std::string master{};      ///< --master: overrides the server's address
  std::string context{};     ///< --context: instead of current-context
  std::function<std::optional<std::string>(const std::string&)> getenv{};  ///< empty: the process's
  std::filesystem::path service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
};

/// The first that is there of:
/// 1. `kubeconfig`, which has to be;
/// 2. the files of $KUBECONFIG, a ':' list: missing ones are passed over, and the first that
///    names a cluster, user, context or current-context wins it whole, as with kubectl;
/// 3. the pod's own service account;
/// 4. ~/.kube/config, unless $KUBECONFIG is set;
/// 5. `master` alone, with no credentials.
///
/// Paths in a kubeconfig start at its own folder. Credentials that could be read but not used are
/// refused: exec and auth-provider plugins, passwords, impersonation, a proxy. For an http://
/// server no credentials are returned: they travel over TLS only. Reads files, so it may block.
/// Throws ConfigError; no message holds a credential.
[[nodiscard]] Config LoadConfig(const ConfigSources& sources = {});

}  // namespace kopp
