#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <kopp/client.hpp>
#include <kopp/leader_election.hpp>
#include <kopp/leader_election/write_fence.hpp>
#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/random_source.hpp>

namespace kopp {

class EventRecorder;

/// The options of a LeaderElector. The objects that it refers to must outlive the elector.
struct LeaderElectorOptions {
  LeaderElectionOptions election{};  ///< `id` is required; `enabled` and `on_lost` are not used
  EventRecorder* events = nullptr;   ///< null: no Events
  LeaderElectionMetrics* metrics = nullptr;  ///< null: no metrics
  /// Returns the time that the release may take, when the work has ended. Empty, or more than
  /// RequestTimeout: RequestTimeout.
  std::function<Duration()> release_timeout{};
  Logger log{};
  Clock& clock = Clock::Real();                              ///< the same as that of the fence
  workqueue::RandomSource random = workqueue::SystemRandom;  ///< for the jitter of the retries
};

/// The state of a leader election, as far as its LeaderElector knows it.
struct LeadershipStatus {
  std::string lease{};     ///< "ns/name"
  std::string identity{};  ///< of this replica
  std::string holder{};    ///< of the lease, when it was last read or written; empty: not held
  bool is_leader = false;
  std::int64_t transitions = 0;              ///< how often the holder has changed
  std::optional<Duration> renewed_before{};  ///< age of the last renewal; nullopt: not the holder
};

/// Makes sure that of several replicas at most one does its work: the one that holds a Lease of the
/// API server (coordination.k8s.io/v1).
///
///     WriteFence fence;
///     LeaderElector elector{Client{*transport}, fence, {.election = {.id = "web", .ns = "shop"}}};
///     const Client leader_client{*std::make_shared<FencedTransport>(transport, fence)};
///     elector.Run([&](std::stop_token stop) { Work(leader_client, stop); }, StopOnSignal());
///
/// The rules are those of client-go: the lease expires when its content has not changed for its
/// duration *as this replica sees it*, so the clocks of the machines need not agree. A leader
/// renews with one write. There are two differences: the leader gives up renew_deadline after it
/// *sent* the last successful renewal (client-go: up to retry_period later), and as soon as it sees
/// that another replica holds the lease (client-go: tries until renew_deadline).
///
/// Thread-safe, except that Run is called by one thread at a time.
class LeaderElector {
 public:
  /// Why Run has returned.
  enum class Outcome {
    kStopped,  ///< a stop was requested, or the work has ended by itself
    kLost,     ///< the lease was lost; Run may be called again to campaign again
  };

  /// `client` must not be fenced. Give it a transport without retries and rate limit: a renewal
  /// must not wait behind other calls. `fence` must outlive the elector. Starts no thread and sends
  /// nothing. Throws ConfigError as ValidateLeaderElection and LeaderElectionNamespace do.
  LeaderElector(const Client& client, WriteFence& fence, LeaderElectorOptions options);
  ~LeaderElector();
  LeaderElector(const LeaderElector&) = delete;
  LeaderElector& operator=(const LeaderElector&) = delete;

  /// Blocks until this replica is the leader, then calls `work` once in this thread, while another
  /// thread renews the lease. The token of `work` is stopped when `stop` is, and when the lease is
  /// lost; then the fence is closed, too. `work` must then return, after everything that it has
  /// started has ended. After a request of `stop` the lease is renewed until `work` returns, so
  /// that it can finish its writes.
  ///
  /// When `work` has returned, closes the fence and, with release_on_cancel, releases the lease,
  /// which takes at most the time of RequestTimeout(). Rethrows what `work` throws afterwards.
  /// Returns without a call of `work` if `stop` is requested first. Throws std::system_error if a
  /// thread cannot be started.
  Outcome Run(const std::function<void(std::stop_token)>& work, const std::stop_token& stop);

  /// Returns whether this replica certainly holds the lease: whether the fence is open.
  [[nodiscard]] bool IsLeader() const;
  /// Returns a token that is "stopped" when this replica becomes the leader for the first time; it
  /// stays so. Use a std::stop_callback to be notified. Go: Manager.Elected of controller-runtime.
  [[nodiscard]] std::stop_token Elected() const;
  [[nodiscard]] LeadershipStatus Status() const;

  /// A health check. Returns the problem if this replica acts as the leader, but has not renewed
  /// the lease for lease_duration + `tolerance`: its work has not ended, although the lease was
  /// lost. Go: leaderelection.HealthzAdaptor.
  [[nodiscard]] std::optional<std::string> CheckHealth(Duration tolerance) const;
  /// Returns a problem if the API server has refused access to the Lease (403 or 401) for 30 s or
  /// longer, so that this replica cannot be elected; nullopt otherwise. The problem names the verb
  /// and the resource, if the API server does. Thread-safe.
  [[nodiscard]] std::optional<std::string> CheckReadiness() const;

  /// Returns the timeout of one request for the Lease: two fifths of renew_deadline, so that one
  /// request without response does not cost the leadership, and at least a second.
  [[nodiscard]] Duration RequestTimeout() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kopp
