#include "lease_state.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp::detail {
namespace {

using nlohmann::json;

std::string TextIn(const json& spec, const char* field) {
  const auto found = spec.find(field);
  return found != spec.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t NumberIn(const json& spec, const char* field) {
  const auto found = spec.find(field);
  return found != spec.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

}  // namespace

LeaseRecord ReadLeaseRecord(const json& lease) {
  const auto spec = lease.is_object() ? lease.find("spec") : lease.end();
  if (spec == lease.end() || !spec->is_object()) return {};
  return {.holder = TextIn(*spec, "holderIdentity"),
          .duration_seconds = NumberIn(*spec, "leaseDurationSeconds"),
          .acquire_time = TextIn(*spec, "acquireTime"),
          .renew_time = TextIn(*spec, "renewTime"),
          .transitions = NumberIn(*spec, "leaseTransitions")};
}

void WriteLeaseRecord(const LeaseRecord& record, json& lease) {
  json& spec = lease["spec"];
  spec["holderIdentity"] = record.holder;
  spec["leaseDurationSeconds"] = record.duration_seconds;
  spec["acquireTime"] = record.acquire_time;
  spec["renewTime"] = record.renew_time;
  spec["leaseTransitions"] = record.transitions;
}

// Rounds up. client-go rounds down: others could take over a lease of 15.9 s after 15 s.
LeaseState::LeaseState(std::string identity, Duration lease_duration)
    : identity_(std::move(identity)),
      duration_seconds_(std::chrono::ceil<std::chrono::seconds>(lease_duration).count()) {}

void LeaseState::Observe(const LeaseRecord& record, TimePoint now) {
  if (record == record_) return;
  record_ = record;
  observed_ = now;
}

bool LeaseState::MayAcquire(TimePoint now) const {
  if (record_.holder.empty() || IsHolder()) return true;
  constexpr std::int64_t kMaxSeconds = 1'000'000'000;  // more would overflow
  const auto seconds = std::chrono::seconds(std::min(record_.duration_seconds, kMaxSeconds));
  return SaturatingAdd(observed_, seconds) <= now;
}

LeaseRecord LeaseState::FirstRecord(const std::string& now) const {
  return {.holder = identity_,
          .duration_seconds = duration_seconds_,
          .acquire_time = now,
          .renew_time = now};
}

LeaseRecord LeaseState::ClaimRecord(const std::string& now) const {
  LeaseRecord claim = FirstRecord(now);
  claim.transitions = record_.transitions + (IsHolder() ? 0 : 1);
  if (IsHolder()) claim.acquire_time = record_.acquire_time;
  return claim;
}

LeaseRecord LeaseState::ReleaseRecord(const LeaseRecord& record, const std::string& now) {
  return {.duration_seconds = 1,
          .acquire_time = now,
          .renew_time = now,
          .transitions = record.transitions};
}

}  // namespace kopp::detail
