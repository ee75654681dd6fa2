#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <kopp/informer/informer_status.hpp>
#include <kopp/informer/object_key.hpp>
#include <kopp/serving/health.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/snapshot.hpp>

// Health checks that detect a program that hangs, although its process runs. Use them for /livez:
// the kubelet then restarts the container. None of them fails because there is nothing to do. The
// reason of a failure names the culprit.
//
// Each function takes a function that reads the state; it must be thread-safe and outlive the
// check.
namespace kopp {

/// An item that a worker is processing.
struct RunningItem {
  std::string item{};
  Duration running_for{};
};

/// Returns the item that has been in processing for the longest time; nullopt if there is none, or
/// if the queue does not track times.
template <typename Payload>
[[nodiscard]] std::optional<RunningItem> LongestRunning(
    const workqueue::Snapshot<ObjectKey, Payload>& snapshot, TimePoint now) {
  const typename workqueue::Snapshot<ObjectKey, Payload>::Entry* longest = nullptr;
  for (const auto& entry : snapshot.processing) {
    if (entry.at && (longest == nullptr || *entry.at < *longest->at)) longest = &entry;
  }
  if (longest == nullptr) return std::nullopt;
  return RunningItem{longest->item.ToString(), now - *longest->at};
}

/// Fails if a worker of `controller` has been processing one item for longer than `limit`.
[[nodiscard]] HealthCheck StuckWorkerCheck(std::string controller,
                                           std::function<std::optional<RunningItem>()> longest,
                                           Duration limit);

/// How much work a queue has, and how much is done.
struct QueueProgress {
  std::size_t unfinished = 0;   ///< items that are ready or in processing, without delayed ones
  std::uint64_t completed = 0;  ///< reconciles since the start, with any result
};

/// Fails if the queue of `controller` has unfinished items and no reconcile has been completed for
/// longer than `limit`. The time is measured between calls of the check, so it begins with the
/// first call that finds unfinished items. `clock` must outlive the check.
[[nodiscard]] HealthCheck StalledQueueCheck(std::string controller,
                                            std::function<QueueProgress()> read, Duration limit,
                                            Clock& clock = Clock::Real());

/// Fails if a synced informer has had no successful list, no event and no bookmark for longer than
/// `limit`. The API server sends a bookmark about every minute, so choose at least five minutes. An
/// informer that has not synced is not checked: its kind may not exist yet. Neither is one whose
/// last request has failed: it tries again, and a restart would not help.
[[nodiscard]] HealthCheck SilentInformerCheck(
    std::function<std::vector<informer::InformerStatus>()> read, Duration limit);

/// Fails if a log line has been waiting to be written for longer than `limit`. `oldest` returns the
/// age of the oldest waiting line, 0 if there is none.
[[nodiscard]] HealthCheck BlockedLogCheck(std::function<Duration()> oldest, Duration limit);

}  // namespace kopp
