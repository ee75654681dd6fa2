#include "cache/cache_impl.hpp"
#include "manager_impl.hpp"
#include "preflight.hpp"

#include <algorithm>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <kopp/config.hpp>
#include <kopp/leader_election.hpp>

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

}  // namespace

std::vector<Permission> Manager::Impl::Permissions() const {
  std::vector<Permission> all = declared_;
  for (const KindRef& kind : cache().Kinds()) all.push_back(PermissionFor(kind, {"list", "watch"}));
  const Permission events = PermissionForEvents(options_);
  if (!Controllers().empty()) all.push_back(events);
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
    cluster_->RequireUsable();
    const PreflightInput input{.server = cluster_->description(),
                               .kinds = Cache::Impl::Of(cache()).RequiredKinds(),
                               .permissions = Permissions(),
                               .namespaces = WatchedNamespaces(options_),
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
    for (const CustomResourceDefinition& definition : Crds()) {
      text += (text.empty() ? "" : "---\n") + definition.ToYaml();
    }
    if (text.empty()) throw std::logic_error("no kind of the program has KOPP_CRD");
    std::cout << text;
    return 0;
  } catch (const std::logic_error& error) {
    options_.log.Error("Cannot print the CustomResourceDefinitions", {{"err", error.what()}});
    return 1;
  }
}

}  // namespace kopp
