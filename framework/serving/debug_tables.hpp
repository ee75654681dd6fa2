#pragma once

#include "debug_page.hpp"

#include <string>
#include <utility>
#include <vector>

#include <kopp/serving/debug.hpp>

// The tables of the debug pages.
namespace kopp::debug {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] Table ValuesTable(std::string key, std::string title, const NamedValues& values);
/// A table with one row for each queue.
[[nodiscard]] Table QueuesTable(const std::vector<DebugQueue>& queues, TimePoint now);
/// The items of the queues: those in processing first, then those that are ready and waiting.
[[nodiscard]] Table ItemsTable(const std::vector<DebugQueue>& queues, TimePoint now);
/// A table with one row for each cache; `objects_path` + its index is the page of its objects,
/// empty: there is none.
[[nodiscard]] Table CachesTable(const std::vector<informer::InformerStatus>& caches,
                                const std::string& objects_path);
/// A table of the events that the watches of the caches have received, and of how the watches
/// ended.
[[nodiscard]] Table WatchesTable(const std::vector<informer::InformerStatus>& caches);
/// A table of the handlers of the caches.
[[nodiscard]] Table HandlersTable(const std::vector<informer::InformerStatus>& caches);
/// A table of the objects of one cache, redacted.
[[nodiscard]] Table ObjectsTable(const informer::InformerStatus& cache,
                                 const std::vector<std::string>& objects);
[[nodiscard]] Table ReconcilesTable(const std::vector<ReconcileRecord>& reconciles);
[[nodiscard]] Table WebhooksTable(const std::vector<DebugWebhook>& webhooks);
[[nodiscard]] Table LeadershipTable(const DebugLeadership& leadership);

/// Replaces the values of a Secret by their length, and removes the annotation in which `kubectl
/// apply` repeats them. `kind` is that of the object, which a view may not contain.
void RedactSecret(nlohmann::ordered_json& object, const std::string& kind);

}  // namespace kopp::debug
