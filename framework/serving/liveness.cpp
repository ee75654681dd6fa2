#include <chrono>
#include <memory>
#include <utility>

#include <kopp/serving/liveness.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

std::string InSeconds(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(duration).count()) + " s";
}

std::string LimitText(Duration limit) { return " (limit: " + InSeconds(limit) + ")"; }

std::string InformerName(const informer::InformerStatus& status) {
  return status.name.empty() ? status.kind : status.name;
}

/// When a queue with unfinished items last made progress. Thread-safe.
class ProgressWatch {
 public:
  /// Returns for how long the queue has made no progress; 0 if it has no unfinished items.
  Duration Update(const QueueProgress& progress, TimePoint now) {
    auto state = state_.Lock();
    const bool was_idle = std::exchange(state->is_idle, progress.unfinished == 0);
    const bool has_progress =
        std::exchange(state->completed, progress.completed) != progress.completed;
    if (was_idle || state->is_idle || has_progress) state->since = now;
    return now - state->since;
  }

 private:
  struct State {
    bool is_idle = true;
    std::uint64_t completed = 0;
    TimePoint since{};
  };
  detail::Guarded<State> state_;
};

}  // namespace

HealthCheck StuckWorkerCheck(std::string controller,
                             std::function<std::optional<RunningItem>()> longest, Duration limit) {
  return [controller = std::move(controller), longest = std::move(longest),
          limit]() -> std::optional<std::string> {
    const auto running = longest();
    if (!running || running->running_for <= limit) return std::nullopt;
    return "controller " + controller + ": the reconcile of " + running->item +
           " has been running for " + InSeconds(running->running_for) + LimitText(limit);
  };
}

HealthCheck StalledQueueCheck(std::string controller, std::function<QueueProgress()> read,
                              Duration limit, Clock& clock) {
  return [controller = std::move(controller), read = std::move(read), limit, &clock,
          watch = std::make_shared<ProgressWatch>()]() -> std::optional<std::string> {
    const QueueProgress progress = read();
    const Duration stalled = watch->Update(progress, clock.Now());
    if (stalled <= limit) return std::nullopt;
    return "controller " + controller + ": no reconcile was completed for " + InSeconds(stalled) +
           ", and " + std::to_string(progress.unfinished) + " items are unfinished" +
           LimitText(limit);
  };
}

HealthCheck SilentInformerCheck(std::function<std::vector<informer::InformerStatus>()> read,
                                Duration limit) {
  return [read = std::move(read), limit]() -> std::optional<std::string> {
    std::string silent;
    for (const informer::InformerStatus& status : read()) {
      const bool is_retrying = status.consecutive_failures > 0;
      if (!status.synced || is_retrying || status.resource_version_age <= limit) continue;
      silent += (silent.empty() ? "" : "; ") + ("informer " + InformerName(status)) +
                ": no contact with the API server for " + InSeconds(status.resource_version_age) +
                LimitText(limit);
      if (!status.last_error.empty()) silent += ", last error: " + status.last_error;
    }
    if (silent.empty()) return std::nullopt;
    return silent;
  };
}

HealthCheck BlockedLogCheck(std::function<Duration()> oldest, Duration limit) {
  return [oldest = std::move(oldest), limit]() -> std::optional<std::string> {
    const Duration age = oldest();
    if (age <= limit) return std::nullopt;
    return "the log is blocked: a line has been waiting for " + InSeconds(age) + LimitText(limit);
  };
}

}  // namespace kopp
