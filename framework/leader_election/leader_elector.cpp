#include "base/timestamp.hpp"
#include "leadership_reporter.hpp"
#include "lease_lock.hpp"
#include "lease_state.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include <kopp/informer/api_error.hpp>
#include <kopp/leader_election/boot_time_clock.hpp>
#include <kopp/leader_election/leader_elector.hpp>

namespace kopp {
namespace {

using detail::LeaseCallLimits;

Duration TimeoutOfLeaseRequests(const LeaderElectionOptions& options) {
  return std::max<Duration>(std::chrono::seconds(1), options.renew_deadline * 2 / 5);
}

LeaderElectorOptions WithDefaults(LeaderElectorOptions options) {
  ValidateLeaderElection(options.election);
  options.election.ns = LeaderElectionNamespace(options.election);
  options.election.identity = LeaderElectionIdentity(options.election);
  return options;
}

}  // namespace

/// One thread at a time acquires, renews and releases the lease. Other threads use only the
/// reporter and the fence.
class LeaderElector::Impl {
 public:
  Impl(const Client& client, WriteFence& fence, LeaderElectorOptions options)
      : options_(WithDefaults(std::move(options))),
        clock_(CountingSuspends(options_.clock)),
        fence_(fence),
        reporter_(options_, clock_),
        state_(options_.election.identity, options_.election.lease_duration),
        lock_(client, {options_.election.ns, options_.election.id}, options_.election.labels,
              TimeoutOfLeaseRequests(options_.election), clock_) {}

  Outcome Run(const std::function<void(std::stop_token)>& work, const std::stop_token& stop) {
    const auto lost = Acquire(stop);
    if (!lost) return Outcome::kStopped;
    const std::exception_ptr failure = Lead(work, *lost, stop);
    reporter_.OnWorkEnded();
    const bool is_lost = lost->stop_requested() || !fence_.IsOpen();
    fence_.Close();
    reporter_.OnStoppedLeading(is_lost ? "the lease was lost" : "the work has ended",
                               lock_.Reference());
    if (!is_lost && options_.election.release_on_cancel) Release();
    if (failure) std::rethrow_exception(failure);
    return is_lost ? Outcome::kLost : Outcome::kStopped;
  }

  [[nodiscard]] bool IsLeader() const { return fence_.IsOpen(); }
  [[nodiscard]] std::stop_token Elected() const { return elected_.get_token(); }
  [[nodiscard]] Duration RequestTimeout() const { return lock_.timeout(); }
  [[nodiscard]] const detail::LeadershipReporter& reporter() const { return reporter_; }

 private:
  enum class Attempt { kHeld, kHeldByOther, kLostRace, kFailed };

  /// Blocks until this replica holds the lease, and opens the fence. Returns the token of the
  /// fence, or nullopt on a stop.
  std::optional<std::stop_token> Acquire(const std::stop_token& stop) {
    reporter_.OnCampaign();
    while (!stop.stop_requested()) {
      const bool held = TryAcquireOrRenew({.stop = stop}) == Attempt::kHeld;
      // After a suspend, the response may come when the lease has expired again.
      if (held && clock_.Now() < FenceTime()) {
        std::stop_token lost = fence_.Open(FenceTime());
        reporter_.OnAcquired(sent_, lock_.Reference());
        elected_.request_stop();
        return lost;
      }
      SleepUntil(clock_, SaturatingAdd(clock_.Now(), JitteredRetryPeriod()), stop);
    }
    return std::nullopt;
  }

