#include "debug_tables.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace kopp::debug {
namespace {

using nlohmann::ordered_json;
using Entry = workqueue::Snapshot<ObjectKey, std::string>::Entry;

constexpr Duration kLongReconcile = std::chrono::minutes(1);
constexpr Duration kLongSilence =
    std::chrono::minutes(5);  // the server sends bookmarks every minute
constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

Cell BoolCell(bool value, Tone if_true, Tone if_false) {
  return {.value = value, .text = value ? "yes" : "no", .tone = value ? if_true : if_false};
}

/// An unknown duration is null in JSON.
Cell OptionalDurationCell(const std::optional<Duration>& duration, Tone tone = Tone::kNormal) {
  return duration ? DurationCell(*duration, tone) : Cell{};
}

std::optional<Duration> Longest(const std::vector<Entry>& processing, TimePoint now) {
  std::optional<Duration> longest;
  for (const Entry& entry : processing) {
    if (entry.at) longest = std::max(longest.value_or(Duration{}), now - *entry.at);
  }
  return longest;
}

Tone ToneOfRunning(const std::optional<Duration>& running_for) {
  return running_for && *running_for > kLongReconcile ? Tone::kWarning : Tone::kNormal;
}

Tone ToneOfResult(const ReconcileRecord& record) {
  if (!record.error.empty()) return Tone::kBad;
  return record.result == "success" ? Tone::kGood : Tone::kNormal;
}

/// Returns a row of ItemsTable. `time` is an age or, if `preposition` is "in", a remaining time.
std::vector<Cell> ItemRow(const DebugQueue& queue, const Entry& entry, const char* state,
                          const char* preposition, const std::optional<Duration>& time) {
  const bool is_running = std::string_view(state) == "processing";
  Cell time_cell = OptionalDurationCell(time, is_running ? ToneOfRunning(time) : Tone::kNormal);
  if (time) time_cell.text = std::string(preposition) + ' ' + time_cell.text;
  return {TextCell(queue.controller),
          TextCell(entry.item.ToString()),
          TextCell(entry.dirty ? std::string(state) + ", added again" : state),
          std::move(time_cell),
          NumberCell(entry.priority),
          NumberCell(entry.failures, entry.failures > 0 ? Tone::kWarning : Tone::kNormal),
          TextCell(entry.payload)};
}

void AddItems(const DebugQueue& queue, TimePoint now, Table& table) {
  const auto& snapshot = queue.snapshot;
  const auto age = [now](const Entry& entry) {
    return entry.at ? std::optional(now - *entry.at) : std::nullopt;
  };
  for (const Entry& entry : snapshot.processing) {
    table.rows.push_back(ItemRow(queue, entry, "processing", "for", age(entry)));
  }
  for (const Entry& entry : snapshot.ready) {
    table.rows.push_back(ItemRow(queue, entry, "ready", "for", age(entry)));
  }
  for (const Entry& entry : snapshot.waiting) {
    const auto remaining =
        entry.at ? std::optional(std::max(*entry.at - now, Duration{})) : std::nullopt;
    table.rows.push_back(ItemRow(queue, entry, "waiting", "in", remaining));
  }
  table.total += snapshot.ready_count + snapshot.waiting_count + snapshot.processing_count;
}

void RedactValues(ordered_json& object, const char* field) {
  if (!object.contains(field) || !object[field].is_object()) return;
  for (auto& [key, value] : object[field].items()) {
    const std::size_t size = value.is_string() ? value.get_ref<const std::string&>().size() : 0;
    value = "redacted (" + std::to_string(size) + " characters)";
  }
}

/// The first characters of an id are sufficient to find it in the log.
Cell IdCell(const std::string& id) {
  constexpr std::size_t kShown = 8;
  Cell cell = TextCell(id);
  if (id.size() > kShown) cell.text = id.substr(0, kShown) + "\u2026";
  return cell;
}

/// Shows counts by name.
Cell CountsCell(const std::map<std::string_view, std::uint64_t>& counts) {
  Cell cell{.value = ordered_json::object()};
  for (const auto& [name, count] : counts) {
    cell.value[std::string(name)] = count;
    cell.text += (cell.text.empty() ? "" : ", ") + std::to_string(count) + ' ' + std::string(name);
  }
  return cell;
}

std::string IndentedObject(const ordered_json& object) {
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

Table ValuesTable(std::string key, std::string title, const NamedValues& values) {
  Table table{.key = std::move(key),
              .title = std::move(title),
              .columns = {{"name", "Name"}, {"value", "Value", Layout::kLongText}}};
  for (const auto& [name, value] : values) table.rows.push_back({TextCell(name), TextCell(value)});
  return table;
}

Table QueuesTable(const std::vector<DebugQueue>& queues, TimePoint now) {
  Table table{.key = "queues",
              .columns = {{"controller", "Controller"},
                          {"workers", "Workers", Layout::kNumber},
                          {"ready", "Ready", Layout::kNumber},
                          {"waiting", "Waiting", Layout::kNumber},
                          {"processing", "Processing", Layout::kNumber},
                          {"longestRunningSeconds", "Longest running", Layout::kNumber}},
              .empty_text = "no controllers"};
  for (const DebugQueue& queue : queues) {
    const auto count = [](std::size_t items) { return NumberCell(static_cast<double>(items)); };
    const auto longest = Longest(queue.snapshot.processing, now);
    table.rows.push_back({TextCell(queue.controller), NumberCell(queue.workers),
                          count(queue.snapshot.ready_count), count(queue.snapshot.waiting_count),
                          count(queue.snapshot.processing_count),
                          OptionalDurationCell(longest, ToneOfRunning(longest))});
  }
  return table;
}

Table ItemsTable(const std::vector<DebugQueue>& queues, TimePoint now) {
  Table table{.key = "items",
              .title = "Items",
              .columns = {{"controller", "Controller"},
                          {"item", "Item"},
                          {"state", "State"},
                          {"seconds", "Time", Layout::kNumber},
                          {"priority", "Priority", Layout::kNumber},
                          {"failures", "Failures", Layout::kNumber},
                          {"reason", "Reason", Layout::kLongText}},
              .empty_text = "no items"};
  for (const DebugQueue& queue : queues) AddItems(queue, now, table);
  return table;
}

Table CachesTable(const std::vector<informer::InformerStatus>& caches,
                  const std::string& objects_path) {
  Table table{.key = "caches",
              .columns = {{"kind", "Kind"},
                          {"name", "Informer"},
                          {"synced", "Synced"},
                          {"objects", "Objects", Layout::kNumber},
                          {"resourceVersion", "Version", Layout::kNumber},
                          {"resourceVersionAgeSeconds", "Version age", Layout::kNumber},
                          {"lists", "Lists", Layout::kNumber},
                          {"errors", "Errors", Layout::kNumber},
                          {"lastError", "Last error", Layout::kLongText}},
              .empty_text = "no caches"};
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const informer::InformerStatus& cache = caches[i];
    const bool has_version = !cache.resource_version.empty();
    const bool is_silent = cache.resource_version_age > kLongSilence;
    Cell kind = TextCell(cache.kind);
    if (!objects_path.empty()) kind.link = objects_path + std::to_string(i);
    const auto count = [](std::uint64_t number, Tone tone = Tone::kNormal) {
      return NumberCell(static_cast<double>(number), tone);
    };
    table.rows.push_back(
        {std::move(kind), TextCell(cache.name), BoolCell(cache.synced, Tone::kGood, Tone::kBad),
         count(cache.objects), TextCell(cache.resource_version),
         OptionalDurationCell(
             has_version ? std::optional(cache.resource_version_age) : std::nullopt,
             is_silent ? Tone::kBad : Tone::kNormal),
         count(cache.lists),
         count(cache.errors, cache.consecutive_failures > 0 ? Tone::kBad : Tone::kNormal),
         TextCell(cache.last_error)});
  }
  return table;
}

Table WatchesTable(const std::vector<informer::InformerStatus>& caches) {
  Table table{.key = "watches",
              .columns = {{"name", "Informer"},
                          {"lists", "Lists", Layout::kNumber},
                          {"events", "Events", Layout::kLongText},
                          {"watchEnds", "Ends of watches", Layout::kLongText},
                          {"skippedObjects", "Skipped objects", Layout::kNumber},
                          {"driftedObjects", "Drifted objects", Layout::kNumber}},
              .empty_text = "no watches"};
  for (const informer::InformerStatus& cache : caches) {
    const auto problems = [](std::uint64_t count) {
      return NumberCell(static_cast<double>(count), count > 0 ? Tone::kWarning : Tone::kNormal);
    };
    table.rows.push_back({TextCell(cache.name), NumberCell(static_cast<double>(cache.lists)),
                          CountsCell(cache.events), CountsCell(cache.watch_ends),
                          problems(cache.skipped_objects), problems(cache.drifted_objects)});
  }
  return table;
}

Table HandlersTable(const std::vector<informer::InformerStatus>& caches) {
  Table table{.key = "handlers",
              .title = "Handlers",
              .columns = {{"informer", "Informer"},
                          {"name", "Handler"},
                          {"synced", "Synced"},
                          {"pending", "Pending objects", Layout::kNumber},
                          {"busySeconds", "Busy for", Layout::kNumber},
                          {"calls", "Calls", Layout::kNumber},
                          {"errors", "Errors", Layout::kNumber}},
              .empty_text = "no handlers"};
  for (const informer::InformerStatus& cache : caches) {
    for (const informer::HandlerStatus& handler : cache.handlers) {
      const auto busy_for = handler.busy ? std::optional(handler.busy_for) : std::nullopt;
      table.rows.push_back({TextCell(cache.name), TextCell(handler.name),
                            BoolCell(handler.synced, Tone::kGood, Tone::kWarning),
                            NumberCell(static_cast<double>(handler.queue_depth)),
                            OptionalDurationCell(busy_for, ToneOfRunning(busy_for)),
                            NumberCell(static_cast<double>(handler.calls)),
                            NumberCell(static_cast<double>(handler.errors),
                                       handler.errors > 0 ? Tone::kBad : Tone::kNormal)});
    }
  }
  return table;
}

Table ObjectsTable(const informer::InformerStatus& cache, const std::vector<std::string>& objects) {
  Table table{.key = "objects",
              .columns = {{"object", "Object", Layout::kLongText}},
              .total = cache.objects,
              .empty_text = "no objects"};
  for (const std::string& text : objects) {
    ordered_json object = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (object.is_discarded()) {
      table.rows.push_back({TextCell("(not JSON)", Tone::kBad)});
      continue;
    }
    RedactSecret(object, cache.kind);
    const std::string indented = IndentedObject(object);
    table.rows.push_back({{.value = std::move(object), .text = indented}});
  }
  return table;
}

Table ReconcilesTable(const std::vector<ReconcileRecord>& reconciles) {
  Table table{.key = "reconciles",
              .columns = {{"started", "Started"},
                          {"controller", "Controller"},
                          {"object", "Object"},
                          {"reason", "Reason", Layout::kLongText},
                          {"queuedSeconds", "Queued", Layout::kNumber},
                          {"durationSeconds", "Duration", Layout::kNumber},
                          {"result", "Result"},
                          {"error", "Error", Layout::kLongText},
                          {"reconcileID", "ID"}},
              .empty_text = "no reconciles yet"};
  for (const ReconcileRecord& record : reconciles) {
    table.rows.push_back(
        {TimeCell(record.started), TextCell(record.controller), TextCell(record.key.ToString()),
         TextCell(record.reason), DurationCell(record.queued),
         DurationCell(record.duration, ToneOfRunning(record.duration)),
         TextCell(record.result, ToneOfResult(record)), TextCell(record.error), IdCell(record.id)});
  }
  return table;
}

Table WebhooksTable(const std::vector<DebugWebhook>& webhooks) {
  Table table{.key = "webhooks",
              .columns = {{"path", "Path"},
                          {"kind", "Kind"},
                          {"inFlight", "In flight", Layout::kNumber},
                          {"maxInFlight", "Limit", Layout::kNumber},
                          {"requests", "Requests", Layout::kNumber},
                          {"denied", "Denied", Layout::kNumber},
                          {"failed", "Failed", Layout::kNumber},
                          {"lastFailure", "Last failure", Layout::kLongText}}};
  for (const DebugWebhook& webhook : webhooks) {
    const bool is_full = webhook.in_flight >= webhook.max_in_flight;
    table.rows.push_back(
        {TextCell(webhook.path), TextCell(webhook.kind),
         NumberCell(static_cast<double>(webhook.in_flight), is_full ? Tone::kBad : Tone::kNormal),
         NumberCell(static_cast<double>(webhook.max_in_flight)),
         NumberCell(static_cast<double>(webhook.requests)),
         NumberCell(static_cast<double>(webhook.denied)),
         NumberCell(static_cast<double>(webhook.failed),
                    webhook.failed > 0 ? Tone::kBad : Tone::kNormal),
         TextCell(webhook.last_failure)});
  }
  return table;
}

Table LeadershipTable(const DebugLeadership& leadership) {
  Table table{.key = "leadership",
              .columns = {{"enabled", "Enabled"},
                          {"leader", "Leader"},
                          {"identity", "This replica", Layout::kLongText},
                          {"holder", "Holder", Layout::kLongText},
                          {"lease", "Lease"},
                          {"sinceRenewalSeconds", "Since renewal", Layout::kNumber}}};
  table.rows.push_back({BoolCell(leadership.enabled, Tone::kNormal, Tone::kNormal),
                        BoolCell(leadership.is_leader, Tone::kGood, Tone::kNormal),
                        TextCell(leadership.identity), TextCell(leadership.holder),
                        TextCell(leadership.lease),
                        OptionalDurationCell(leadership.since_renewal)});
  return table;
}

void RedactSecret(ordered_json& object, const std::string& kind) {
  if (!object.is_object()) return;
  const bool is_secret =
      kind == "Secret" || (object.contains("kind") && object["kind"] == "Secret");
  if (!is_secret) return;
  RedactValues(object, "data");
  RedactValues(object, "stringData");
  if (!object.contains("metadata") || !object["metadata"].is_object()) return;
  ordered_json& metadata = object["metadata"];
  if (metadata.contains("annotations") && metadata["annotations"].is_object()) {
    metadata["annotations"].erase(kLastApplied);
  }
}

}  // namespace kopp::debug
