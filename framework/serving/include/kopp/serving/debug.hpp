#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kopp/http_server.hpp>
#include <kopp/informer/informer_status.hpp>
#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/snapshot.hpp>

namespace kopp {

/// A reconcile that has ended.
struct ReconcileRecord {
  std::string controller{};
  ObjectKey key{};
  std::string id{};      ///< reconcileID of the log lines
  std::string reason{};  ///< why the key was queued
  WallTime started{};
  Duration queued{};     ///< from the time when the key became ready to the start
  Duration duration{};   ///< of the reconcile
  std::string result{};  ///< as in controller_runtime_reconcile_total: "success", "error", …
  std::string error{};   ///< what the reconciler threw; empty: nothing
};

/// The last reconciles of a program. Thread-safe.
class ReconcileHistory {
 public:
  /// Keeps at most `capacity` records; 0: none.
  explicit ReconcileHistory(std::size_t capacity = 200) : capacity_(capacity) {}

  /// Adds a record and removes the oldest one if there are too many. An error text is cut to 1 KiB.
  void Add(ReconcileRecord record);
  /// Returns the records, newest first.
  [[nodiscard]] std::vector<ReconcileRecord> Records() const;

 private:
  const std::size_t capacity_;
  mutable detail::Guarded<std::deque<ReconcileRecord>> records_;  // newest first
};

/// A queue and its workers, for the debug pages.
struct DebugQueue {
  std::string controller{};
  int workers = 0;
  workqueue::Snapshot<ObjectKey, std::string>
      snapshot{};  ///< the payloads are the reasons, as text
};

/// Leader election, for the debug pages.
struct DebugLeadership {
  bool enabled = false;
  bool is_leader = false;
  std::string identity{};                   ///< of this replica
  std::string holder{};                     ///< the identity in the Lease
  std::string lease{};                      ///< "namespace/name"
  std::optional<Duration> since_renewal{};  ///< set if this replica is the leader
};

/// A webhook, for the debug pages.
struct DebugWebhook {
  std::string path{};
  std::string kind{};  ///< "mutating foos.v1.example.com"; empty: any
  std::size_t in_flight = 0;
  std::size_t max_in_flight = 0;
  std::uint64_t requests = 0;  ///< that were answered, also those without a valid review
  std::uint64_t denied = 0;    ///< by AdmissionDenied, FieldErrors, or an answer
  std::uint64_t failed = 0;    ///< by another exception
  std::string last_failure{};  ///< the last exception; empty: none
};

/// The functions from which the debug pages read the state of a program. They must be thread-safe.
/// An empty function: its page is left out.
struct DebugSource {
  /// The name and version of the program and similar facts, for the first page.
  std::function<std::vector<std::pair<std::string, std::string>>()> program{};
  std::function<std::vector<DebugQueue>()> queues{};
  std::function<std::vector<informer::InformerStatus>()> caches{};
  /// Returns at most `limit` objects of the cache with this InformerStatus::name and kind, as JSON
  /// texts. The pages redact Secrets.
  std::function<std::vector<std::string>(const informer::InformerStatus& cache, std::size_t limit)>
      objects{};
  std::function<std::vector<ReconcileRecord>()> reconciles{};
  std::function<DebugLeadership()> leadership{};
  std::function<std::vector<DebugWebhook>()> webhooks{};
  std::function<std::vector<std::pair<std::string, std::string>>()> flags{};  ///< names and values
};

/// Returns the handler of the debug pages, for the route "/debug/": the state of queues, caches,
/// reconciles, webhooks and leader election as HTML for people, and as JSON with `?format=json` or
/// a path that ends with ".json":
///
///     const kopp::HttpServer server{{.address = "127.0.0.1:6060"},
///                                   {{"/debug/", kopp::DebugPages(std::move(source))}}};
///
/// The pages show the objects in the caches. Values of Secrets are redacted, but all who can
/// connect to the address can read everything else: bind it to loopback and use `kubectl
/// port-forward`. `clock` must outlive the handler.
[[nodiscard]] HttpServer::Handler DebugPages(DebugSource source, Clock& clock = Clock::Real());

}  // namespace kopp
