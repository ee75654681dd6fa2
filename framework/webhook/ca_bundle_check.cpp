#include "webhook/ca_bundle_check.hpp"

#include "webhook/stored_configuration.hpp"
#include "webhook/webhook_configurations.hpp"

#include <algorithm>
#include <utility>

namespace kopp {
namespace {

std::vector<WatchedObject> WatchedObjectsOf(const CaBundleCheckOptions& options) {
  std::vector<WatchedObject> objects;
  for (const Kind* kind : options.configuration_kinds) {
    objects.push_back({kind, {"", ConfigurationNameOf(options.service)}});
  }
  return objects;
}

}  // namespace

CaBundleCheck::CaBundleCheck(CaBundleCheckOptions options, const std::string& certificate)
    : options_(std::move(options)),
      certificate_(certificate),
      controller_({.reconcile = [this](const Client& client) { return Reconcile(client); },
                   .objects = WatchedObjectsOf(options_),
                   .client = options_.client,
                   .log = options_.log,
                   .clock = options_.clock}) {}

CertificateState CaBundleCheck::Reconcile(const Client& client) {
  const auto configurations =
      ReadConfigurations(client, options_.configuration_kinds, options_.service);
  const std::string certificate = *certificate_.Lock();
  const WallTime now = options_.clock.WallNow();
  CertificateState state{.next = now + kCertificateCheckInterval};
  for (const StoredConfiguration& configuration : configurations) {
    if (configuration.object.is_null() && options_.installer != nullptr) continue;
    state.AddProblem(configuration.WhyUncallable(certificate, now));
  }
  if (options_.installer != nullptr) {
    state.next = std::min(state.next, options_.installer->Install(client, /*ca_bundle=*/""));
  }
  return state;
}

void CaBundleCheck::SetCertificate(const std::string& certificate) {
  *certificate_.Lock() = certificate;
  controller_.Check();
}

}  // namespace kopp
