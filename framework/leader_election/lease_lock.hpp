#pragma once

#include "base/stop_timer.hpp"
#include "lease_state.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <kopp/client.hpp>
#include <kopp/events.hpp>
#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// When to give up a request for the Lease.
struct LeaseCallLimits {
  std::stop_token stop{};
  TimePoint deadline = TimePoint::max();  ///< in addition to the timeout of each request
};

/// Reads and writes the Lease with optimistic locking: a write fails if the Lease was changed since
/// this object has read or written it. Go: LeaseLock of
/// k8s.io/client-go/tools/leaderelection/resourcelock.
///
/// Not thread-safe. Each call blocks until the response has arrived, the timeout, or a stop; it
/// throws what the calls of Client throw, and TransportError (kTimeout) at the timeout.
class LeaseLock {
 public:
  /// `clock` must outlive the object; it measures `timeout`, that of each request.
  LeaseLock(const Client& client, ObjectKey key, std::map<std::string, std::string> labels,
            Duration timeout, Clock& clock);
  ~LeaseLock();
  LeaseLock(const LeaseLock&) = delete;
  LeaseLock& operator=(const LeaseLock&) = delete;

  /// Returns nullopt if there is no Lease.
  [[nodiscard]] std::optional<LeaseRecord> Get(const LeaseCallLimits& limits);
  void Create(const LeaseRecord& record, const LeaseCallLimits& limits);
  /// Throws std::logic_error before the first successful Get or Create.
  void Update(const LeaseRecord& record, const LeaseCallLimits& limits);

  [[nodiscard]] const ObjectKey& key() const { return key_; }
  [[nodiscard]] Duration timeout() const { return timeout_; }
  /// Returns a reference to the Lease, for Events.
  [[nodiscard]] ObjectReference Reference() const;

 private:
  void Call(const LeaseCallLimits& limits, const std::function<void(const Client& client)>& call);
  void AddLabels(nlohmann::json& lease) const;

  const Client client_;
  const ObjectKey key_;
  const std::map<std::string, std::string> labels_;
  const Duration timeout_;
  Clock& clock_;
  std::unique_ptr<nlohmann::json> lease_;  // as last read or written; null: never
  StopTimer timer_;                        // of the current request
};

}  // namespace kopp::detail
