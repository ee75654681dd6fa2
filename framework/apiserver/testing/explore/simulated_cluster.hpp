#pragma once

#include "environment/manifests.hpp"
#include "handlers/api_handler.hpp"
#include "http/in_memory_transport.hpp"
#include "http/server_lifecycle.hpp"
#include "kube_catalog.hpp"
#include "storage/server_context.hpp"

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/transport.hpp>

namespace kopp::apiserver::explore {

/// The API server of one run: its clock and objects, without faults, audit log and connections. Its
/// whole history is kept, so that each old version can be listed.
class SimulatedCluster {
 public:
  /// Calls webhooks by `call_webhook`, in the thread of the write.
  SimulatedCluster(std::uint64_t seed, std::string user_agent,
                   testing::WebhookCaller call_webhook = {})
      : context_(clock_, seed, {.clock = clock_, .history = std::chrono::hours(24 * 365 * 100)}, {},
                 {.catalog = KubeCatalog()}, std::move(call_webhook)),
        api_(context_),
        lifecycle_(clock_),
        transport_(context_, api_, lifecycle_,
                   {"system:admin", {"system:masters", "system:authenticated"}},
                   std::move(user_agent)) {}

  [[nodiscard]] testing::FakeClock& clock() { return clock_; }
  [[nodiscard]] ServerContext& context() { return context_; }
  [[nodiscard]] ResourceVersion version() const { return context_.store().version(); }
  [[nodiscard]] Transport& transport() { return transport_; }

  /// Creates a CustomResourceDefinition from JSON. Throws std::runtime_error if that fails.
  void CreateCrd(const std::string& definition) {
    const ApiResponse response =
        transport_.Call({.method = "POST",
                         .target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                         .body = definition},
                        {});
    if (response.status != 201) {
      throw std::runtime_error("cannot install a CustomResourceDefinition of the operator: " +
                               response.body);
    }
  }
  /// Creates or updates the objects by server-side apply. Throws std::runtime_error if that fails.
  void Install(const Manifests& manifests) {
    ApplyManifests(transport_, manifests.base);
    ApplyManifests(transport_, manifests.custom_resources);
  }

 private:
  testing::FakeClock clock_;
  mutable ServerContext context_;
  ApiHandler api_;
  ServerLifecycle lifecycle_;
  InMemoryTransport transport_;
};

}  // namespace kopp::apiserver::explore
