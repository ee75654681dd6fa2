#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// client-go's JitterFactor: a try comes up to this fraction of the retry period later.
constexpr double kRetryJitter = 1.2;

/// The fields of a Lease that leader election uses. Go: LeaderElectionRecord in
/// k8s.io/client-go/tools/leaderelection/resourcelock.
struct LeaseRecord {
  std::string holder{};  ///< empty: not held
  std::int64_t duration_seconds = 0;
  std::string acquire_time{};  ///< MicroTime; only compared
  std::string renew_time{};    ///< MicroTime; only compared
  std::int64_t transitions = 0;

  bool operator==(const LeaseRecord&) const = default;
};

/// Reads the record of `lease`, a Lease as JSON. Fields that are missing or have another type stay
/// empty.
[[nodiscard]] LeaseRecord ReadLeaseRecord(const nlohmann::json& lease);
/// Sets the fields of `lease` to `record`; keeps its other fields.
void WriteLeaseRecord(const LeaseRecord& record, nlohmann::json& lease);

/// The rules of leader election without threads and requests: who holds the lease, whether it has
/// expired, and what to write. Not thread-safe.
///
/// Go: the part of LeaderElector.tryAcquireOrRenew that sends no request.
class LeaseState {
 public:
  LeaseState(std::string identity, Duration lease_duration);

  /// Stores a Lease that was read or written. A changed record is valid for its duration
  /// from `now`. The times in the record are those of another clock, so they are only compared.
  void Observe(const LeaseRecord& record, TimePoint now);

  /// Returns the holder in the last record; empty: not held.
  [[nodiscard]] const std::string& holder() const { return record_.holder; }
  [[nodiscard]] std::int64_t transitions() const { return record_.transitions; }
  [[nodiscard]] bool IsHolder() const { return record_.holder == identity_; }
  /// Returns whether this replica may write its claim: it is the holder, there is none, or the
  /// lease has expired.
  [[nodiscard]] bool MayAcquire(TimePoint now) const;

  /// Returns the record of a new Lease. `now` is a MicroTime.
  [[nodiscard]] LeaseRecord FirstRecord(const std::string& now) const;
  /// Returns the record with which this replica acquires or renews the lease.
  [[nodiscard]] LeaseRecord ClaimRecord(const std::string& now) const;
  /// Returns the record with which this replica releases the lease `record`.
  [[nodiscard]] static LeaseRecord ReleaseRecord(const LeaseRecord& record, const std::string& now);

 private:
  std::string identity_;
  std::int64_t duration_seconds_;
  LeaseRecord record_;
  TimePoint observed_ = TimePoint::min();  // when record_ was seen first
};

}  // namespace kopp::detail
