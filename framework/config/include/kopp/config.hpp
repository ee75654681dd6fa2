#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kopp/config_error.hpp>
#include <kopp/secret_string.hpp>

namespace kopp {

/// A credential plugin: a program that prints a token or a client certificate, as users[].user.exec
/// of a kubeconfig describes it.
///
/// The plugin runs before the first request, when its credential has expired, and once after a 401.
/// It runs without a shell and without a terminal, for at most 60 s. All requests of a transport
/// share one run and its result. If the plugin fails, the error message contains the end of its
/// standard error. Error messages never contain its output or its arguments.
struct ExecConfig {
  /// "client.authentication.k8s.io/v1" or "client.authentication.k8s.io/v1beta1".
  std::string api_version{};
  std::string command{};  ///< a path, or a name that is looked up in $PATH; empty: no plugin
  std::vector<std::string> args{};
  std::map<std::string, std::string> env{};  ///< added to the environment of this process
  std::string install_hint{};                ///< shown if the command does not exist
  /// Whether to pass the cluster in $KUBERNETES_EXEC_INFO. Its proxy-url is Config::proxy_url, even
  /// if LoadConfig has taken that from $HTTPS_PROXY.
  bool provide_cluster_info = false;
};

/// The user to impersonate. The API server executes requests as this user. The user of the
/// credentials needs the permission to impersonate (the verb "impersonate").
struct ImpersonationConfig {
  std::string user{};  ///< empty: no impersonation
  std::string uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};  ///< values by key
};

/// The address of an API server and the credentials for it.
///
/// A file is read when a transport is created, and its content replaces the field of the same name
/// without "_file". While the transport is used, the file is read again once a minute and after the
/// server or this client has rejected a credential; requests then use the new content. A file that
/// cannot be used later, for example because it is half-written, changes nothing.
///
/// MakeTransport also sends a `token` or `token_file` to an http:// server; use that in tests only.
struct Config {
  std::string server{};                   ///< "https://10.0.0.1:6443"
  std::string certificate_authority{};    ///< PEM; empty: the CAs of the system
  bool insecure_skip_tls_verify = false;  ///< must be false if certificate_authority is set
  std::string tls_server_name{};  ///< expected in the certificate; empty: the host of `server`
  /// "http://[USER:PASSWORD@]HOST:PORT", "https://…" or "socks5://…": the proxy to the server;
  /// empty: connect directly.
  SecretString proxy_url{};
  std::string client_certificate{};  ///< PEM, the leaf first
  SecretString client_key{};         ///< PEM
  SecretString token{};              ///< bearer token
  std::string token_file{};          ///< takes precedence over `token`; reread while running
  std::string ns = "default";        ///< namespace of the context or of the Pod
  std::string source{};  ///< for messages: a kubeconfig file, "in-cluster" or "--master"
  std::string certificate_authority_file{};  ///< reread while running
  std::string client_certificate_file{};     ///< reread while running
  std::string client_key_file{};             ///< reread while running
  ExecConfig exec{};  ///< excludes tokens and client certificates of other sources
  ImpersonationConfig impersonate{};
};

/// The places where LoadConfig looks for a configuration. Tests replace the environment and the
/// service account.
struct ConfigSources {
  std::string kubeconfig{};  ///< --kubeconfig
  std::string master{};      ///< --master: overrides the address of the API server
  std::string context{};     ///< --context: overrides current-context of the kubeconfig
  /// Returns an environment variable, or nullopt if it is not set. If empty, std::getenv is
  /// used.
  std::function<std::optional<std::string>(const std::string&)> getenv{};
  /// Directory with `token`, `ca.crt` and `namespace`, as Kubernetes mounts it into a Pod.
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
};

/// Returns the first of these configurations that exists:
/// 1. the file `sources.kubeconfig`, if given; a missing file is an error;
/// 2. the files of $KUBECONFIG, separated by ':'. Missing files are skipped. The first definition
///    of a cluster, user, context or current-context is used, as in kubectl;
/// 3. the service account of the Pod;
/// 4. ~/.kube/config, unless $KUBECONFIG is set;
/// 5. `sources.master` alone, without credentials.
///
/// Relative paths in a kubeconfig are relative to its directory. Unsupported settings are errors:
/// auth-provider plugins and passwords. The result for an http:// server has no credentials,
/// because they would be sent unencrypted. Credential plugins are not run.
///
/// The proxy is that of the cluster's proxy-url. Without it: that of $HTTPS_PROXY for an https://
/// server and of $HTTP_PROXY for an http:// server, unless $NO_PROXY matches the server or the
/// server is on loopback. Each variable may be in lower case; the rules are those of Go.
///
/// Blocks while it reads files. Throws ConfigError; its message never contains a credential.
[[nodiscard]] Config LoadConfig(const ConfigSources& sources = {});

}  // namespace kopp
