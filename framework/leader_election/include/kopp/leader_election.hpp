#pragma once

#include <chrono>
#include <map>
#include <string>

#include <kopp/config.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// Options of leader election: of several replicas of a program, only the leader reconciles. The
/// leader holds a Lease of the API server, and renews it. The times are those of client-go.
struct LeaderElectionOptions {
  /// What a leader does that could not renew its lease in time.
  enum class OnLost {
    kExit,      ///< stops its workers and ends the process with code 1, as controller-runtime does
    kCampaign,  ///< stops its workers and waits until it is the leader again
  };

  bool enabled = false;  ///< --leader-elect
  std::string id{};      ///< --leader-election-id: the name of the Lease; empty: Options::name
  /// --leader-election-namespace: the namespace of the Lease; empty: that of the Pod.
  std::string ns{};
  /// The name of this replica; empty: the host name and a random UUID. Two replicas with the same
  /// identity would both be leaders.
  std::string identity{};
  /// --leader-election-lease-duration: other replicas wait for this time after the last renewal
  /// that they have seen. At least 1 s, and longer than renew_deadline. The Lease has whole
  /// seconds, so a fraction is rounded up.
  Duration lease_duration = std::chrono::seconds(15);
  /// --leader-election-renew-deadline: the leader gives up if it could not renew for this time.
  /// Longer than 1.2 times retry_period.
  Duration renew_deadline = std::chrono::seconds(10);
  /// --leader-election-retry-period: the time between two tries to acquire or renew the lease.
  Duration retry_period = std::chrono::seconds(2);
  /// --leader-election-release-on-cancel: the leader gives up the lease after its workers have
  /// ended, so that another replica need not wait until it expires.
  bool release_on_cancel = true;
  OnLost on_lost = OnLost::kExit;
  std::map<std::string, std::string> labels{};  ///< added to the Lease
};

/// Throws ConfigError if the id is empty or the durations do not fit together; the message names
/// the flags.
void ValidateLeaderElection(const LeaderElectionOptions& options);

/// Returns options.ns or, if it is empty, the namespace of the Pod: from its service account, else
/// from $POD_NAMESPACE. Throws ConfigError if there is none. Uses only the environment and the
/// service account of `sources`. Blocks while it reads a file.
[[nodiscard]] std::string LeaderElectionNamespace(const LeaderElectionOptions& options,
                                                  const ConfigSources& sources = {});

/// Returns options.identity or, if it is empty, "HOST_UUID" with a new random UUID.
[[nodiscard]] std::string LeaderElectionIdentity(const LeaderElectionOptions& options);

/// The interface through which a LeaderElector reports metrics. `name` is the name of the Lease.
/// Implementations must be thread-safe. Go: leaderelection.MetricsProvider.
class LeaderElectionMetrics {
 public:
  virtual ~LeaderElectionMetrics() = default;
  LeaderElectionMetrics(const LeaderElectionMetrics&) = delete;
  LeaderElectionMetrics& operator=(const LeaderElectionMetrics&) = delete;

  /// Called with false when the elector is created, and whenever the leadership changes.
  virtual void SetMasterStatus(const std::string& name, bool is_leader) = 0;
  /// Called when a leader renews with a read and a write because a write alone has failed.
  virtual void AddSlowPath(const std::string& name) = 0;

 protected:
  LeaderElectionMetrics() = default;
};

}  // namespace kopp
