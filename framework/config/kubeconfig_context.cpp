#include "base/quoted.hpp"
#include "config/config_input.hpp"
#include "kubeconfig.hpp"
#include "net/proxy.hpp"

#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <yaml-cpp/yaml.h>

namespace kopp::detail {
namespace {

using Entries = Kubeconfig::Entries;
using Type = KubeconfigField::Type;

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

// Returns the field, or null if it is missing. `expected` describes `type`, for messages.
const KubeconfigField* TypedField(const KubeconfigEntry& entry, std::string_view key,
                                  KubeconfigField::Type type, const std::string& expected) {
  const auto found = entry.fields.find(key);
  if (found == entry.fields.end()) return nullptr;
  if (found->second.type != type) ThrowWrongType(entry, key, found->second.line, expected);
  return &found->second;
}

// Returns "" if the field is missing.
std::string StringField(const KubeconfigEntry& entry, std::string_view key) {
  const auto* field = TypedField(entry, key, Type::kScalar, "a string");
  return field == nullptr ? std::string() : field->text;
}

std::vector<std::string> StringListField(const KubeconfigEntry& entry, std::string_view key) {
  const auto* field = TypedField(entry, key, Type::kList, "a list of strings");
  std::vector<std::string> texts;
  if (field == nullptr) return texts;
  for (const KubeconfigField& item : field->items) {
    if (item.type != Type::kScalar) ThrowWrongType(entry, key, item.line, "a list of strings");
    texts.push_back(item.text);
  }
  return texts;
}

// Returns the map `key` of `entry` as an entry, so that the functions above can read its fields.
std::optional<KubeconfigEntry> MapField(const KubeconfigEntry& entry, std::string_view key) {
  const auto* field = TypedField(entry, key, Type::kMap, "a map");
  if (field == nullptr) return std::nullopt;
  return KubeconfigEntry{
      .where = FieldLocation(entry, key), .path = entry.path, .fields = field->fields};
}

// Accepts the booleans of YAML 1.1, as kubectl does.
bool BoolField(const KubeconfigEntry& entry, std::string_view key) {
  const std::string text = StringField(entry, key);
  bool value = false;
  if (text.empty() || YAML::convert<bool>::decode(YAML::Node(text), value)) return value;
  ThrowWrongType(entry, key, entry.fields.find(key)->second.line, "true or false");
}

// Resolves a relative path against the folder of the kubeconfig file.
std::filesystem::path PathField(const KubeconfigEntry& entry, std::string_view key) {
  const std::string path = StringField(entry, key);
  if (path.empty()) return {};
  RequirePath(path, FieldLocation(entry, key));
  return (entry.path.parent_path() / path).lexically_normal();
}

// The content of KEY-data, or else of the file that KEY names. Empty if both are missing.
struct PemField {
  std::string pem;
  std::filesystem::path file;  // empty if the content comes from KEY-data
};

// Calls `validate` with the content and its location, for messages.
PemField ReadPemField(const KubeconfigEntry& entry, const std::string& key,
                      void (*validate)(std::string_view pem, const std::string& where)) {
  const std::string data = StringField(entry, key + "-data");
  const std::filesystem::path file = data.empty() ? PathField(entry, key) : "";
  if (data.empty() && file.empty()) return {};
  const std::string where =
      FieldLocation(entry, data.empty() ? key + ' ' + file.string() : key + "-data");
  std::string pem =
      data.empty() ? ReadFile(file, FieldLocation(entry, key)) : DecodeBase64Data(data, where);
  validate(pem, where);
  return {std::move(pem), file};
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

const KubeconfigEntry& RequireUsable(const KubeconfigEntry& entry) {
  if (!entry.error.empty()) throw ConfigError(entry.error);
  return entry;
}

const KubeconfigEntry& FindContext(const Kubeconfig& merged, const std::string& requested) {
  const std::string& name = requested.empty() ? merged.current_context : requested;
  const auto found = merged.contexts.find(name);
  if (!name.empty() && found != merged.contexts.end()) return RequireUsable(found->second);
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
  if (found != entries.end()) return RequireUsable(found->second);
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
    if (config.server.empty()) {
      throw ConfigError(FieldLocation(cluster, "server") +
                        " is missing; add \"server: https://HOST:PORT\"");
    }
    ValidateServer(config.server, FieldLocation(cluster, "server"));
  }
  if (const std::string proxy_url = StringField(cluster, "proxy-url"); !proxy_url.empty()) {
    static_cast<void>(ParseProxy(proxy_url, FieldLocation(cluster, "proxy-url")));
    config.proxy_url = proxy_url;
  }
  auto [authority, authority_file] =
      ReadPemField(cluster, "certificate-authority", ValidateCertificates);
  config.certificate_authority = std::move(authority);
  config.certificate_authority_file = std::move(authority_file);
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
      UnsupportedField{"auth-provider", "kubectl has removed it too"},
      UnsupportedField{"username", "API servers no longer accept passwords"},
      UnsupportedField{"password", "API servers no longer accept passwords"},
  };
  for (const auto& [key, reason] : kUnsupportedFields) {
    if (!HasField(user, key)) continue;
    throw ConfigError(FieldLocation(user, key) + " is not supported: " + std::string(reason) +
                      "; use a token (`kubectl create token` creates one), a client certificate " +
                      "or a credential plugin (exec)");
  }
}

void ReadClientCertificate(const KubeconfigEntry& user, Config& config) {
  auto [certificate, certificate_file] =
      ReadPemField(user, "client-certificate", ValidateCertificates);
  auto [key, key_file] = ReadPemField(user, "client-key", ValidateKey);
  if (certificate.empty() != key.empty()) {
    throw ConfigError(user.where + ": " + (key.empty() ? "client-certificate" : "client-key") +
                      " is set alone; add " + (key.empty() ? "client-key" : "client-certificate") +
                      " or remove it");
  }
  config.client_certificate = std::move(certificate);
  config.client_certificate_file = std::move(certificate_file);
  config.client_key = key;
  config.client_key_file = std::move(key_file);
}

void ReadToken(const KubeconfigEntry& user, Config& config) {
  if (HasField(user, "token")) {
    config.token = RequireToken(StringField(user, "token"), FieldLocation(user, "token"));
  }
  config.token_file = PathField(user, "tokenFile");
  if (config.token_file.empty()) return;
  const std::string where = FieldLocation(user, "tokenFile");
  static_cast<void>(
      RequireToken(ReadFile(config.token_file, where), where + ' ' + config.token_file));
}

std::map<std::string, std::string> ReadExecEnv(const KubeconfigEntry& exec) {
  std::map<std::string, std::string> env;
  const auto* list = TypedField(exec, "env", Type::kList, "a list of names and values");
  if (list == nullptr) return env;
  for (const KubeconfigField& item : list->items) {
    if (item.type != Type::kMap) {
      ThrowWrongType(exec, "env", item.line, "a list of names and values");
    }
    const KubeconfigEntry variable{.where = exec.where + ": env", .fields = item.fields};
    env[StringField(variable, "name")] = StringField(variable, "value");
  }
  return env;
}

// kopp has no terminal to offer, so it runs a plugin in the modes Never and IfAvailable only.
void RequireNonInteractive(const KubeconfigEntry& exec) {
  const std::string mode = StringField(exec, "interactiveMode");
  if (mode == "Never" || mode == "IfAvailable") return;
  const bool has_default = StringField(exec, "apiVersion").ends_with("/v1beta1");
  if (mode.empty() && has_default) return;
  if (mode == "Always") {
    throw ConfigError(exec.where + ": interactiveMode Always is not supported: a plugin runs " +
                      "without a terminal; use a plugin or a login that asks no questions, and " +
                      "set interactiveMode to IfAvailable");
  }
  throw ConfigError(exec.where + ": interactiveMode must be Never, IfAvailable or Always" +
                    (mode.empty() ? "; add \"interactiveMode: IfAvailable\"" : "; correct it"));
}

void ReadExec(const KubeconfigEntry& user, Config& config) {
  const auto exec = MapField(user, "exec");
  if (!exec) return;
  config.exec = {.api_version = StringField(*exec, "apiVersion"),
                 .command = StringField(*exec, "command"),
                 .args = StringListField(*exec, "args"),
                 .env = ReadExecEnv(*exec),
                 .install_hint = StringField(*exec, "installHint"),
                 .provide_cluster_info = BoolField(*exec, "provideClusterInfo")};
  ValidateExec(config.exec, exec->where);
  RequireNonInteractive(*exec);
  const bool is_path = config.exec.command.find('/') != std::string::npos;
  if (is_path) config.exec.command = PathField(*exec, "command").string();
}

void ReadImpersonation(const KubeconfigEntry& user, Config& config) {
  config.impersonate = {.user = StringField(user, "as"),
                        .uid = StringField(user, "as-uid"),
                        .groups = StringListField(user, "as-groups")};
  if (const auto extra = MapField(user, "as-user-extra")) {
    for (const auto& [key, values] : extra->fields) {
      const std::string quoted = Quoted(key);  // it may be any text, and messages show it
      const KubeconfigEntry entry{.where = extra->where, .fields = {{quoted, values}}};
      config.impersonate.extra[key] = StringListField(entry, quoted);
    }
  }
  ValidateImpersonation(config.impersonate, user.where);
}

void ReadUser(const KubeconfigEntry& user, Config& config) {
  RejectUnsupportedCredentials(user);
  ReadClientCertificate(user, config);
  ReadToken(user, config);
  ReadExec(user, config);
  ReadImpersonation(user, config);
  RequireOneCredential(config, user.where);
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
