#include "program_permissions.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace

std::vector<std::string> WatchedNamespaces(const Options& options) {
  CacheOptions cache = options.cache;
  RestrictNamespaces(cache, options.watch_namespace);
  std::vector<std::string> namespaces;
  for (const auto& [ns, selector] : cache.namespaces) namespaces.push_back(ns);
  return namespaces;
}

std::vector<Permission> ProgramPermissions(const ManagerView& view,
                                           std::vector<Permission> declared) {
  std::vector<Permission> all = std::move(declared);
  const Options& options = view.options;
  for (const OwningKind& kind : view.clusters().front()->cache().Kinds())
    all.push_back(PermissionFor(kind, {"list", "watch"}));
  const auto controllers = view.controllers();
  for (const Controller::Impl* controller : controllers) {
    const std::vector<OwningKind>& owned = controller->owned_kinds();
    if (!owned.empty()) all.push_back(PermissionToOwn(controller->kind()));
    // The client reads an object that the cache does not know before it writes it for an owner.
    for (const OwningKind& kind : owned) all.push_back(PermissionFor(kind, {"get"}));
  }
  const Permission events = PermissionForEvents(options);
  if (!controllers.empty()) all.push_back(events);
  if (options.leader_election.enabled) {
    const LeaderElectionOptions& election = options.leader_election;
    const std::string id = election.id.empty() ? options.name : election.id;
    const auto rules = PermissionsOfElection(election, id, events, WatchedNamespaces(options));
    all.insert(all.end(), rules.begin(), rules.end());
  }
  if (options.metrics.bind_address != "0" && options.metrics.secure) {
    all.push_back(PermissionFor(kTokenReviews, {"create"}));
    all.push_back(PermissionFor(kAccessReviews, {"create"}));
  }
  if (options.install_crds) {
    all.push_back(PermissionFor(kCrds, {"create", "patch", "list", "watch"}));
  }
  return Merge(all);
}

}  // namespace kopp
