// A realistic operator in one source file, to measure its compile time: it has its own kind with
// conditions, writes four kinds, watches Secrets and has a finalizer. compile.sh compiles it.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kopp/framework.hpp>
#include <kopp/k8s/networking/v1/ingress.hpp>

namespace {

namespace core = kopp::k8s::core::v1;
namespace networking = kopp::k8s::networking::v1;
using namespace std::chrono_literals;

constexpr const char* kFinalizer = "example.com/website";
constexpr const char* kSecretIndex = "secret";

struct Website {
  static constexpr kopp::Kind kKind{"example.com/v1", "Website", "websites"};
  struct Spec {
    std::string image = {};
    std::string host = {};
    std::optional<std::int32_t> replicas = {};
    std::optional<std::string> secretName = {};
    std::map<std::string, std::string> config = {};
  };
  struct Status {
    std::int32_t readyReplicas = 0;
    std::vector<kopp::Condition> conditions = {};
  };
  kopp::ObjectMeta metadata = {};
  Spec spec = {};
  Status status = {};
};
KOPP_FIELDS(Website::Spec, KOPP_FIELD(image, MinLength(1)), KOPP_FIELD(host, MinLength(1)),
            KOPP_FIELD(replicas, Minimum(0)), secretName, config)
KOPP_FIELDS(Website::Status, readyReplicas, conditions)
KOPP_FIELDS(Website, metadata, spec, status)
KOPP_CRD(Website, StatusSubresource())

std::map<std::string, std::string> LabelsOf(const Website& site) {
  return {{"app.kubernetes.io/name", "website"},
          {"app.kubernetes.io/instance", site.metadata.name}};
}

kopp::ConfigMap DesiredConfigMap(const Website& site) {
  return {.metadata = kopp::OwnedBy(site, site.metadata.name), .data = site.spec.config};
}

kopp::Deployment DesiredDeployment(const Website& site) {
  core::Container container{.envFrom = {{.configMapRef = {{.name = site.metadata.name}}}},
                            .image = site.spec.image,
                            .name = "web",
                            .ports = {{.containerPort = 8080, .name = "http"}},
                            .resources = {.requests = {{"cpu", "100m"}, {"memory", "64Mi"}}}};
  if (site.spec.secretName) {
    container.envFrom.push_back({.secretRef = {{.name = *site.spec.secretName}}});
  }
  return {.metadata = kopp::OwnedBy(site, site.metadata.name),
          .spec = {.replicas = site.spec.replicas.value_or(1),
                   .selector = {.matchLabels = LabelsOf(site)},
                   .template_ = {.metadata = {.labels = LabelsOf(site)},
                                 .spec = {.containers = {std::move(container)}}}}};
}

kopp::Service DesiredService(const Website& site) {
  return {.metadata = kopp::OwnedBy(site, site.metadata.name),
          .spec = {.ports = {{.name = "http", .port = 80, .targetPort = "http"}},
                   .selector = LabelsOf(site)}};
}

networking::Ingress DesiredIngress(const Website& site) {
  networking::HTTPIngressPath path{
      .backend = {.service = {{.name = site.metadata.name, .port = {.name = "http"}}}},
      .path = "/",
      .pathType = "Prefix"};
  return {.metadata = kopp::OwnedBy(site, site.metadata.name),
          .spec = {.rules = {{.host = site.spec.host, .http = {{.paths = {std::move(path)}}}}}}};
}

void WriteStatus(const Website& site, const std::string& status, const std::string& reason,
                 std::int32_t ready, kopp::Context& ctx) {
  Website::Status next{.readyReplicas = ready,
                       .conditions = kopp::SelectConditions(site.status.conditions, {"Ready"})};
  kopp::SetCondition(next.conditions, {.type = "Ready",
                                       .status = status,
                                       .observedGeneration = site.metadata.generation.value_or(0),
                                       .reason = reason});
  kopp::ApplyStatusIfChanged(ctx.client, site, next);
}

kopp::Result Reconcile(const Website& site, kopp::Context& ctx) {
  if (site.spec.secretName &&
      !ctx.cache.Get<kopp::Secret>({site.metadata.ns, *site.spec.secretName})) {
    ctx.events.Warning(site, "SecretMissing", "waiting for Secret " + *site.spec.secretName);
    WriteStatus(site, "False", "SecretMissing", 0, ctx);
    return {.requeue_after = 1min};
  }
  ctx.client.Apply(DesiredConfigMap(site));
  ctx.client.Apply(DesiredService(site));
  ctx.client.Apply(DesiredIngress(site));
  const auto live = ctx.client.Apply(DesiredDeployment(site));
  const std::int32_t ready = live.status.readyReplicas.value_or(0);
  const bool complete = ready >= site.spec.replicas.value_or(1);
  WriteStatus(site, complete ? "True" : "False", complete ? "Available" : "Progressing", ready,
              ctx);
  ctx.log.Info("Reconciled", {{"ready", ready}, {"host", site.spec.host}});
  return {};
}

void CleanUp(const Website& site, kopp::Context& ctx) {
  ctx.log.Info("Removed the DNS record", {{"host", site.spec.host}});
}

std::vector<kopp::ObjectKey> SitesOf(const kopp::Cache& cache, const kopp::Secret& secret) {
  std::vector<kopp::ObjectKey> keys;
  for (const auto& site : cache.ByIndex<Website>(kSecretIndex, secret.metadata.name)) {
    if (site->metadata.ns == secret.metadata.ns) keys.push_back(kopp::KeyOf(*site));
  }
  return keys;
}

}  // namespace

int main(int argc, char** argv) {
  const auto stop = kopp::StopOnSignal();
  kopp::Manager manager{kopp::Options::FromCommandLine(argc, argv, "Runs websites.")};
  manager.cache().AddIndex<Website>(kSecretIndex, [](const Website& site) {
    return site.spec.secretName ? std::vector{*site.spec.secretName} : std::vector<std::string>{};
  });
  manager.AddController<Website>({.name = "website", .workers = 2})
      .Where(kopp::GenerationChanged())
      .Owns<kopp::Deployment>()
      .Owns<kopp::Service>()
      .Owns<kopp::ConfigMap>()
      .Owns<networking::Ingress>()
      .Watches<kopp::Secret>([&cache = std::as_const(manager).cache()](const kopp::Secret& secret) {
        return SitesOf(cache, secret);
      })
      .Reconcile(kopp::WithFinalizer<Website>(kFinalizer, Reconcile, CleanUp));
  return manager.Run(stop);
}
