#include "manager_webhooks.hpp"

#include "base/ascii.hpp"
#include "base/quoted.hpp"
#include "webhook/webhook_configurations.hpp"
#include "webhook_flags.hpp"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/config_error.hpp>
#include <kopp/dynamic_client.hpp>
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
  try {
    return {LeaderElectionNamespace({}), ObjectNameOf(options) + "-webhook-service"};
  } catch (const ConfigError&) {
    throw ConfigError(
        "the namespace of the webhooks is not known: pass --webhook-service=NAMESPACE/NAME");
  }
}

}  // namespace

ManagerWebhooks::ManagerWebhooks(const Options& options, const Client& client, const Cache& cache,
                                 Metrics& metrics)
    : options_(options),
      metrics_(metrics),
      registry_({.client = client,
                 .cache = cache,
                 .metrics = metrics,
                 .tracer = options.tracer.get(),
                 .log = options.log,
                 .clock = options.clock}) {}

void ManagerWebhooks::Start(HealthChecks& readiness) {
  registry_.Close();
  if (registry_.empty()) return;
  if (options_.webhook.port < 0) {
    options_.log.Info("Webhooks are not served", {{"webhook-port", options_.webhook.port}});
    return;
  }
  server_ = std::make_unique<WebhookServer>(WebhookServing{.options = options_.webhook,
                                                           .webhooks = registry_,
                                                           .metrics = metrics_,
                                                           .log = options_.log,
                                                           .clock = options_.clock});
  readiness.Add("webhook", [this] { return server_->Problem(); });
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
  shutdown.Await("webhooks", [this] { server_->Stop(); });
}

std::vector<Permission> ManagerWebhooks::Permissions() const {
  if (!AreServed() || options_.webhook.service.empty()) return {};
  const ObjectKey service = ServiceOf(options_);
  std::vector<Permission> all;
  for (const Kind* kind : ConfigurationKindsOf(registry_.kinds())) {
    all.push_back(PermissionFor(*kind, {"get"}));
    all.back().names = {ConfigurationNameOf(service)};
  }
  return all;
}

std::vector<std::string> ManagerWebhooks::FindProblems(const Client& client) const {
  if (!AreServed()) return {};
  std::vector<std::string> problems;
  try {
    WebhookServer::RequireCertificate(options_.webhook, metrics_, options_.clock);
  } catch (const ConfigError& error) {
    problems.emplace_back(error.what());
  }
  if (options_.webhook.service.empty()) return problems;
  const ObjectKey service = ServiceOf(options_);
  for (const Kind* kind : ConfigurationKindsOf(registry_.kinds())) {
    const auto stored = client.Dynamic(*kind).Get({"", ConfigurationNameOf(service)});
    if (stored) {
      std::ranges::move(FindDifferences(registry_.kinds(), stored->Json()),
                        std::back_inserter(problems));
    } else {
      problems.push_back("there is no " + std::string(kind->kind) + " \"" +
                         ConfigurationNameOf(service) + "\": apply the output of --print-webhooks");
    }
  }
  return problems;
}

int ManagerWebhooks::Print() const {
  try {
    if (registry_.kinds().empty()) throw ConfigError("the program has no webhook of a kind");
    std::cout << PrintWebhooks(registry_.kinds(), {.program = ObjectNameOf(options_),
                                                   .service = ServiceOf(options_),
                                                   .cert_manager = options_.webhook.cert_manager});
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
