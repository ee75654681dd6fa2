#pragma once

#include "lease_state.hpp"

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include <kopp/events.hpp>
#include <kopp/leader_election/leader_elector.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::detail {

/// Tells people and programs about a leader election: log, Events, metrics, status and health.
///
/// One thread at a time calls the functions On…; any thread may call the others.
class LeadershipReporter {
 public:
  /// `options` must outlive the object.
  LeadershipReporter(const LeaderElectorOptions& options, Clock& clock);

  void OnCampaign() const;
  /// A record of the Lease was read or written.
  void OnRecord(const LeaseRecord& record);
  /// The request that acquired the lease was sent at `sent`.
  void OnAcquired(TimePoint sent, const ObjectReference& lease);
  void OnRenewed(TimePoint sent);
  /// A leader has to read the Lease before it renews it.
  void OnSlowPath() const;
  /// A write was rejected because the Lease was changed meanwhile, which is expected.
  void OnLostRace(const std::exception& error) const;
  void OnFailure(const std::exception& error) const;
  /// Only the first call after OnAcquired has an effect.
  void OnStoppedLeading(std::string_view reason, const ObjectReference& lease);
  void OnReleased() const;
  void OnReleaseFailure(const std::exception& error) const;
  /// The work of the leader has ended.
  void OnWorkEnded();

  /// LeadershipStatus::is_leader is false.
  [[nodiscard]] LeadershipStatus Status() const;
  [[nodiscard]] std::optional<std::string> CheckHealth(Duration tolerance) const;

 private:
  struct State {
    std::string holder;  // in the last record of the Lease
    std::int64_t transitions = 0;
    bool acts_as_leader = false;  // from the acquisition until the work has ended
    TimePoint renewed;            // when the last successful acquisition or renewal was sent
  };

  void SetLeading(bool leading, std::string_view event, const ObjectReference& lease);
  [[nodiscard]] ObjectKey Lease() const { return {options_.election.ns, options_.election.id}; }

  const LeaderElectorOptions& options_;
  Clock& clock_;
  bool leading_ = false;
  mutable detail::Guarded<State> state_;
};

}  // namespace kopp::detail
