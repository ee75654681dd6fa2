#include "webhook/certificate_controller.hpp"

#include <chrono>
#include <memory>
#include <utility>

#include <kopp/config_error.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer_set.hpp>
#include <kopp/workqueue/rate_limiter.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

CacheOptions CacheOptionsOf(const std::vector<WatchedObject>& objects) {
  CacheOptions options{.sync_timeout = Duration::zero(), .own_writes_timeout = Duration::zero()};
  for (const WatchedObject& object : objects) {
    ObjectCacheOptions<PartialObjectMetadata> only{
        .selector = {.fields = "metadata.name=" + object.key.name}};
    if (!object.key.ns.empty()) only.namespaces[object.key.ns] = {};
    options.ByObject(*object.kind, std::move(only));
  }
  return options;
}

}  // namespace

CertificateController::CertificateController(CertificateControllerOptions options)
    : options_(std::move(options)),
      problem_(options_.initial_problem),
      queue_({.clock = options_.clock},
             std::make_unique<workqueue::ItemExponentialFailureRateLimiter<ObjectKey>>(
                 100ms, 30s, options_.clock)),
      cache_(options_.client.transport(), CacheOptionsOf(options_.objects), options_.log,
             options_.clock) {
  for (const WatchedObject& object : options_.objects) {
    cache_.InformerFor(*object.kind, ObjectForm::kMetadataOnly)
        .AddHandler({.on_add = [this](const auto&, bool) { Check(); },
                     .on_update = [this](const auto&, const auto&) { Check(); },
                     .on_delete = [this](const auto&, bool) { Check(); }});
  }
  cache_.Start();
  Check();
  thread_ = std::jthread([this] { Run(); });
  // A change between the first reconcile and the first lists is no event.
  after_sync_ = std::jthread([this] {
    if (cache_.WaitForSync(stop_.get_token())) Check();
  });
}

void CertificateController::Stop() {
  stop_.request_stop();
  queue_.ShutDown();
  cache_.Stop();
  if (thread_.joinable()) thread_.join();
  if (after_sync_.joinable()) after_sync_.join();
}

void CertificateController::Run() {
  while (const auto item = queue_.Get()) {
    const workqueue::DoneGuard done{queue_, *item};
    try {
      Reconcile();
      queue_.Forget(only_key_);
    } catch (const std::exception& error) {
      Report(error);
      queue_.AddRateLimited(only_key_);
    }
  }
}

void CertificateController::Reconcile() {
  const CertificateState state = options_.reconcile(options_.client.With(stop_.get_token()));
  SetProblem(state.problem);
  has_succeeded_ = true;
  ReportOnce(state.error);
  queue_.AddAfter(only_key_, state.next - options_.clock.WallNow());
}

void CertificateController::SetProblem(const std::string& problem) {
  const bool has_changed = std::exchange(*problem_.Lock(), problem) != problem;
  if (!has_changed && has_succeeded_) return;
  if (problem.empty()) {
    options_.log.Info("API servers can call the webhooks");
  } else {
    options_.log.Info("API servers cannot call the webhooks", {{"reason", problem}});
  }
}

/// Other replicas do the same steps: a conflict is no failure.
void CertificateController::Report(const std::exception& error) {
  const auto* const api_error = dynamic_cast<const ApiError*>(&error);
  if (stop_.stop_requested() ||
      (api_error != nullptr && (api_error->IsConflict() || api_error->IsAlreadyExists()))) {
    return;
  }
  // A certificate that is in use stays valid while the API server cannot be reached.
  const bool is_permanent = dynamic_cast<const ConfigError*>(&error) != nullptr;
  const bool is_first = !has_succeeded_ && !options_.initial_problem.empty();
  if (is_permanent || is_first) SetProblem(error.what());
  ReportOnce(error.what());
}

void CertificateController::ReportOnce(const std::string& error) {
  if (std::exchange(last_error_, error) == error || error.empty()) return;
  options_.log.Error("Cannot keep the certificates of the webhooks up to date", {{"err", error}});
}

}  // namespace kopp
