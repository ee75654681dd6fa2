#include "leadership_reporter.hpp"

#include <chrono>

namespace kopp::detail {
namespace {

constexpr const char* kLeaderElectionReason = "LeaderElection";  // of Events
// A Role that is created a moment after the Pod is no problem.
constexpr Duration kRefusalTolerance = std::chrono::seconds(30);

}  // namespace

LeadershipReporter::LeadershipReporter(const LeaderElectorOptions& options, Clock& clock)
    : options_(options), clock_(clock) {
  if (options_.metrics) options_.metrics->SetMasterStatus(options_.election.id, false);
}

void LeadershipReporter::OnCampaign() const {
  options_.log.Info("Attempting to acquire leader lease...", {{"lock", Lease()}});
}

void LeadershipReporter::OnRecord(const LeaseRecord& record) {
  {
    auto state = state_.Lock();
    state->transitions = record.transitions;
    if (state->holder == record.holder) return;
    state->holder = record.holder;
  }
  if (record.holder.empty()) return;
  options_.log.Info("New leader", {{"lock", Lease()}, {"identity", record.holder}});
}

void LeadershipReporter::OnAcquired(TimePoint sent, const ObjectReference& lease) {
  {
    auto state = state_.Lock();
    state->acts_as_leader = true;
    state->renewed = sent;
  }
  options_.log.Info("Successfully acquired lease", {{"lock", Lease()}});
  SetLeading(true, "became leader", lease);
}

void LeadershipReporter::OnRenewed(TimePoint sent) {
  state_.Lock()->renewed = sent;
  options_.log.V(5).Info("Successfully renewed lease", {{"lock", Lease()}});
}

void LeadershipReporter::OnSlowPath() const {
  if (options_.metrics) options_.metrics->AddSlowPath(options_.election.id);
}

void LeadershipReporter::OnLostRace(const std::exception& error) const {
  options_.log.V(4).Info("Another client has written the lease",
                         {{"lock", Lease()}, {"err", error.what()}});
}

void LeadershipReporter::OnFailure(const std::exception& error) const {
  options_.log.Error("Failed to acquire or renew lease",
                     {{"lock", Lease()}, {"err", error.what()}});
}

void LeadershipReporter::OnRefusal(const ApiError& error, const ObjectReference& lease) {
  {
    const TimePoint now = clock_.Now();
    auto state = state_.Lock();
    if (!state->refusal) state->refusal = Refusal{.since = now, .error = {}};
    state->refusal->error = error.what();
    if (state->refusal->reported || now - state->refusal->since < kRefusalTolerance) return;
    state->refusal->reported = true;
  }
  if (options_.events == nullptr) return;
  options_.events->Warning(lease, "LeaseForbidden",
                           options_.election.identity + " cannot be elected: " + error.what());
}

void LeadershipReporter::OnStoppedLeading(std::string_view reason, const ObjectReference& lease) {
  if (!leading_) return;
  options_.log.Info("Stopped leading", {{"lock", Lease()}, {"reason", reason}});
  SetLeading(false, "stopped leading", lease);
}

void LeadershipReporter::OnReleased() const {
  options_.log.Info("Released lease", {{"lock", Lease()}});
}

void LeadershipReporter::OnReleaseFailure(const std::exception& error) const {
  options_.log.Error("Failed to release lease; other replicas wait until it expires",
                     {{"lock", Lease()}, {"err", error.what()}});
}

void LeadershipReporter::OnWorkEnded() { state_.Lock()->acts_as_leader = false; }

void LeadershipReporter::SetLeading(bool leading, std::string_view event,
                                    const ObjectReference& lease) {
  leading_ = leading;
  if (options_.metrics) options_.metrics->SetMasterStatus(options_.election.id, leading);
  if (options_.events == nullptr) return;
  std::string message = options_.election.identity;
  message.append(" ").append(event);
  options_.events->Normal(lease, kLeaderElectionReason, message);
}

LeadershipStatus LeadershipReporter::Status() const {
  LeadershipStatus status{.lease = options_.election.ns + '/' + options_.election.id,
                          .identity = options_.election.identity};
  const TimePoint now = clock_.Now();
  auto state = state_.Lock();
  status.holder = state->holder;
  status.transitions = state->transitions;
  if (state->acts_as_leader) status.renewed_before = now - state->renewed;
  return status;
}

std::optional<std::string> LeadershipReporter::CheckHealth(Duration tolerance) const {
  const LeadershipStatus status = Status();
  const auto age = status.renewed_before;
  if (!age || *age <= options_.election.lease_duration + tolerance) return std::nullopt;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*age);
  return "the lease " + status.lease + " was last renewed " + std::to_string(seconds.count()) +
         " s ago, and the work of the leader has not ended";
}

std::optional<std::string> LeadershipReporter::CheckReadiness() const {
  auto state = state_.Lock();
  if (!state->refusal) return std::nullopt;
  const Duration age = clock_.Now() - state->refusal->since;
  if (age < kRefusalTolerance) return std::nullopt;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age);
  return "this replica cannot be elected: it has had no access to the lease " +
         options_.election.ns + '/' + options_.election.id + " for " +
         std::to_string(seconds.count()) + " s: " + state->refusal->error;
}

}  // namespace kopp::detail
