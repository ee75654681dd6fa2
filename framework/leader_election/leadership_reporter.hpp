#pragma once

#include "lease_state.hpp"

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include <kopp/events.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/leader_election/leader_elector.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::detail {

/// Reports a leader election: in the log, in Events, in metrics, in the status and in health
/// checks.
///
/// One thread at a time calls the functions On…; any thread may call the others.
class LeadershipReporter {
 public:
  /// `options` must outlive the object.
  LeadershipReporter(const LeaderElectorOptions& options, Clock& clock);

  /// Logs that the program waits for the Lease.
  void OnCampaign() const;
  /// Stores the holder of a record that was read or written, and logs a new one.
  void OnRecord(const LeaseRecord& record);
  /// Reports that this replica leads. The request that acquired the Lease was sent at `sent`.
  void OnAcquired(TimePoint sent, const ObjectReference& lease);
  void OnRenewed(TimePoint sent);
  /// Counts a renewal that had to read the Lease first.
  void OnSlowPath() const;
  /// Logs a write that was rejected because the Lease had changed, which is expected.
  void OnLostRace(const std::exception& error) const;
  /// Stores an error of the API server that refuses access to the Lease, for CheckReadiness, and
  /// emits an Event when it has done so for kRefusalTolerance.
  void OnRefusal(const ApiError& error, const ObjectReference& lease);
  /// Reports that the Lease could be read, and written if that was due.
  void OnAccess() { state_.Lock()->refusal.reset(); }
  void OnFailure(const std::exception& error) const;
  /// Reports that this replica no longer leads. Only the first call after OnAcquired has an effect.
  void OnStoppedLeading(std::string_view reason, const ObjectReference& lease);
  void OnReleased() const;
  void OnReleaseFailure(const std::exception& error) const;
  /// Stores that the work of the leader has ended, for CheckHealth.
  void OnWorkEnded();

  /// Returns the status of the election, except for LeadershipStatus::is_leader, which the caller
  /// sets.
  [[nodiscard]] LeadershipStatus Status() const;
  [[nodiscard]] std::optional<std::string> CheckHealth(Duration tolerance) const;
  [[nodiscard]] std::optional<std::string> CheckReadiness() const;

 private:
  struct Refusal {
    TimePoint since;  // no access to the Lease has succeeded since then
    std::string error;
    bool reported = false;  // in an Event
  };
  struct State {
    std::string holder;  // in the last record of the Lease
    std::int64_t transitions = 0;
    bool acts_as_leader = false;  // from the acquisition until the work has ended
    TimePoint renewed;            // when the last successful acquisition or renewal was sent
    std::optional<Refusal> refusal;
  };

  void SetLeading(bool leading, std::string_view event, const ObjectReference& lease);
  [[nodiscard]] ObjectKey Lease() const { return {options_.election.ns, options_.election.id}; }

  const LeaderElectorOptions& options_;
  Clock& clock_;
  bool leading_ = false;
  mutable detail::Guarded<State> state_;
};

}  // namespace kopp::detail
