#include "manager/preflight.hpp"

#include <algorithm>
#include <iostream>
#include <utility>

#include <kopp/config.hpp>
#include <kopp/leader_election.hpp>
#include <kopp/manager.hpp>

namespace kopp {
namespace {

constexpr Kind kEvents{"v1", "Event", "events"};
constexpr Kind kLeases{"coordination.k8s.io/v1", "Lease", "leases"};
constexpr Kind kTokenReviews{"authentication.k8s.io/v1", "TokenReview", "tokenreviews",
                             Scope::kCluster};
constexpr Kind kAccessReviews{"authorization.k8s.io/v1", "SubjectAccessReview",
                              "subjectaccessreviews", Scope::kCluster};

std::vector<std::string> WatchedNamespaces(const Options& options) {
  CacheOptions cache = options.cache;
  RestrictNamespaces(cache, options.watch_namespace);
  std::vector<std::string> namespaces;
  for (const auto& [ns, selector] : cache.namespaces) namespaces.push_back(ns);
  return namespaces;
}

}  // namespace

std::vector<Permission> Manager::Permissions() const {
  std::vector<Permission> all = declared_;
  for (const KindRef& kind : cache().Kinds()) all.push_back(PermissionFor(kind, {"list", "watch"}));
  if (!controllers_.empty()) all.push_back(PermissionFor(kEvents, {"create", "patch"}));
  if (options_.leader_election.enabled) {
    const LeaderElectionOptions& election = options_.leader_election;
    const std::string ns = LeaderElectionNamespace(election);
    Permission events = PermissionFor(kEvents, {"create", "patch"});
    events.ns = ns;
    all.push_back(std::move(events));
    // RBAC cannot restrict `create` to a name.
    Permission create = PermissionFor(kLeases, {"create"});
    create.ns = ns;
    Permission renew = PermissionFor(kLeases, {"get", "update"});
    renew.ns = ns;
    renew.names = {election.id.empty() ? options_.name : election.id};
    all.push_back(std::move(create));
    all.push_back(std::move(renew));
  }
  if (options_.metrics_bind_address != "0" && options_.metrics_secure) {
    all.push_back(PermissionFor(kTokenReviews, {"create"}));
    all.push_back(PermissionFor(kAccessReviews, {"create"}));
  }
  return Merge(all);
}

int Manager::Check(const std::stop_token& stop) const {
  try {
    cluster_->RequireUsable();
    const PreflightInput input{.server = cluster_->description(),
                               .kinds = cache().RequiredKinds(),
                               .permissions = Permissions(),
                               .namespaces = WatchedNamespaces(options_),
                               .clock = options_.clock};
    return Preflight(input, *cluster_->transport(), std::cout, stop) == 0 ? 0 : 1;
  } catch (const ConfigError& error) {
    std::cout << "FAILED  " << error.what() << "\n1 problem was found.\n";
    return 1;
  }
}

int Manager::PrintRoles() const {
  try {
    std::cout << PrintRbac(Permissions(),
                           {.name = options_.name, .namespaces = WatchedNamespaces(options_)});
    return 0;
  } catch (const ConfigError& error) {
    options_.log.Error("Cannot print the Roles", {{"err", error.what()}});
    return 1;
  }
}

}  // namespace kopp
