#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kopp/client.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/permission.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The requirements of a program that Preflight checks.
struct PreflightInput {
  std::string server = {};                   ///< Cluster::description
  std::vector<OwningKind> kinds = {};        ///< that the program watches
  std::vector<Permission> permissions = {};  ///< that it needs
  std::vector<std::string> namespaces = {};  ///< that it watches; empty: all
  std::optional<std::string> problem = {};   ///< that is known already
  std::vector<std::string> warnings = {};    ///< to print; they are not problems
  /// Returns further problems, which it reads from the API server; may be empty.
  std::function<std::vector<std::string>(const Client& client)> find_problems = {};
  Clock& clock = Clock::Real();
};

/// Checks whether a program could work with the API server, and prints a line for each result: the
/// warnings, the configuration, the version of the server, the difference of the clocks, each kind,
/// each verb of each permission (by SelfSubjectAccessReview). Changes nothing. Blocks until all
/// responses have arrived. Returns the number of problems; a server that cannot be reached is one.
int Preflight(const PreflightInput& input, Transport& transport, std::ostream& out,
              const std::stop_token& stop);

}  // namespace kopp
