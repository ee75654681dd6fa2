#include "cache/cache_impl.hpp"
#include "manager_impl.hpp"
#include "objects/lost_fields.hpp"
#include "preflight.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <kopp/config.hpp>
#include <kopp/leader_election.hpp>
#include <kopp/log.hpp>
#include <kopp/serving/liveness.hpp>

namespace kopp {
namespace {

constexpr Kind kCoreEvents{"v1", "Event", "events"};
constexpr Kind kNewEvents{"events.k8s.io/v1", "Event", "events"};
constexpr Kind kLeases{"coordination.k8s.io/v1", "Lease", "leases"};
constexpr Kind kTokenReviews{"authentication.k8s.io/v1", "TokenReview", "tokenreviews",
                             Scope::kCluster};
constexpr Kind kAccessReviews{"authorization.k8s.io/v1", "SubjectAccessReview",
                              "subjectaccessreviews", Scope::kCluster};
constexpr Kind kCrds{"apiextensions.k8s.io/v1", "CustomResourceDefinition",
                     "customresourcedefinitions", Scope::kCluster};

std::vector<std::string> WatchedNamespaces(const Options& options) {
  CacheOptions cache = options.cache;
  RestrictNamespaces(cache, options.watch_namespace);
  std::vector<std::string> namespaces;
  for (const auto& [ns, selector] : cache.namespaces) namespaces.push_back(ns);
  return namespaces;
}

/// Returns what the admission plugin OwnerReferencesPermissionEnforcement requires for an owner
/// reference to an object of `kind` with blockOwnerDeletion, as OwnedBy sets it.
Permission PermissionToOwn(const Kind& kind) {
  return PermissionFor(kind, {"update"}, "finalizers");
}

Permission PermissionForEvents(const Options& options) {
  const bool core = options.events.api == EventApi::kCore;
  return PermissionFor(core ? kCoreEvents : kNewEvents, {"create", "patch"});
}

/// Returns what leader election with the Lease `id` needs, besides the Events in `namespaces`,
/// which the program watches; empty: all. `events` are Events in any namespace. Throws ConfigError
/// if the namespace of the Lease is not known.
std::vector<Permission> PermissionsOfElection(const LeaderElectionOptions& election,
                                              const std::string& id, const Permission& events,
                                              const std::vector<std::string>& namespaces) {
  const std::string ns = LeaderElectionNamespace(election);
  Permission create = PermissionFor(kLeases, {"create"});  // RBAC cannot restrict it to a name
  Permission renew = PermissionFor(kLeases, {"get", "update"});
  renew.names = {id};
  create.ns = renew.ns = ns;
  std::vector<Permission> all{create, renew};
  if (!ns.empty() && !namespaces.empty() && std::ranges::count(namespaces, ns) == 0) {
    all.push_back(events);
    all.back().ns = ns;
  }
  return all;
}

std::vector<std::string> DescribeLostFields(
    const std::vector<CustomResourceDefinition>& definitions) {
  std::vector<std::string> all;
  for (const CustomResourceDefinition& definition : definitions) {
    for (std::string& text : kopp::DescribeLostFields(definition)) all.push_back(std::move(text));
  }
  return all;
}

/// Returns the warnings of --check about the definitions that `make` returns. A definition that is
/// not valid is one: the program may run with the definitions that the API server has.
std::vector<std::string> CrdWarnings(
    const std::function<std::vector<CustomResourceDefinition>()>& make) {
  try {
    return DescribeLostFields(make());
  } catch (const std::logic_error& error) {
    return {error.what()};
  }
}

// A leader that does not stop its work after the lease was lost. client-go's health check has the
// same tolerance.
constexpr Duration kLeaseTolerance = std::chrono::seconds(20);

}  // namespace

std::vector<Permission> Manager::Impl::Permissions() const {
  std::vector<Permission> all = declared_;
  for (const OwningKind& kind : cache().Kinds())
    all.push_back(PermissionFor(kind, {"list", "watch"}));
  const auto controllers = Controllers();
  for (const Controller::Impl* controller : controllers) {
    const std::vector<OwningKind>& owned = controller->owned_kinds();
    if (!owned.empty()) all.push_back(PermissionToOwn(controller->kind()));
    // The client reads an object that the cache does not know before it writes it for an owner.
    for (const OwningKind& kind : owned) all.push_back(PermissionFor(kind, {"get"}));
  }
  const Permission events = PermissionForEvents(options_);
  if (!controllers.empty()) all.push_back(events);
  if (options_.leader_election.enabled) {
    const LeaderElectionOptions& election = options_.leader_election;
    const std::string id = election.id.empty() ? options_.name : election.id;
    const auto rules = PermissionsOfElection(election, id, events, WatchedNamespaces(options_));
    all.insert(all.end(), rules.begin(), rules.end());
  }
  if (options_.metrics.bind_address != "0" && options_.metrics.secure) {
    all.push_back(PermissionFor(kTokenReviews, {"create"}));
    all.push_back(PermissionFor(kAccessReviews, {"create"}));
  }
  if (options_.install_crds) {
    all.push_back(PermissionFor(kCrds, {"create", "patch", "list", "watch"}));
  }
  return Merge(all);
}

int Manager::Impl::Check(const std::stop_token& stop) const {
  try {
    RejectUnwatchedReads();
    cluster_->RequireUsable();
    const PreflightInput input{.server = cluster_->description(),
                               .kinds = Cache::Impl::Of(cache()).RequiredKinds(),
                               .permissions = Permissions(),
                               .namespaces = WatchedNamespaces(options_),
                               .warnings = CrdWarnings([this] { return Crds(); }),
                               .clock = options_.clock};
    return Preflight(input, *cluster_->transport(), std::cout, stop) == 0 ? 0 : 1;
  } catch (const ConfigError& error) {
    std::cout << "FAILED  " << error.what() << "\n1 problem was found.\n";
    return 1;
  }
}

int Manager::Impl::PrintRoles() const {
  try {
    std::cout << PrintRbac(Permissions(),
                           {.name = options_.name, .namespaces = WatchedNamespaces(options_)});
    return 0;
  } catch (const ConfigError& error) {
    options_.log.Error("Cannot print the Roles", {{"err", error.what()}});
    return 1;
  }
}

void Manager::Impl::AddCrdSource(detail::CrdSource source) {
  const std::lock_guard guard{mutex_};
  crds_.push_back(std::move(source));
}

std::vector<CustomResourceDefinition> Manager::Impl::Crds() const {
  std::vector<detail::CrdSource> sources;
  {
    const std::lock_guard guard{mutex_};
    sources = crds_;
  }
  return CustomResourceDefinition::Make(sources);
}

void Manager::Impl::InstallCrds(Duration timeout, const std::stop_token& stop) {
  cluster_->RequireUsable();
  kopp::InstallCrds(client().With(stop), Crds(), {.timeout = timeout, .clock = options_.clock});
}

int Manager::Impl::PrintCrds() const {
  try {
    std::string text;
    const std::vector<CustomResourceDefinition> definitions = Crds();
    for (const CustomResourceDefinition& definition : definitions) {
      text += (text.empty() ? "" : "---\n") + definition.ToYaml();
    }
    if (text.empty()) throw std::logic_error("no kind of the program has KOPP_CRD");
    std::cout << text;
    for (const std::string& warning : DescribeLostFields(definitions)) {
      std::cerr << "Warning: " << warning << '\n';
    }
    return 0;
  } catch (const std::logic_error& error) {
    options_.log.Error("Cannot print the CustomResourceDefinitions", {{"err", error.what()}});
    return 1;
  }
}

void Manager::Impl::AddHealthzCheck(std::string name, HealthCheck check) {
  endpoints_->liveness().Add(std::move(name), std::move(check));
}

void Manager::Impl::AddReadyzCheck(std::string name, HealthCheck check) {
  endpoints_->readiness().Add(std::move(name), std::move(check));
}

void Manager::Impl::AddMetricsServerExtraHandler(const std::string& path,
                                                 const HttpServer::Route& route) {
  if (run_called_) throw std::logic_error("AddMetricsServerExtraHandler was called after Run");
  endpoints_->AddMetricsRoute(path, route);
}

void Manager::Impl::AddBuiltInChecks() {
  AddReadyzCheck("caches", [this]() -> std::optional<std::string> {
    for (const Cluster::Impl* cluster : Clusters()) {
      const auto unsynced = cluster->cache().NotSynced();
      if (unsynced.empty()) continue;
      const std::string where =
          cluster->name().empty() ? "" : "cluster \"" + cluster->name() + "\": ";
      return where + "not synced: " + ToString(unsynced);
    }
    return std::nullopt;
  });
  if (elector_) {
    AddReadyzCheck("leader-election", [this] { return elector_->CheckReadiness(); });
  }
  AddLivenessChecks();
  AddReadyzCheck("shutdown", [stop = stop_.get_token()]() -> std::optional<std::string> {
    if (stop.stop_requested()) return "the program shuts down";
    return std::nullopt;
  });
}

/// For programs that hang although their process runs.
void Manager::Impl::AddLivenessChecks() {
  if (elector_) {
    AddHealthzCheck("leader-election", [this] { return elector_->CheckHealth(kLeaseTolerance); });
  }
  const Duration limit = options_.health.liveness_limit;
  if (limit <= Duration::zero()) return;
  for (const auto& controller : controllers_) AddLivenessChecks(*controller);
  const auto informers = [this] {
    std::vector<informer::InformerStatus> all;
    for (const Cluster::Impl* cluster : Clusters()) {
      for (auto& status : cluster->cache().Statuses()) all.push_back(std::move(status));
    }
    return all;
  };
  AddHealthzCheck("informers", SilentInformerCheck(informers, limit));
  AddHealthzCheck("log", BlockedLogCheck([] { return GetLogStatus().blocked_for; }, limit));
}

void Manager::Impl::AddLivenessChecks(Controller::Impl& controller) {
  const Duration limit = options_.health.liveness_limit;
  if (limit <= Duration::zero()) return;
  const auto longest = [this, &controller] {
    const auto entries = static_cast<std::size_t>(controller.workers());
    return LongestRunning(controller.queue().TakeSnapshot(entries), options_.clock.Now());
  };
  AddHealthzCheck("workers-" + controller.name(),
                  StuckWorkerCheck(controller.name(), longest, limit));
  const auto progress = [this, &controller] {
    const auto snapshot = controller.queue().TakeSnapshot(0);
    const bool works = !elected_.stop_requested() ? false : !elector_ || elector_->IsLeader();
    return QueueProgress{.unfinished = works ? snapshot.ready_count + snapshot.processing_count : 0,
                         .completed = controller.CompletedReconciles()};
  };
  AddHealthzCheck("queue-" + controller.name(),
                  StalledQueueCheck(controller.name(), progress, limit, options_.clock));
}

}  // namespace kopp
