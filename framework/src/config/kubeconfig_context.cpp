#include "config/config_input.hpp"
#include "config/kubeconfig.hpp"
#include "net/proxy.hpp"
#include "system/quoted.hpp"

#include <array>
#include <utility>

namespace kopp::detail {
namespace {

using Entries = Kubeconfig::Entries;

bool HasField(const KubeconfigEntry& entry, std::string_view key) {
  return entry.fields.contains(key);
}

std::string FieldLocation(const KubeconfigEntry& entry, std::string_view key) {
  return entry.where + ": " + std::string(key);
}

[[noreturn]] void ThrowWrongType(const KubeconfigEntry& entry, std::string_view key, int line,
                                 const std::string& expected) {
  throw ConfigError(entry.where + ", line " + std::to_string(line) + ": " + std::string(key) +
                    " must be " + expected);
}

// Returns "" if the field is missing.
std::string StringField(const KubeconfigEntry& entry, std::string_view key) {
  const auto found = entry.fields.find(key);
  if (found == entry.fields.end()) return {};
  const auto& [text, is_scalar, line] = found->second;
  if (!is_scalar) ThrowWrongType(entry, key, line, "a string");
  return text;
}

bool BoolField(const KubeconfigEntry& entry, std::string_view key) {
  const std::string text = StringField(entry, key);
  if (text == "true") return true;
  if (text.empty() || text == "false") return false;
  ThrowWrongType(entry, key, entry.fields.find(key)->second.line, "true or false");
}

// Resolves a relative path against the folder of the kubeconfig file.
std::filesystem::path PathField(const KubeconfigEntry& entry, std::string_view key) {
  const std::string path = StringField(entry, key);
  if (path.empty()) return {};
  return (entry.path.parent_path() / path).lexically_normal();
}

// Returns the content of KEY-data, or else of the file that KEY names; "" if both are missing.
// Calls `check` with the content and its location, for messages.
std::string PemField(const KubeconfigEntry& entry, const std::string& key,
                     void (*check)(const std::string& pem, const std::string& where)) {
  const std::string data = StringField(entry, key + "-data");
  const std::filesystem::path file = PathField(entry, key);
  if (data.empty() && file.empty()) return {};
  const std::string where =
      FieldLocation(entry, data.empty() ? key + ' ' + file.string() : key + "-data");
  std::string pem =
      data.empty() ? ReadFile(file, FieldLocation(entry, key)) : DecodeBase64(data, where);
  check(pem, where);
  return pem;
}

// Example: `"a", "b" and 7 more`.
std::string DescribeNames(const Entries& entries) {
  constexpr std::size_t kShown = 10;
  std::string names;
  std::size_t shown = 0;
  for (const auto& [name, entry] : entries) {
    if (shown == kShown) {
      return names + " and " + std::to_string(entries.size() - shown) + " more";
    }
    names += (shown++ == 0 ? "" : ", ") + Quoted(name);
  }
  return names;
}

const KubeconfigEntry& FindContext(const Kubeconfig& merged, const std::string& requested) {
  const std::string& name = requested.empty() ? merged.current_context : requested;
  const auto found = merged.contexts.find(name);
  if (!name.empty() && found != merged.contexts.end()) return found->second;
  const std::string problem =
      merged.where +
      (name.empty() ? ": no current-context" : ": context " + Quoted(name) + " does not exist");
  if (merged.contexts.empty()) {
    throw ConfigError(problem + ", and no contexts are defined; add a context");
  }
  throw ConfigError(
      problem + "; choose an existing context with --context: " + DescribeNames(merged.contexts));
}

const KubeconfigEntry& FindNamed(const Kubeconfig& merged, const Entries& entries,
                                 const KubeconfigEntry& context, const std::string& kind) {
  const std::string name = StringField(context, kind);
  const auto found = entries.find(name);
  if (found != entries.end()) return found->second;
  if (name.empty()) {
    throw ConfigError(context.where + ": the field \"" + kind + "\" is missing; add \"" + kind +
                      ": NAME\"");
  }
  throw ConfigError(
      context.where + ": its " + kind + ' ' + Quoted(name) + " is not defined in " + merged.where +
      ", which defines " +
      (entries.empty() ? "no " + kind + 's' : "the " + kind + "s " + DescribeNames(entries)) +
      "; correct the context, or add the " + kind);
}

void ReadCluster(const KubeconfigEntry& cluster, const std::string& master, Config& config) {
  config.server = master;
  if (master.empty()) {
    config.server = StringField(cluster, "server");
    ValidateServer(config.server, FieldLocation(cluster, "server"));
  }
  config.proxy_url = StringField(cluster, "proxy-url");
  if (!config.proxy_url.empty()) {
    static_cast<void>(ParseProxy(config.proxy_url, FieldLocation(cluster, "proxy-url")));
  }
  config.certificate_authority = PemField(cluster, "certificate-authority", ValidateCertificates);
  config.tls_server_name = StringField(cluster, "tls-server-name");
  config.insecure_skip_tls_verify = BoolField(cluster, "insecure-skip-tls-verify");
  if (config.insecure_skip_tls_verify && !config.certificate_authority.empty()) {
    throw ConfigError(cluster.where + ": insecure-skip-tls-verify and a certificate-authority " +
                      "are mutually exclusive; remove insecure-skip-tls-verify");
  }
}

void RejectUnsupportedCredentials(const KubeconfigEntry& user) {
  using UnsupportedField = std::pair<std::string_view, std::string_view>;
  constexpr std::array kUnsupportedFields{
      UnsupportedField{"exec", "kopp does not run credential plugins"},
      UnsupportedField{"auth-provider", "kubectl has removed it too"},
      UnsupportedField{"username", "API servers no longer accept passwords"},
      UnsupportedField{"password", "API servers no longer accept passwords"},
      UnsupportedField{"as", "kopp does not impersonate"},
      UnsupportedField{"as-uid", "kopp does not impersonate"},
      UnsupportedField{"as-groups", "kopp does not impersonate"},
      UnsupportedField{"as-user-extra", "kopp does not impersonate"},
  };
  for (const auto& [key, reason] : kUnsupportedFields) {
    if (!HasField(user, key)) continue;
    throw ConfigError(FieldLocation(user, key) + " is not supported: " + std::string(reason) +
                      "; use a token (`kubectl create token` creates one) or a client certificate");
  }
}

void ReadUser(const KubeconfigEntry& user, Config& config) {
  RejectUnsupportedCredentials(user);
  config.client_certificate = PemField(user, "client-certificate", ValidateCertificates);
  config.client_key = PemField(user, "client-key", ValidateKey);
  if (config.client_certificate.empty() != config.client_key.empty()) {
    const bool key_missing = config.client_key.empty();
    throw ConfigError(user.where + ": " + (key_missing ? "client-certificate" : "client-key") +
                      " is set alone; add " + (key_missing ? "client-key" : "client-certificate") +
                      " or remove it");
  }
  if (HasField(user, "token"))
    config.token = RequireToken(StringField(user, "token"), FieldLocation(user, "token"));
  config.token_file = PathField(user, "tokenFile");
  if (!config.token_file.empty()) {
    const std::string where = FieldLocation(user, "tokenFile");
    static_cast<void>(
        RequireToken(ReadFile(config.token_file, where), where + ' ' + config.token_file.string()));
  }
}

}  // namespace

Config ReadContext(const Kubeconfig& kubeconfig, const ConfigSources& sources) {
  const KubeconfigEntry& context = FindContext(kubeconfig, sources.context);

  Config config;
  config.source = context.path.string();
  if (const std::string ns = StringField(context, "namespace"); !ns.empty()) config.ns = ns;
  ReadCluster(FindNamed(kubeconfig, kubeconfig.clusters, context, "cluster"), sources.master,
              config);
  // A context without a user is anonymous. As in client-go, credentials are not used over plain
  // HTTP.
  if (HasField(context, "user") && IsTls(config.server)) {
    ReadUser(FindNamed(kubeconfig, kubeconfig.users, context, "user"), config);
  }
  return config;
}

}  // namespace kopp::detail
