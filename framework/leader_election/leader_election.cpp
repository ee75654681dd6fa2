#include "base/environment.hpp"
#include "base/uuid.hpp"
#include "config/config_input.hpp"
#include "lease_state.hpp"

#include <array>
#include <cstdio>
#include <filesystem>

#include <unistd.h>

#include <kopp/informer/detail/names.hpp>
#include <kopp/leader_election.hpp>

namespace kopp {
namespace {

std::string SecondsText(Duration duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%gs", std::chrono::duration<double>(duration).count());
  return text.data();
}

std::string HostName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string WithoutSpaces(std::string text) {
  std::erase_if(text, [](char c) { return c <= ' '; });
  return text;
}

}  // namespace

void ValidateLeaderElection(const LeaderElectionOptions& options) {
  if (options.id.empty()) {
    throw ConfigError("leader election needs the name of a Lease: set --leader-election-id");
  }
  if (const auto error = ValidateDnsSubdomain(options.id)) {
    throw ConfigError("--leader-election-id is \"" + options.id +
                      "\", which is not a name for a Lease: " + *error);
  }
  if (options.retry_period <= Duration::zero()) {
    throw ConfigError("--leader-election-retry-period is " + SecondsText(options.retry_period) +
                      ": it must be longer than zero");
  }
  if (std::chrono::duration<double>(options.renew_deadline) <=
      detail::kRetryJitter * std::chrono::duration<double>(options.retry_period)) {
    throw ConfigError("--leader-election-renew-deadline is " + SecondsText(options.renew_deadline) +
                      ": it must be longer than 1.2 times --leader-election-retry-period, which "
                      "is " +
                      SecondsText(options.retry_period));
  }
  if (options.lease_duration <= options.renew_deadline) {
    throw ConfigError("--leader-election-lease-duration is " + SecondsText(options.lease_duration) +
                      ": it must be longer than --leader-election-renew-deadline, which is " +
                      SecondsText(options.renew_deadline));
  }
  if (options.lease_duration < std::chrono::seconds(1)) {
    throw ConfigError("--leader-election-lease-duration is " + SecondsText(options.lease_duration) +
                      ": it must be at least 1s");
  }
}

std::string LeaderElectionNamespace(const LeaderElectionOptions& options,
                                    const ConfigSources& sources) {
  if (!options.ns.empty()) return options.ns;
  const auto file = (std::filesystem::path(sources.service_account) / "namespace").string();
  if (const auto text = detail::ReadFileIfExists(file, "leader election")) {
    if (std::string ns = WithoutSpaces(*text); !ns.empty()) return ns;
  }
  const auto variable = sources.getenv ? sources.getenv("POD_NAMESPACE")
                                       : detail::EnvironmentVariable("POD_NAMESPACE");
  if (variable && !variable->empty()) return *variable;
  throw ConfigError(
      "the namespace of the Lease for leader election is not known outside of a Pod: set "
      "--leader-election-namespace");
}

std::string LeaderElectionIdentity(const LeaderElectionOptions& options) {
  return options.identity.empty() ? HostName() + '_' + detail::RandomUuid() : options.identity;
}

}  // namespace kopp
