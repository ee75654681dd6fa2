#include "webhook/webhook_installer.hpp"

#include "webhook/stored_configuration.hpp"
#include "webhook/webhook_configurations.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include <kopp/dynamic_client.hpp>
#include <kopp/informer/fields.hpp>

namespace kopp {

/// A view of an EndpointSlice. It has no ports if its Pods do not have the port of the Service, for
/// example because they are of a version without webhooks.
struct ReadyEndpoints {
  static constexpr Kind kKind{"discovery.k8s.io/v1", "EndpointSlice", "endpointslices"};
  struct Conditions {
    std::optional<bool> ready = {};
  };
  struct Endpoint {
    Conditions conditions = {};
  };
  struct Port {
    std::optional<std::int32_t> port = {};
  };
  ObjectMeta metadata = {};
  std::vector<Endpoint> endpoints = {};
  std::vector<Port> ports = {};
};
KOPP_FIELDS(ReadyEndpoints::Conditions, ready)
KOPP_FIELDS(ReadyEndpoints::Endpoint, conditions)
KOPP_FIELDS(ReadyEndpoints::Port, port)
KOPP_FIELDS(ReadyEndpoints, metadata, endpoints, ports)

namespace {

using namespace std::chrono_literals;
using nlohmann::json;

/// The time after which API servers and nodes use a new endpoint of a Service.
constexpr Duration kEndpointDelay = 5s;
constexpr Duration kPollInterval = 1s;

/// Returns the labels and annotations of `stored`, changed to those of `desired`. The annotation of
/// cert-manager is removed if `desired` lacks it, because it would replace the CA.
json MergedMetadata(json stored, const json& desired) {
  if (stored.contains("annotations")) {
    std::erase_if(stored["annotations"].get_ref<json::object_t&>(), [](const auto& annotation) {
      return std::string_view(annotation.first).starts_with(kInjectCa);
    });
  }
  stored.merge_patch(desired);
  return stored;
}

std::string CaBundleOf(const StoredConfiguration& configuration, const json& name) {
  for (const json& webhook : configuration.object.value("webhooks", json::array())) {
    if (webhook["name"] == name) return webhook["clientConfig"].value("caBundle", "");
  }
  return {};
}

/// Updates instead of applies: an apply would leave an entry with only the caBundle in the place of
/// a webhook that is removed, because that field has another owner.
void Write(const Client& client, const StoredConfiguration& stored, json desired,
           const std::string& ca_bundle) {
  for (json& webhook : desired["webhooks"]) {
    const std::string ca = ca_bundle.empty() ? CaBundleOf(stored, webhook["name"]) : ca_bundle;
    if (!ca.empty()) webhook["clientConfig"]["caBundle"] = ca;
  }
  const auto configurations = client.Dynamic(*stored.kind);
  if (stored.object.is_null()) {
    configurations.Create(desired);
  } else {
    desired["metadata"] = MergedMetadata(stored.object["metadata"], desired["metadata"]);
    configurations.Update(desired);
  }
}

}  // namespace

WallTime WebhookInstaller::Install(const Client& client, const std::string& ca_bundle) {
  if (!is_due_ || !options_.is_leader()) return WallTime::max();
  const auto all = ReadConfigurations(client, AllConfigurationKinds(), options_.service);
  const auto desired = [&](const StoredConfiguration& stored) {
    return std::ranges::find_if(options_.configurations, [&](const json& each) {
      return each.at("kind") == stored.kind->kind;
    });
  };
  const bool is_first = std::ranges::any_of(all, [&](const StoredConfiguration& stored) {
    return stored.object.is_null() && desired(stored) != options_.configurations.end();
  });
  if (is_first) {
    const Duration wait = TimeUntilCallable(client);
    if (wait > Duration::zero()) return options_.clock.WallNow() + wait;
  }
  for (const StoredConfiguration& stored : all) {
    if (const auto found = desired(stored); found != options_.configurations.end()) {
      Write(client, stored, *found, ca_bundle);
    } else if (!stored.object.is_null()) {
      client.Dynamic(*stored.kind).Delete({"", stored.name});
    }
  }
  is_due_ = false;
  options_.log.Info("Installed the webhook configurations",
                    {{"name", ConfigurationNameOf(options_.service)}});
  return WallTime::max();
}

/// Returns how long to wait until the API server can call the Service.
Duration WebhookInstaller::TimeUntilCallable(const Client& client) {
  const auto slices = client.List<ReadyEndpoints>(
      {.ns = options_.service.ns, .labels = "kubernetes.io/service-name=" + options_.service.name});
  const bool is_ready = std::ranges::any_of(slices, [](const ReadyEndpoints& slice) {
    return !slice.ports.empty() &&
           std::ranges::any_of(slice.endpoints, [](const ReadyEndpoints::Endpoint& endpoint) {
             return endpoint.conditions.ready.value_or(true);
           });
  });
  const TimePoint now = options_.clock.Now();
  if (!is_ready) {
    ready_since_.reset();
    if (!std::exchange(is_waiting_, true)) {
      options_.log.Info(
          "Waiting for a ready endpoint of the Service before the webhooks are installed",
          {{"service", options_.service.ns + '/' + options_.service.name}});
    }
    return kPollInterval;
  }
  if (!ready_since_) ready_since_ = now;
  return *ready_since_ + kEndpointDelay - now;
}

void UninstallWebhooks(const Client& client, const ObjectKey& service, const Logger& log) {
  for (const Kind* kind : AllConfigurationKinds()) {
    const std::string name = ConfigurationNameOf(service);
    if (client.Dynamic(*kind).Delete({"", name})) {
      log.Info("Deleted a webhook configuration", {{"kind", kind->kind}, {"name", name}});
    }
  }
}

}  // namespace kopp
