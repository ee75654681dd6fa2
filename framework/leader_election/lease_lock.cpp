#include "lease_lock.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>

namespace kopp::detail {
namespace {

using nlohmann::json;

constexpr Kind kLease{"coordination.k8s.io/v1", "Lease", "leases"};

TransportError LeaseTimeout() {
  return {TransportError::Kind::kTimeout,
          "no response to a request for the Lease in time; check the connection to the API server"};
}

}  // namespace

LeaseLock::LeaseLock(const Client& client, ObjectKey key, std::map<std::string, std::string> labels,
                     Duration timeout, Clock& clock)
    : client_(client),
      key_(std::move(key)),
      labels_(std::move(labels)),
      timeout_(timeout),
      clock_(clock),
      timer_(clock) {}

LeaseLock::~LeaseLock() = default;

std::optional<LeaseRecord> LeaseLock::Get(const LeaseCallLimits& limits) {
  std::optional<LeaseRecord> record;
  Call(limits, [&](const Client& client) {
    if (const auto lease = client.Dynamic(kLease).Get(key_)) {
      lease_ = std::make_unique<json>(lease->Json());
      record = ReadLeaseRecord(*lease_);
    }
  });
  return record;
}

void LeaseLock::Create(const LeaseRecord& record, const LeaseCallLimits& limits) {
  json lease{{"metadata", {{"name", key_.name}, {"namespace", key_.ns}}}};
  AddLabels(lease);
  WriteLeaseRecord(record, lease);
  Call(limits, [&](const Client& client) {
    lease_ = std::make_unique<json>(client.Dynamic(kLease).Create(lease).Json());
  });
}

void LeaseLock::Update(const LeaseRecord& record, const LeaseCallLimits& limits) {
  if (!lease_) throw std::logic_error("a Lease must be read or created before an update");
  json lease = *lease_;
  AddLabels(lease);
  WriteLeaseRecord(record, lease);
  Call(limits, [&](const Client& client) {
    lease_ = std::make_unique<json>(client.Dynamic(kLease).Update(lease).Json());
  });
}

ObjectReference LeaseLock::Reference() const {
  ObjectReference reference = ReferenceTo(kLease, lease_ ? *lease_ : json::object());
  reference.ns = key_.ns;
  reference.name = key_.name;
  return reference;
}

/// Calls `call` with a client whose requests are cancelled at the limits.
void LeaseLock::Call(const LeaseCallLimits& limits,
                     const std::function<void(const Client& client)>& call) {
  const TimePoint now = clock_.Now();
  const TimePoint deadline = std::min(limits.deadline, SaturatingAdd(now, timeout_));
  if (deadline <= now) throw LeaseTimeout();
  const std::stop_token cancel = timer_.Start(deadline);
  const CancelWhenDone done(timer_);
  const std::stop_callback on_stop(limits.stop, [this] { timer_.End(); });
  try {
    call(client_.With(cancel));
  } catch (const TransportError& error) {
    if (error.kind() != TransportError::Kind::kCancelled || limits.stop.stop_requested()) throw;
    throw LeaseTimeout();
  }
}

void LeaseLock::AddLabels(json& lease) const {
  for (const auto& [name, value] : labels_) lease["metadata"]["labels"][name] = value;
}

}  // namespace kopp::detail
