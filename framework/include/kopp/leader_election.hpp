#pragma once

#include <chrono>
#include <map>
#include <string>

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
  std::string identity{};  ///< of this replica; empty: the host name and a random UUID
  /// --leader-election-lease-duration: other replicas wait for this time after the last renewal
  /// that they have seen. At least 1 s, and longer than renew_deadline.
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
  std::map<std::string, std::string> labels{};  ///< of a Lease that is created
};

}  // namespace kopp
