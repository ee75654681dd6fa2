#include "base/environment.hpp"
#include "base/quoted.hpp"
#include "config/config_input.hpp"
#include "kubeconfig.hpp"
#include "proxy_environment.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <pwd.h>
#include <unistd.h>

#include <kopp/config.hpp>

namespace kopp {
namespace {

namespace fs = std::filesystem;
using detail::KubeconfigFile;

// Tries the four sources of a configuration in order. Records why a source was skipped, for the
// error message if all are.
class ConfigSearch {
 public:
  explicit ConfigSearch(const ConfigSources& sources) : sources_(sources) {}

  Config Run() {
    Config config = FindConfig();
    if (config.proxy_url.empty()) {
      config.proxy_url = detail::ProxyFromEnvironment(
          config.server, [this](const std::string& name) { return Variable(name); });
    }
    return config;
  }

 private:
  Config FindConfig() {
    if (!sources_.master.empty()) detail::ValidateServer(sources_.master, "--master");
    if (auto config = FromFlag()) return *std::move(config);
    if (auto config = FromVariable()) return *std::move(config);
    if (auto config = FromServiceAccount()) return *std::move(config);
    if (auto config = FromHome()) return *std::move(config);
    if (!sources_.master.empty()) {
      Config config;
      config.server = sources_.master;
      config.source = "--master";
      return config;
    }
    throw ConfigError("no API server configured: " + skipped_ + "; set --kubeconfig=FILE");
  }

  std::optional<Config> FromFlag() {
    if (sources_.kubeconfig.empty()) return Skip("no --kubeconfig");
    detail::RequirePath(sources_.kubeconfig, "--kubeconfig");
    const fs::path file = fs::absolute(sources_.kubeconfig);
    auto text = detail::ReadFile(file, "--kubeconfig");
    return Read({{file, std::move(text)}});
  }

  // As in client-go: the files are separated by ':', a repeated file is read once, and missing
  // files are skipped.
  std::optional<Config> FromVariable() {
    const std::string list = Variable("KUBECONFIG");
    if (list.empty()) return Skip("$KUBECONFIG is not set");
    detail::RequirePath(list, "$KUBECONFIG");
    std::vector<fs::path> names;
    std::vector<KubeconfigFile> existing;
    for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = list.find(':', begin);
      const std::string name = list.substr(begin, end - begin);
      if (name.empty()) continue;
      const fs::path file = fs::absolute(name).lexically_normal();
      if (std::find(names.begin(), names.end(), file) != names.end()) continue;
      names.push_back(file);
      if (auto text = detail::ReadFileIfExists(file, "$KUBECONFIG")) {
        existing.push_back({file, *std::move(text)});
      }
    }
    if (existing.empty())
      return Skip("no file of $KUBECONFIG (" + detail::Quoted(list) + ") exists");
    return Read(existing);
  }

  std::optional<Config> FromServiceAccount() {
    std::string host = Variable("KUBERNETES_SERVICE_HOST");
    const std::string port = Variable("KUBERNETES_SERVICE_PORT");
    if (host.empty() || port.empty()) {
      return Skip("not in a pod ($KUBERNETES_SERVICE_HOST or _PORT is not set)");
    }
    const fs::path token_file = fs::path(sources_.service_account) / "token";
    const auto token = detail::ReadFileIfExists(token_file, "in-cluster");
    if (!token) return Skip("no service account in this pod (" + token_file.string() + ")");
    static_cast<void>(detail::RequireToken(*token, "in-cluster: " + token_file.string()));

    Config config;
    if (host.find(':') != std::string::npos && host.front() != '[') host = '[' + host + ']';
    config.server = sources_.master;
    if (config.server.empty()) {
      config.server = "https://" + host + ':' + port;
      detail::ValidateServer(config.server, "in-cluster: $KUBERNETES_SERVICE_HOST and _PORT");
    }
    const fs::path authority = fs::path(sources_.service_account) / "ca.crt";
    config.certificate_authority = detail::ReadFile(authority, "in-cluster");
    detail::ValidateCertificates(config.certificate_authority, "in-cluster: " + authority.string());
    config.certificate_authority_file = authority;
    if (detail::IsTls(config.server)) config.token_file = token_file;
    config.ns = Namespace();
    config.source = "in-cluster";
    return config;
  }

  std::optional<Config> FromHome() {
    if (!Variable("KUBECONFIG").empty()) {  // as in client-go, $KUBECONFIG replaces this file
      return Skip("~/.kube/config is ignored because $KUBECONFIG is set");
    }
    const fs::path file = Home() / ".kube" / "config";
    auto text = detail::ReadFileIfExists(file, "~/.kube/config");
    if (!text) return Skip("no " + file.string());
    return Read({{file, *std::move(text)}});
  }

  [[nodiscard]] Config Read(const std::vector<KubeconfigFile>& files) const {
    return detail::ReadContext(detail::MergeKubeconfigs(files), sources_);
  }

  [[nodiscard]] std::string Variable(const std::string& name) const {
    return (sources_.getenv ? sources_.getenv(name) : detail::EnvironmentVariable(name))
        .value_or("");
  }

  [[nodiscard]] fs::path Home() const {
    if (const std::string home = Variable("HOME"); !home.empty()) return home;
    passwd entry{};
    passwd* record = nullptr;
    std::array<char, 4096> buffer{};
    ::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &record);
    return record == nullptr ? "/" : record->pw_dir;
  }

  [[nodiscard]] std::string Namespace() const {
    std::string ns =
        detail::ReadFileIfExists(fs::path(sources_.service_account) / "namespace", "in-cluster")
            .value_or("");
    std::erase_if(ns, [](char c) { return c <= ' '; });
    return ns.empty() ? Config{}.ns : ns;
  }

  // Records why a source is skipped.
  std::nullopt_t Skip(const std::string& reason) {
    skipped_ += (skipped_.empty() ? "" : ", ") + reason;
    return std::nullopt;
  }

  const ConfigSources& sources_;
  std::string skipped_;
};

}  // namespace

Config LoadConfig(const ConfigSources& sources) { return ConfigSearch(sources).Run(); }

}  // namespace kopp
