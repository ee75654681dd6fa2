#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

namespace kopp {

/// Thrown for a configuration that cannot be used. what() is one line with the problem, its
/// location and a remedy.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The address of an API server and the credentials for it. Holds the contents of all files but the
/// token file.
struct Config {
  std::string server{};                   ///< "https://10.0.0.1:6443"
  std::string certificate_authority{};    ///< PEM; empty: the CAs of the system
  bool insecure_skip_tls_verify = false;  ///< never together with a certificate_authority
  std::string tls_server_name{};  ///< expected in the certificate; empty: the host of `server`
  /// "http://[USER:PASSWORD@]HOST:PORT": the proxy to the server; empty: connect directly. May
  /// contain a password: never print it.
  std::string proxy_url{};
  std::string client_certificate{};    ///< PEM, the leaf first
  std::string client_key{};            ///< PEM
  std::string token{};                 ///< bearer token
  std::filesystem::path token_file{};  ///< takes precedence over `token`; reread while running
  std::string ns = "default";          ///< namespace of the context or of the Pod
  std::string source{};  ///< for messages: a kubeconfig file, "in-cluster" or "--master"
};

/// The places where LoadConfig looks for a configuration. Tests replace the environment and the
/// service account.
struct ConfigSources {
  std::string kubeconfig{};  ///< --kubeconfig
  std::string master{};      ///< --master: overrides the address of the API server
  std::string context{};     ///< --context: overrides current-context of the kubeconfig
  /// Returns an environment variable, or nullopt if it is not set. Empty: std::getenv.
  std::function<std::optional<std::string>(const std::string&)> getenv{};
  /// Directory with `token`, `ca.crt` and `namespace`, as Kubernetes mounts it into a Pod.
  std::filesystem::path service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
};

/// Returns the first of these configurations that exists:
/// 1. the file `sources.kubeconfig`, if given; a missing file is an error;
/// 2. the files of $KUBECONFIG, separated by ':'. Missing files are skipped. If several files
/// define
///    the same cluster, user, context or current-context, the first definition is used, as in
///    kubectl;
/// 3. the service account of the Pod;
/// 4. ~/.kube/config, unless $KUBECONFIG is set;
/// 5. `sources.master` alone, without credentials.
///
/// Relative paths in a kubeconfig are relative to its directory. Unsupported settings are errors:
/// exec and auth-provider plugins, passwords and impersonation. The result for an http:// server
/// has no credentials: they are sent over TLS only.
///
/// The proxy is that of the cluster's proxy-url. Without it: that of $HTTPS_PROXY for an https://
/// server and of $HTTP_PROXY for an http:// server, unless $NO_PROXY matches the server or the
/// server is on loopback. Each variable may be in lower case; the rules are those of Go. Only
/// http:// proxies are supported.
///
/// Blocks while it reads files. Throws ConfigError; its message never contains a credential.
[[nodiscard]] Config LoadConfig(const ConfigSources& sources = {});

}  // namespace kopp
