#include "config/kubeconfig.hpp"
#include "targets.hpp"

#include <algorithm>
#include <string>

#include <kopp/config.hpp>

namespace kopp::fuzz {
namespace {

/// Removes the fields that name a file, so that the input cannot choose which files are read.
void RemoveFileReferences(detail::Kubeconfig& kubeconfig) {
  for (auto& [name, cluster] : kubeconfig.clusters) cluster.fields.erase("certificate-authority");
  for (auto& [name, user] : kubeconfig.users) {
    for (const char* field : {"client-certificate", "client-key", "tokenFile"}) {
      user.fields.erase(field);
    }
  }
}

void CheckConfig(const Config& config) {
  if (config.server.find("://") == std::string::npos) throw Finding("no server: " + config.server);
  if (!config.server.starts_with("https://") &&
      (!config.token.empty() || !config.client_key.empty())) {
    throw Finding("credentials for a server without TLS");
  }
}

/// The message is written to a log of one line per entry.
void CheckMessage(const std::string& message) {
  const auto is_control = [](char c) { return c >= '\0' && c < ' '; };
  if (message.empty() || std::ranges::any_of(message, is_control)) {
    throw Finding("not one line of text: " + message);
  }
}

}  // namespace

void FuzzKubeconfig(std::string_view input) {
  try {
    detail::Kubeconfig kubeconfig = detail::MergeKubeconfigs(
        {{"/fuzz/config", std::string(input)},
         {"/fuzz/other", "{current-context: other, contexts: [{name: other}]}"}});
    RemoveFileReferences(kubeconfig);
    CheckConfig(detail::ReadContext(kubeconfig, {}));
  } catch (const ConfigError& error) {
    CheckMessage(error.what());
  }
}

}  // namespace kopp::fuzz
