#pragma once

#include "controllers/garbage_collector.hpp"
#include "storage/server_context.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Updates the served resources and the status of CustomResourceDefinitions (CRDs) after each
/// write. It runs in the thread of the write; a real server needs about a second. Thread-safe.
/// `context` must outlive it.
class CrdController {
 public:
  explicit CrdController(ServerContext& context);

  /// Processes all changes of CRDs since the last call. Call it after each write. Blocks while
  /// another thread is in Sync.
  void Sync();

 private:
  /// A CRD as of the last Sync.
  struct CrdState {
    StoredObjectPtr stored{};
    nlohmann::json crd{};
    nlohmann::json served{};  // the configuration that is served now; null: none
  };

  [[nodiscard]] std::set<std::string> ReloadCrds();
  void UpdateNamingConditions(const std::set<std::string>& groups);
  void UpdateServedVersions(CrdState& state);
  void StopServing(const nlohmann::json& crd);
  void DeleteInstances(const CrdState& state);
  void RemoveCleanupFinalizer(const ObjectKey& key);
  bool UpdateCrd(const CrdState& state, nlohmann::json crd);

  ServerContext& context_;
  GarbageCollector collector_;
  std::atomic<unsigned> writes_ = 0;               // number of writes of CRDs
  std::atomic<unsigned> processed_writes_ = 0;     // how many of them Sync has processed
  std::atomic<bool> has_terminating_crd_ = false;  // removed after its last object
  std::mutex mutex_;
  std::map<std::string, CrdState> crds_;  // by name; guarded by mutex_
  Store::Listener listener_;              // last, because its callback uses the members above
};

}  // namespace kopp::apiserver
