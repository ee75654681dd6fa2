// Serves the page of each Website with nginx, and keeps a record in DNS for it.
#include "reconciler.hpp"

#include <utility>

namespace website {
namespace {

using kopp::ConfigMap;
using kopp::Deployment;
using kopp::Service;
using v1::Website;

constexpr const char* kFinalizer = "example.com/dns-record";
constexpr const char* kByPage = "page";

std::map<std::string, std::string> LabelsOf(const Website& site) {
  return {{"website", site.metadata.name}};
}

ConfigMap DesiredConfig(const Website& site) {
  return ConfigMap{.metadata = kopp::OwnedBy(site, site.metadata.name + "-nginx"),
                   .data = {{"site.conf", "server { listen 8080; server_name " + site.spec.host +
                                              "; root /page; }\n"}}};
}

// The annotation replaces the Pods when the page changes.
Deployment DesiredDeployment(const Website& site, const ConfigMap& page) {
  using kopp::k8s::core::v1::Container;
  using kopp::k8s::core::v1::Volume;
  const Container nginx{.image = "nginx:1.27",
                        .name = "nginx",
                        .volumeMounts = {{.mountPath = "/page", .name = "page"},
                                         {.mountPath = "/etc/nginx/conf.d", .name = "config"}}};
  const Volume content{.configMap = {{.name = site.spec.page}}, .name = "page"};
  const Volume config{.configMap = {{.name = site.metadata.name + "-nginx"}}, .name = "config"};
  const std::map<std::string, std::string> versions{
      {"example.com/page-version", page.metadata.resourceVersion}};
  return Deployment{
      .metadata = kopp::OwnedBy(site, site.metadata.name),
      .spec = {.replicas = site.spec.replicas.value_or(1),
               .selector = {.matchLabels = LabelsOf(site)},
               .template_ = {.metadata = {.labels = LabelsOf(site), .annotations = versions},
                             .spec = {.containers = {nginx}, .volumes = {content, config}}}}};
}

Service DesiredService(const Website& site) {
  const kopp::k8s::core::v1::ServicePort http{.port = 80, .targetPort = 8080};
  return Service{.metadata = kopp::OwnedBy(site, site.metadata.name),
                 .spec = {.ports = {http}, .selector = LabelsOf(site)}};
}

kopp::Result SetReady(const Website& site, kopp::Context& ctx, bool ready,
                      const std::string& reason, const std::string& message) {
  Status status{.conditions = kopp::SelectConditions(site.status.conditions, {"Ready"})};
  kopp::SetCondition(status.conditions,
                     {.type = "Ready",
                      .status = ready ? "True" : "False",
                      .observedGeneration = site.metadata.generation.value_or(0),
                      .reason = reason,
                      .message = message},
                     ctx.clock);
  kopp::ApplyStatusIfChanged(ctx.client, site, status);
  return {};
}

kopp::Result Reconcile(const Website& site, kopp::Context& ctx, Dns& dns) {
  const auto page = ctx.cache.Get<ConfigMap>({site.metadata.ns, site.spec.page});
  if (!page) {  // the watch of ConfigMaps reconciles the Website when the page is created
    return SetReady(site, ctx, false, "PageMissing",
                    "there is no ConfigMap \"" + site.spec.page + "\"");
  }
  dns.Set(site.metadata.uid, site.spec.host);
  ctx.client.Apply(DesiredConfig(site));
  ctx.client.Apply(DesiredService(site));
  const Deployment live = ctx.client.Apply(DesiredDeployment(site, *page));
  const int available = live.status.availableReplicas.value_or(0);
  if (available == 0) return SetReady(site, ctx, false, "Starting", "no Pod is available yet");
  return SetReady(site, ctx, true, "Serving", std::to_string(available) + " Pods are available");
}

}  // namespace

void AddController(kopp::Manager& manager, Dns& dns) {
  kopp::Cache& cache = manager.cache();
  cache.AddIndex<Website>(kByPage, [](const Website& site) {
    return std::vector{site.metadata.ns + '/' + site.spec.page};
  });
  manager.AddController<Website>()
      .Where(kopp::GenerationChanged())  // not for writes of the status
      .Owns<ConfigMap>()
      .Cached()
      .Owns<Deployment>()
      .Owns<Service>()
      .Watches<ConfigMap>([&cache](const ConfigMap& page) {
        std::vector<kopp::ObjectKey> keys;
        const std::string name = page.metadata.ns + '/' + page.metadata.name;
        for (const auto& site : cache.ByIndex<Website>(kByPage, name)) {
          keys.push_back({site->metadata.ns, site->metadata.name});
        }
        return keys;
      })
      .Reconcile(kopp::WithFinalizer<Website>(
          kFinalizer,
          [&dns](const Website& site, kopp::Context& ctx) { return Reconcile(site, ctx, dns); },
          [&dns](const Website& site, kopp::Context& /*ctx*/) { dns.Remove(site.metadata.uid); }));
  manager.AddCrd<v1beta1::Website>();
  for (const kopp::Kind& kind : {ConfigMap::kKind, Deployment::kKind, Service::kKind}) {
    manager.Declare(kopp::PermissionFor(kind, {"create", "patch"}));
  }
  manager.Declare(kopp::PermissionFor(Website::kKind, {"get", "patch"}));  // the finalizer
  manager.Declare(kopp::PermissionFor(Website::kKind, {"patch"}, "status"));
}

void Dns::Set(const std::string& owner, const std::string& host) {
  const std::lock_guard guard{mutex_};
  records_[owner] = host;
}

void Dns::Remove(const std::string& owner) {
  const std::lock_guard guard{mutex_};
  records_.erase(owner);
}

std::map<std::string, std::string> Dns::Records() const {
  const std::lock_guard guard{mutex_};
  return records_;
}

}  // namespace website
