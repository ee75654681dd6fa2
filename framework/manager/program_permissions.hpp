#pragma once

#include "manager_view.hpp"

#include <string>
#include <vector>

#include <kopp/permission.hpp>

namespace kopp {

/// Returns the namespaces of the caches; empty: all.
[[nodiscard]] std::vector<std::string> WatchedNamespaces(const Options& options);

/// Returns the permissions of a program in the cluster of its options: `declared`, and those that
/// the framework needs. Throws ConfigError if the namespace of the Lease is not known.
[[nodiscard]] std::vector<Permission> ProgramPermissions(const ManagerView& view,
                                                         std::vector<Permission> declared);

}  // namespace kopp
