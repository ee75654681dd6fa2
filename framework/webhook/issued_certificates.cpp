#include "webhook/issued_certificates.hpp"

#include "base/base64.hpp"
#include "webhook/webhook_configurations.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

std::vector<WatchedObject> WatchedObjectsOf(const CertificateIssuerOptions& issuer) {
  std::vector<WatchedObject> objects{{&Secret::kKind, CertificateSecretOf(issuer.service)}};
  for (const Kind* kind : issuer.configuration_kinds) {
    objects.push_back({kind, {"", ConfigurationNameOf(issuer.service)}});
  }
  return objects;
}

}  // namespace

IssuedCertificates::IssuedCertificates(IssuedCertificatesOptions options)
    : options_(std::move(options)),
      issuer_(options_.issuer),
      controller_({.reconcile = [this](const Client& client) { return Reconcile(client); },
                   .objects = WatchedObjectsOf(options_.issuer),
                   .initial_problem = "the certificates have not been read yet",
                   .client = options_.client,
                   .log = options_.issuer.log,
                   .clock = options_.issuer.clock}) {}

CertificateState IssuedCertificates::Reconcile(const Client& client) {
  CertificateIssuer::State state = issuer_.Reconcile(client, options_.is_leader());
  if (state.certificates && *state.certificates != applied_) {
    options_.apply(
        {.certificate = state.certificates->certificate, .key = state.certificates->key});
    applied_ = *state.certificates;
    const ObjectKey secret = CertificateSecretOf(options_.issuer.service);
    options_.issuer.log.Info("Updated current TLS certificate",
                             {{"secret", secret.ns + '/' + secret.name}});
  }
  if (state.certificates && options_.installer != nullptr) {
    const std::string ca_bundle = detail::EncodeBase64(state.certificates->authorities);
    state.next = std::min(state.next, options_.installer->Install(client, ca_bundle));
  }
  return state;
}

}  // namespace kopp
