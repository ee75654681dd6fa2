#include "webhook/issued_certificates.hpp"

#include "webhook/webhook_configurations.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include <kopp/config_error.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer_set.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

/// Returns the options of a cache for one object of each kind.
CacheOptions CacheOptionsOf(const CertificateIssuerOptions& issuer) {
  const auto only = [](const ObjectKey& key) {
    ObjectCacheOptions<PartialObjectMetadata> options{
        .selector = {.fields = "metadata.name=" + key.name}};
    if (!key.ns.empty()) options.namespaces[key.ns] = {};
    return options;
  };
  CacheOptions options{.own_writes_timeout = Duration::zero()};
  options.ByObject(Secret::kKind, only(CertificateSecretOf(issuer.service)));
  for (const Kind* kind : issuer.configuration_kinds) {
    options.ByObject(*kind, only({"", ConfigurationNameOf(issuer.service)}));
  }
  return options;
}

}  // namespace

IssuedCertificates::IssuedCertificates(IssuedCertificatesOptions options)
    : options_(std::move(options)),
      secret_(CertificateSecretOf(options_.issuer.service)),
      issuer_(options_.issuer),
      queue_({.clock = options_.issuer.clock},
             std::make_unique<workqueue::ItemExponentialFailureRateLimiter<ObjectKey>>(
                 100ms, 30s, options_.issuer.clock)),
      cache_(options_.client.transport(), CacheOptionsOf(options_.issuer), options_.issuer.log,
             options_.issuer.clock) {
  Watch(Secret::kKind);
  for (const Kind* kind : options_.issuer.configuration_kinds) Watch(*kind);
  cache_.Start();
  Check();
  thread_ = std::jthread([this] { Run(); });
}

void IssuedCertificates::Stop() {
  stop_.request_stop();
  queue_.ShutDown();
  cache_.Stop();
  if (thread_.joinable()) thread_.join();
}

void IssuedCertificates::Watch(const Kind& kind) {
  cache_.InformerFor(kind, ObjectForm::kMetadataOnly)
      .AddHandler({.on_add = [this](const auto&, bool) { Check(); },
                   .on_update = [this](const auto&, const auto&) { Check(); },
                   .on_delete = [this](const auto&, bool) { Check(); }});
}

void IssuedCertificates::Run() {
  while (const auto item = queue_.Get()) {
    const workqueue::DoneGuard done{queue_, *item};
    try {
      Reconcile();
      queue_.Forget(secret_);
    } catch (const std::exception& error) {
      Report(error);
      queue_.AddRateLimited(secret_);
    }
  }
}

void IssuedCertificates::Reconcile() {
  const CertificateIssuer::State state =
      issuer_.Reconcile(options_.client.With(stop_.get_token()), options_.is_leader());
  if (state.certificates && *state.certificates != applied_) {
    options_.apply(
        {.certificate = state.certificates->certificate, .key = state.certificates->key});
    applied_ = *state.certificates;
    options_.issuer.log.Info("Updated current TLS certificate",
                             {{"secret", secret_.ns + '/' + secret_.name}});
  }
  *problem_.Lock() = state.problem;
  ReportOnce(state.error);
  queue_.AddAfter(secret_, state.next - options_.issuer.clock.WallNow());
}

/// Other replicas do the same steps: a conflict is no failure.
void IssuedCertificates::Report(const std::exception& error) {
  const auto* const api_error = dynamic_cast<const ApiError*>(&error);
  if (stop_.stop_requested() ||
      (api_error != nullptr && (api_error->IsConflict() || api_error->IsAlreadyExists()))) {
    return;
  }
  // A certificate that is in use stays valid while the API server cannot be reached.
  const bool is_permanent = dynamic_cast<const ConfigError*>(&error) != nullptr;
  if (is_permanent || applied_ == WebhookCertificates{}) *problem_.Lock() = error.what();
  ReportOnce(error.what());
}

void IssuedCertificates::ReportOnce(const std::string& error) {
  if (std::exchange(last_error_, error) == error || error.empty()) return;
  options_.issuer.log.Error("Cannot keep the certificates of the webhooks up to date",
                            {{"err", error}});
}

}  // namespace kopp
