// The actions of the flags --check, --print-rbac, --install-crds and --uninstall-webhooks.
#include "cache/cache_impl.hpp"
#include "manager_impl.hpp"
#include "preflight.hpp"
#include "program_permissions.hpp"
#include "unwatched_reads.hpp"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <utility>
#include <vector>

#include <kopp/config.hpp>

namespace kopp {

std::vector<Permission> Manager::Impl::Permissions() const {
  std::vector<Permission> declared = declared_;
  std::ranges::move(webhooks_.Permissions(), std::back_inserter(declared));
  return ProgramPermissions(view_, std::move(declared));
}

int Manager::Impl::Check(const std::stop_token& stop) const {
  try {
    cluster_->RequireUsable();
    const PreflightInput input{
        .server = cluster_->description(),
        .kinds = Cache::Impl::Of(cache()).RequiredKinds(),
        .permissions = Permissions(),
        .namespaces = WatchedNamespaces(options_),
        .problem = UnwatchedReads(view_),
        .warnings = crds_.Warnings(),
        .find_problems = [this](const Client& client) { return webhooks_.FindProblems(client); },
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
    for (const std::string& warning : webhooks_.Warnings()) {
      std::cerr << "Warning: " << warning << '\n';
    }
    return 0;
  } catch (const ConfigError& error) {
    options_.log.Error("Cannot print the Roles", {{"err", error.what()}});
    return 1;
  }
}

int Manager::Impl::UninstallWebhooks(const std::stop_token& stop) const {
  try {
    cluster_->RequireUsable();
    webhooks_.Uninstall(client().With(stop));
    return 0;
  } catch (const std::exception& error) {
    options_.log.Error("Cannot delete the webhook configurations", {{"err", error.what()}});
    return 1;
  }
}

void Manager::Impl::InstallCrds(Duration timeout, const std::stop_token& stop) {
  cluster_->RequireUsable();
  kopp::InstallCrds(client().With(stop), crds_.Definitions(),
                    {.timeout = timeout, .clock = options_.clock});
}

}  // namespace kopp
