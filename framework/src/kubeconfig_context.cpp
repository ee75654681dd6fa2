#include "config_input.hpp"
#include "kubeconfig.hpp"
#include "quoted.hpp"

#include <array>
#include <utility>

namespace kopp::detail {
namespace {

using Entries = Kubeconfig::Entries;

bool Has(const KubeconfigEntry& entry, std::string_view key) { return entry.fields.contains(key); }

std::string Where(const KubeconfigEntry& entry, std::string_view key) {
  return entry.where + ": " + std::string(key);
}

[[noreturn]] void HasToBe(const KubeconfigEntry& entry, std::string_view key, int line,
                          const std::string& kind) {
  throw ConfigError(entry.where + ", line " + std::to_string(line) + ": " + std::string(key) +
                    " has to be " + kind);
}

// Empty where there is none.
std::string Text(const KubeconfigEntry& entry, std::string_view key) {
  const auto found = entry.fields.find(key);
  if (found == entry.fields.end()) return {};
  const auto& [text, is_text, line] = found->second;
  if (!is_text) HasToBe(entry, key, line, "a text");
  return text;
}

bool Bool(const KubeconfigEntry& entry, std::string_view key) {
  const std::string text = Text(entry, key);
  if (text == "true") return true;
  if (text.empty() || text == "false") return false;
  HasToBe(entry, key, entry.fields.find(key)->second.line, "true or false");
}

// Relative to the folder of its own file.
std::filesystem::path Path(const KubeconfigEntry& entry, std::string_view key) {
  const std::string path = Text(entry, key);
  if (path.empty()) return {};
  return (entry.path.parent_path() / path).lexically_normal();
}

// What KEY-data holds, else the file that KEY names. `check` is told where it was found.
std::string Pem(const KubeconfigEntry& entry, const std::string& key,
                void (*check)(const std::string& pem, const std::string& where)) {
  const std::string data = Text(entry, key + "-data");
  const std::filesystem::path file = Path(entry, key);
  if (data.empty() && file.empty()) return {};
  const std::string where = Where(entry, data.empty() ? key + ' ' + file.string() : key + "-data");
  std::string pem = data.empty() ? ReadFile(file, Where(entry, key)) : DecodeBase64(data, where);
  check(pem, where);
  return pem;
}

// "it has "a", "b" and 7 more".
std::string Known(const Entries& entries) {
  constexpr std::size_t kShown = 10;
  if (entries.empty()) return "it has none";
  std::string names;
  std::size_t shown = 0;
  for (const auto& [name, entry] : entries) {
    if (shown == kShown) {
      return "it has " + names + " and " + std::to_string(entries.size() - shown) + " more";
    }
    names += (shown++ == 0 ? "" : ", ") + Quoted(name);
  }
  return "it has " + names;
}

const KubeconfigEntry& FindContext(const Kubeconfig& merged, const std::string& asked) {
  const std::string& name = asked.empty() ? merged.current_context : asked;
  if (name.empty()) {
    throw ConfigError(merged.where + ": no current-context; choose a context with --context: " +
                      Known(merged.contexts));
  }
  const auto found = merged.contexts.find(name);
  if (found != merged.contexts.end()) return found->second;
  throw ConfigError(merged.where + ": there is no context " + Quoted(name) +
                    "; choose one with --context: " + Known(merged.contexts));
}

const KubeconfigEntry& FindNamed(const Kubeconfig& merged, const Entries& entries,
                                 const KubeconfigEntry& context, const std::string& kind) {
  const std::string name = Text(context, kind);
  const auto found = entries.find(name);
  if (found != entries.end()) return found->second;
  if (name.empty()) {
    throw ConfigError(context.where + ": names no " + kind + "; add " + kind + ": NAME");
  }
  throw ConfigError(context.where + ": its " + kind + ' ' + Quoted(name) + " is not in " +
                    merged.where + "; " + Known(entries) + "; correct the context, or add the " +
                    kind);
}

void ReadCluster(const KubeconfigEntry& cluster, const std::string& master, Config& config) {
  config.server = master;
  if (master.empty()) {
    config.server = Text(cluster, "server");
    CheckServer(config.server, Where(cluster, "server"));
  }
  if (Has(cluster, "proxy-url")) {
    throw ConfigError(cluster.where + ": proxy-url is not supported: kopp connects directly; " +
                      "remove it, and give a server that is reached without a proxy");
  }
  config.certificate_authority = Pem(cluster, "certificate-authority", CheckCertificates);
  config.tls_server_name = Text(cluster, "tls-server-name");
  config.insecure_skip_tls_verify = Bool(cluster, "insecure-skip-tls-verify");
  if (config.insecure_skip_tls_verify && !config.certificate_authority.empty()) {
    throw ConfigError(cluster.where + ": insecure-skip-tls-verify and a certificate-authority " +
                      "exclude each other; remove insecure-skip-tls-verify");
  }
}

void RefuseUnsupported(const KubeconfigEntry& user) {
  using Refused = std::pair<std::string_view, std::string_view>;
  constexpr std::array kRefused{
      Refused{"exec", "kopp runs no credential plugins"},
      Refused{"auth-provider", "kubectl itself has dropped it"},
      Refused{"username", "API servers take no passwords any more"},
      Refused{"password", "API servers take no passwords any more"},
      Refused{"as", "kopp does not impersonate"},
      Refused{"as-uid", "kopp does not impersonate"},
      Refused{"as-groups", "kopp does not impersonate"},
      Refused{"as-user-extra", "kopp does not impersonate"},
  };
  for (const auto& [key, why] : kRefused) {
    if (!Has(user, key)) continue;
    throw ConfigError(Where(user, key) + " is not supported: " + std::string(why) +
                      "; use a token (`kubectl create token` makes one) or a client certificate");
  }
}

void ReadUser(const KubeconfigEntry& user, Config& config) {
  RefuseUnsupported(user);
  config.client_certificate = Pem(user, "client-certificate", CheckCertificates);
  config.client_key = Pem(user, "client-key", CheckKey);
  if (config.client_certificate.empty() != config.client_key.empty()) {
    const bool key_missing = config.client_key.empty();
    throw ConfigError(user.where + ": " + (key_missing ? "client-certificate" : "client-key") +
                      " stands alone; add " + (key_missing ? "client-key" : "client-certificate") +
                      " or remove it");
  }
  if (Has(user, "token")) config.token = CheckedToken(Text(user, "token"), Where(user, "token"));
  config.token_file = Path(user, "tokenFile");
  if (!config.token_file.empty()) {
    const std::string where = Where(user, "tokenFile");
    static_cast<void>(
        CheckedToken(ReadFile(config.token_file, where), where + ' ' + config.token_file.string()));
  }
}

}  // namespace

Config ReadContext(const Kubeconfig& kubeconfig, const ConfigSources& sources) {
  const KubeconfigEntry& context = FindContext(kubeconfig, sources.context);

  Config config;
  config.source = context.path.string();
  if (const std::string ns = Text(context, "namespace"); !ns.empty()) config.ns = ns;
  ReadCluster(FindNamed(kubeconfig, kubeconfig.clusters, context, "cluster"), sources.master,
              config);
  // A context without a user is anonymous. client-go: over plain HTTP nobody is anyone either.
  if (Has(context, "user") && IsTls(config.server)) {
    ReadUser(FindNamed(kubeconfig, kubeconfig.users, context, "user"), config);
  }
  return config;
}

}  // namespace kopp::detail
