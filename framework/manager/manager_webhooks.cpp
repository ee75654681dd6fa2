#include "manager_webhooks.hpp"

#include "base/ascii.hpp"
#include "base/quoted.hpp"
#include "net/certificate.hpp"
#include "webhook/stored_configuration.hpp"
#include "webhook/webhook_configurations.hpp"
#include "webhook_flags.hpp"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <kopp/config_error.hpp>
#include <kopp/leader_election.hpp>

namespace kopp {
namespace {

/// Returns the name of the program as a part of names of objects: "my-operator" for "My_Operator"
/// and "my.operator".
std::string ObjectNameOf(const Options& options) {
  std::string name = detail::ToLowerAscii(options.name);
  std::ranges::replace_if(
      name, [](char c) { return c == '_' || c == '.'; }, '-');
  return name;
}

/// Returns the Service of the webhooks. Throws ConfigError if its namespace is not known, or the
/// option is not valid.
ObjectKey ServiceOf(const Options& options) {
  const std::string& service = options.webhook.service;
  if (!service.empty()) {
    if (detail::IsService(service)) {
      const auto slash = service.find('/');
      return {service.substr(0, slash), service.substr(slash + 1)};
    }
    throw ConfigError("Options::webhook.service must be NAMESPACE/NAME, not " +
                      detail::Quoted(service));
  }
  const std::string name = ObjectNameOf(options) + "-webhook-service";
  try {
    return {LeaderElectionNamespace({}), name};
  } catch (const ConfigError&) {
    if (!options.leader_election.ns.empty()) return {options.leader_election.ns, name};
    throw ConfigError(
        "the namespace of the webhooks is not known: pass --webhook-service=NAMESPACE/NAME");
  }
}

CertificateFiles FilesOf(const WebhookServerOptions& options) {
  return {.flag = "--webhook-cert-path",
          .folder = options.cert_path,
          .certificate = options.cert_name,
          .key = options.cert_key,
          .client_ca = options.client_ca_name};
}

}  // namespace

ManagerWebhooks::ManagerWebhooks(const Options& options, const Client& client, const Cache& cache,
                                 Metrics& metrics)
    : options_(options),
      client_(client),
      metrics_(metrics),
      registry_({.client = client,
                 .cache = cache,
                 .metrics = metrics,
                 .tracer = options.tracer.get(),
                 .log = options.log,
                 .clock = options.clock}) {}

void ManagerWebhooks::Start(HealthChecks& readiness, std::function<bool()> is_leader) {
  registry_.Close();
  if (registry_.empty()) return;
  if (options_.webhook.port < 0) {
    options_.log.Info("Webhooks are not served", {{"webhook-port", options_.webhook.port}});
    return;
  }
  const WebhookServing serving{.options = options_.webhook,
                               .webhooks = registry_,
                               .metrics = metrics_,
                               .log = options_.log,
                               .clock = options_.clock};
  if (options_.webhook.install) {
    installer_ = std::make_unique<WebhookInstaller>(WebhookInstallerOptions{
        .configurations = NewConfigurations(registry_.kinds(), ManifestOptions()),
        .service = ServiceOf(options_),
        .is_leader = is_leader,
        .log = options_.log,
        .clock = options_.clock});
  }
  if (IssuesCertificates()) {
    ServeIssued(serving, std::move(is_leader));
  } else {
    ServeFiles(serving);
  }
  readiness.Add("webhook", [this] { return Problem(); });
}

void ManagerWebhooks::ServeFiles(const WebhookServing& serving) {
  files_ = WatchCertificate(FilesOf(options_.webhook), metrics_, options_.log, options_.clock);
  server_ = std::make_unique<WebhookServer>(serving, files_->initial());
  server_->SetCertificate(files_->initial());  // also reports when it expires
  if (IsServiceKnown()) {
    ca_bundles_ = std::make_unique<CaBundleCheck>(
        CaBundleCheckOptions{.service = ServiceOf(options_),
                             .configuration_kinds = ConfigurationKindsOf(registry_.kinds()),
                             .client = client_,
                             .installer = installer_.get(),
                             .log = options_.log,
                             .clock = options_.clock},
        files_->initial().certificate);
  }
  files_->Start([this](const HttpServerTls& next) {
    server_->SetCertificate(next);
    if (ca_bundles_) ca_bundles_->SetCertificate(next.certificate);
  });
}

/// Until the first certificate is issued, the server has one that no client accepts.
void ManagerWebhooks::ServeIssued(const WebhookServing& serving, std::function<bool()> is_leader) {
  if (!options_.webhook.client_ca_name.empty()) {
    throw ConfigError("--webhook-client-ca-name is a file in --webhook-cert-path: set that, too");
  }
  const ObjectKey service = ServiceOf(options_);
  const detail::ServerCertificate temporary = detail::SelfSignedCertificate();
  server_ = std::make_unique<WebhookServer>(
      serving, HttpServerTls{.certificate = temporary.chain, .key = temporary.key});
  issued_ = std::make_unique<IssuedCertificates>(IssuedCertificatesOptions{
      .issuer = {.service = service,
                 .configuration_kinds = ConfigurationKindsOf(registry_.kinds()),
                 .installs_configurations = options_.webhook.install,
                 .log = options_.log,
                 .clock = options_.clock},
      .client = client_,
      .is_leader = std::move(is_leader),
      .installer = installer_.get(),
      .apply = [this](const HttpServerTls& next) { server_->SetCertificate(next); }});
}

std::optional<std::string> ManagerWebhooks::Problem() const {
  std::string problem;
  if (issued_) problem = issued_->Problem();
  if (ca_bundles_) problem = ca_bundles_->Problem();
  return problem.empty() ? server_->Problem() : std::move(problem);
}

void ManagerWebhooks::OnElected() {
  if (installer_) installer_->Request();
  if (issued_) issued_->Check();
  if (ca_bundles_) ca_bundles_->Check();
}

void ManagerWebhooks::AnnounceShutdown() {
  if (server_) server_->AnnounceShutdown();
}

void ManagerWebhooks::Stop(Shutdown& shutdown) {
  if (!server_) return;
  bool is_over = false;  // from the second call on
  shutdown.Await([this, &is_over](TimePoint deadline) {
    if (std::exchange(is_over, true)) registry_.RequestStop();
    std::vector<std::string> running;
    if (!server_->Drain(deadline)) running.emplace_back("webhooks");
    return running;
  });
  shutdown.Await("webhooks", [this] {
    files_.reset();
    if (ca_bundles_) ca_bundles_->Stop();
    if (issued_) issued_->Stop();
    server_->Stop();
  });
}

bool ManagerWebhooks::IsServiceKnown() const {
  if (!options_.webhook.service.empty()) return true;
  if (!IssuesCertificates() && !options_.webhook.install) return false;
  try {
    static_cast<void>(ServiceOf(options_));
    return true;
  } catch (const ConfigError&) {
    return false;
  }
}

std::vector<std::string> ManagerWebhooks::Warnings() const {
  if (!AreServed() || !IssuesCertificates() || IsServiceKnown()) return {};
  return {
      "the rules for the certificates of the webhooks are not printed, because their namespace "
      "is not known: pass --webhook-service=NAMESPACE/NAME"};
}

std::vector<Permission> ManagerWebhooks::Permissions() const {
  if (!AreServed() || !IsServiceKnown()) return {};
  const ObjectKey service = ServiceOf(options_);
  std::vector<Permission> all;
  const bool installs = options_.webhook.install;
  for (const Kind* kind :
       installs ? AllConfigurationKinds() : ConfigurationKindsOf(registry_.kinds())) {
    std::vector<std::string> verbs{"get", "list", "watch"};
    if (IssuesCertificates()) verbs.emplace_back("patch");
    if (installs) verbs.insert(verbs.end(), {"delete", "update"});
    std::ranges::sort(verbs);
    all.push_back(PermissionFor(*kind, std::move(verbs)));
    all.back().names = {ConfigurationNameOf(service)};
    if (installs)
      all.push_back(PermissionFor(*kind, {"create"}));  // RBAC cannot restrict it to a name
  }
  if (installs) {
    all.push_back({.group = "discovery.k8s.io",
                   .resource = "endpointslices",
                   .verbs = {"list"},
                   .ns = service.ns});
  }
  if (!IssuesCertificates()) return all;
  const ObjectKey secret = CertificateSecretOf(service);
  all.push_back(PermissionFor(Secret::kKind, {"get", "list", "update", "watch"}));
  all.back().names = {secret.name};
  all.back().ns = secret.ns;
  all.push_back(PermissionFor(Secret::kKind, {"create"}));  // RBAC cannot restrict it to a name
  all.back().ns = secret.ns;
  return all;
}

/// Returns the chain that the webhooks would be served with, in PEM; "" if it is not issued yet.
/// Throws ConfigError if it cannot be used.
std::string ManagerWebhooks::StoredCertificate(const Client& client) const {
  if (IssuesCertificates()) {
    const auto secret = client.Get<Secret>(CertificateSecretOf(ServiceOf(options_)));
    return secret ? CertificatesIn(*secret).certificate : "";
  }
  const auto files =
      WatchCertificate(FilesOf(options_.webhook), metrics_, Logger(), options_.clock);
  WebhookServer::RequireUsable(files->initial(), options_.clock);
  return files->initial().certificate;
}

std::vector<std::string> ManagerWebhooks::FindProblems(const Client& client) const {
  if (!AreServed()) return {};
  std::vector<std::string> problems;
  std::string certificate;
  try {
    certificate = StoredCertificate(client);
  } catch (const ConfigError& error) {
    problems.emplace_back(error.what());
    if (IssuesCertificates()) return problems;
  }
  if (!IsServiceKnown()) return problems;
  const auto configurations =
      ReadConfigurations(client, ConfigurationKindsOf(registry_.kinds()), ServiceOf(options_));
  const bool is_issued = !IssuesCertificates() || !certificate.empty();
  for (const StoredConfiguration& configuration : configurations) {
    if (configuration.object.is_null() && options_.webhook.install) continue;
    std::ranges::move(configuration.MissingWebhooks(registry_.kinds()),
                      std::back_inserter(problems));
    if (!is_issued || configuration.webhooks.empty()) continue;
    std::string problem = configuration.WhyUncallable(certificate, options_.clock.WallNow());
    if (!problem.empty()) problems.push_back(std::move(problem));
  }
  return problems;
}

WebhookManifestOptions ManagerWebhooks::ManifestOptions() const {
  return {.service = ServiceOf(options_), .cert_manager = options_.webhook.cert_manager};
}

void ManagerWebhooks::Uninstall(const Client& client) const {
  UninstallWebhooks(client, ServiceOf(options_), options_.log);
}

int ManagerWebhooks::Print() const {
  try {
    if (registry_.kinds().empty()) throw ConfigError("the program has no webhook of a kind");
    std::cout << PrintWebhooks(registry_.kinds(), ManifestOptions());
    for (const std::string& warning : WebhookWarnings(registry_.kinds())) {
      std::cerr << "Warning: " << warning << '\n';
    }
    return 0;
  } catch (const ConfigError& error) {
    options_.log.Error("Cannot print the webhook configurations", {{"err", error.what()}});
    return 1;
  }
}

}  // namespace kopp