  /// Calls `work` while another thread renews the lease. Returns the exception of `work`, if any.
  std::exception_ptr Lead(const std::function<void(std::stop_token)>& work,
                          const std::stop_token& lost, const std::stop_token& stop) {
    std::stop_source end_of_work;
    try {
      std::jthread renewal([&](const std::stop_token& end) { Renew(end, lost); });
      const std::stop_callback on_stop(stop, [&] { end_of_work.request_stop(); });
      const std::stop_callback on_lost(lost, [&] {
        end_of_work.request_stop();
        renewal.request_stop();
      });
      work(end_of_work.get_token());
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  /// Renews the lease until `end` is requested or the lease is lost.
  void Renew(const std::stop_token& end, const std::stop_token& lost) {
    const Duration period = options_.election.retry_period;
    while (SleepUntil(clock_, SaturatingAdd(clock_.Now(), period), end)) {
      const LeaseCallLimits limits{.stop = end, .deadline = FenceTime()};
      Attempt attempt = TryAcquireOrRenew(limits);
      // Another client has just written the Lease, perhaps a new leader: find out at once.
      if (attempt == Attempt::kLostRace) attempt = TryAcquireOrRenew(limits);
      if (attempt == Attempt::kHeldByOther) {
        fence_.Close();
        reporter_.OnStoppedLeading("another replica holds the lease", lock_.Reference());
      } else if (attempt == Attempt::kHeld && fence_.Extend(FenceTime())) {
        reporter_.OnRenewed(sent_);
      }
    }
    if (lost.stop_requested()) {
      reporter_.OnStoppedLeading("the renew deadline has passed", lock_.Reference());
    }
  }

  /// Go: tryAcquireOrRenew. Sets sent_ if it returns kHeld.
  Attempt TryAcquireOrRenew(const LeaseCallLimits& limits) {
    const Attempt attempt = Try(limits);
    if (attempt == Attempt::kHeld || attempt == Attempt::kHeldByOther) reporter_.OnAccess();
    return attempt;
  }

  Attempt Try(const LeaseCallLimits& limits) {
    if (fence_.IsOpen() && state_.IsHolder() && RenewFast(limits)) return Attempt::kHeld;
    try {
      const auto record = lock_.Get(limits);
      if (!record) {
        const auto first = state_.FirstRecord(Timestamp());
        Write(first, [&] { lock_.Create(first, limits); });
        return Attempt::kHeld;
      }
      Observe(*record);
      if (!state_.MayAcquire(clock_.Now())) return Attempt::kHeldByOther;
      if (state_.IsHolder()) reporter_.OnSlowPath();
      Update(limits);
      return Attempt::kHeld;
    } catch (const ApiError& error) {
      const bool lost_race = error.IsConflict() || error.IsAlreadyExists();
      lost_race ? reporter_.OnLostRace(error) : reporter_.OnFailure(error);
      if (error.IsForbidden() || error.IsUnauthorized()) {
        reporter_.OnRefusal(error, lock_.Reference());
      }
      return lost_race ? Attempt::kLostRace : Attempt::kFailed;
    } catch (const std::exception& error) {
      if (!limits.stop.stop_requested()) reporter_.OnFailure(error);
      return Attempt::kFailed;
    }
  }

  /// Renews with one write, assuming that the Lease is as this replica has written it last.
  bool RenewFast(const LeaseCallLimits& limits) {
    try {
      Update(limits);
      return true;
    } catch (const std::exception& error) {
      options_.log.V(2).Info("Failed to update lease optimistically, falling back to slow path",
                             {{"lock", lock_.key()}, {"err", error.what()}});
      return false;
    }
  }

  void Update(const LeaseCallLimits& limits) {
    const auto claim = state_.ClaimRecord(Timestamp());
    Write(claim, [&] { lock_.Update(claim, limits); });
  }

  void Write(const detail::LeaseRecord& record, const std::function<void()>& write) {
    const TimePoint sent = clock_.Now();
    write();
    sent_ = sent;
    Observe(record);
  }

  void Observe(const detail::LeaseRecord& record) {
    state_.Observe(record, clock_.Now());
    reporter_.OnRecord(record);
  }

  /// Gives the lease up, unless another replica holds it. Go: release.
  void Release() {
    Duration timeout = lock_.timeout();
    if (options_.release_timeout) timeout = std::min(timeout, options_.release_timeout());
    const LeaseCallLimits limits{.deadline = SaturatingAdd(clock_.Now(), timeout)};
    try {
      while (!TryRelease(limits)) {
      }
    } catch (const std::exception& error) {
      reporter_.OnReleaseFailure(error);
    }
  }

  /// Returns false if the Lease was changed meanwhile: by a renewal that was cancelled, for
  /// example.
  bool TryRelease(const LeaseCallLimits& limits) {
    const auto record = lock_.Get(limits);
    if (!record || record->holder != options_.election.identity) return true;
    const auto released = detail::LeaseState::ReleaseRecord(*record, Timestamp());
    try {
      lock_.Update(released, limits);
    } catch (const ApiError& error) {
      if (!error.IsConflict()) throw;
      return false;
    }
    Observe(released);
    reporter_.OnReleased();
    return true;
  }

  /// Returns when the fence has to close, counted from the last successful write.
  [[nodiscard]] TimePoint FenceTime() const {
    return SaturatingAdd(sent_, options_.election.renew_deadline);
  }
  [[nodiscard]] Duration JitteredRetryPeriod() const {
    const auto jitter = std::chrono::duration<double>(options_.election.retry_period) *
                        (detail::kRetryJitter * options_.random());
    return options_.election.retry_period + std::chrono::duration_cast<Duration>(jitter);
  }
  [[nodiscard]] std::string Timestamp() const { return detail::FormatMicroTime(clock_.WallNow()); }

  const LeaderElectorOptions options_;
  Clock& clock_;
  WriteFence& fence_;
  std::stop_source elected_;
  detail::LeadershipReporter reporter_;
  detail::LeaseState state_;
  detail::LeaseLock lock_;
  TimePoint sent_;  // when the last successful acquisition or renewal was sent
};

LeaderElector::LeaderElector(const Client& client, WriteFence& fence, LeaderElectorOptions options)
    : impl_(std::make_unique<Impl>(client, fence, std::move(options))) {}

LeaderElector::~LeaderElector() = default;

LeaderElector::Outcome LeaderElector::Run(const std::function<void(std::stop_token)>& work,
                                          const std::stop_token& stop) {
  return impl_->Run(work, stop);
}

bool LeaderElector::IsLeader() const { return impl_->IsLeader(); }

std::stop_token LeaderElector::Elected() const { return impl_->Elected(); }

LeadershipStatus LeaderElector::Status() const {
  LeadershipStatus status = impl_->reporter().Status();
  status.is_leader = impl_->IsLeader();
  return status;
}

std::optional<std::string> LeaderElector::CheckReadiness() const {
  return impl_->reporter().CheckReadiness();
}
std::optional<std::string> LeaderElector::CheckHealth(Duration tolerance) const {
  return impl_->reporter().CheckHealth(tolerance);
}

Duration LeaderElector::RequestTimeout() const { return impl_->RequestTimeout(); }

}  // namespace kopp
