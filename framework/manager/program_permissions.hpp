#pragma once

#include "manager_view.hpp"

#include <string>
#include <vector>

#include <kopp/permission.hpp>

namespace kopp {

/// Returns the namespaces of the caches; empty: all.
[[nodiscard]] std::vector<std::string> WatchedNamespaces(const Options& options);

/// Returns what a program needs in the cluster of its options: what it has `declared`, and what the
/// framework does for it. Throws ConfigError if the namespace of the Lease is not known.
[[nodiscard]] std::vector<Permission> ProgramPermissions(const ManagerView& view,
                                                         std::vector<Permission> declared);

}  // namespace kopp
