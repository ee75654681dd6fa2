#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/metrics.hpp>

namespace kopp::workqueue::detail {

/// The metrics of one queue. Without a provider, nothing is measured. Thread-safe. The queue calls
/// it without holding a lock. A metric that is null or throws is skipped, because a broken metric
/// must not stop the queue.
class QueueMetrics {
 public:
  /// The maximum number of priorities with their own depth metric.
  static constexpr std::size_t kMaxPriorityLabels = 25;
  /// The label of all other priorities, as in controller-runtime.
  static constexpr const char* kOverflowLabel = "exceeded_cardinality_limit";

  /// `provider` may be null, and must outlive this object. `unfinished_seconds` and
  /// `longest_seconds` return the current values of these two metrics. They are called on any
  /// thread until this object is destroyed. Propagates exceptions of the provider.
  QueueMetrics(MetricsProvider* provider, std::string name, bool by_priority,
               std::function<double()> unfinished_seconds, std::function<double()> longest_seconds)
      : provider_(provider), name_(std::move(name)), by_priority_(by_priority) {
    if (provider == nullptr) return;
    if (!by_priority_) depth_ = provider->NewDepthMetric(name_, "");
    adds_ = provider->NewAddsMetric(name_);
    latency_ = provider->NewLatencyMetric(name_);
    work_duration_ = provider->NewWorkDurationMetric(name_);
    retries_ = provider->NewRetriesMetric(name_);
    unfinished_work_seconds_ =
        provider->NewUnfinishedWorkSecondsMetric(name_, std::move(unfinished_seconds));
    longest_running_processor_seconds_ =
        provider->NewLongestRunningProcessorSecondsMetric(name_, std::move(longest_seconds));
  }

  [[nodiscard]] bool enabled() const { return provider_ != nullptr; }

  void IncAdds() { Inc(adds_); }
  void IncRetries() { Inc(retries_); }
  void IncDepth(int priority) {
    IgnoreErrors([&] {
      if (GaugeMetric* depth = DepthOf(priority)) depth->Inc();
    });
  }
  void DecDepth(int priority) {
    IgnoreErrors([&] {
      if (GaugeMetric* depth = DepthOf(priority)) depth->Dec();
    });
  }
  void ObserveLatency(Duration time) { Observe(latency_, time); }
  void ObserveWorkDuration(Duration time) { Observe(work_duration_, time); }

 private:
  using Label = std::optional<int>;  // a priority, or nullopt for all beyond kMaxPriorityLabels
  using Depths = std::map<Label, std::unique_ptr<GaugeMetric>>;

  static void Inc(const std::unique_ptr<CounterMetric>& counter) {
    if (counter) IgnoreErrors([&] { counter->Inc(); });
  }
  static void Observe(const std::unique_ptr<HistogramMetric>& histogram, Duration time) {
    if (!histogram) return;
    IgnoreErrors([&] { histogram->Observe(std::chrono::duration<double>(time).count()); });
  }
  template <typename F>
  static void IgnoreErrors(F call) {
    try {
      call();
    } catch (...) {  // NOLINT(bugprone-empty-catch): see the class comment
    }
  }

  static Label LabelOf(const Depths& depths, int priority) {
    const std::size_t count = depths.size() - depths.count(std::nullopt);
    return count < kMaxPriorityLabels || depths.contains(priority) ? Label(priority) : std::nullopt;
  }
  GaugeMetric* DepthOf(int priority);

  MetricsProvider* const provider_;
  const std::string name_;
  const bool by_priority_;
  std::unique_ptr<GaugeMetric> depth_;  // the only depth metric; null if by_priority_
  // The depth metrics if by_priority_. Each is created when its priority is first used.
  kopp::detail::Guarded<Depths> priority_depths_;
  std::unique_ptr<CounterMetric> adds_;
  std::unique_ptr<HistogramMetric> latency_;
  std::unique_ptr<HistogramMetric> work_duration_;
  std::unique_ptr<CounterMetric> retries_;
  std::unique_ptr<Metric> unfinished_work_seconds_;
  std::unique_ptr<Metric> longest_running_processor_seconds_;
};

inline GaugeMetric* QueueMetrics::DepthOf(int priority) {
  if (!by_priority_ || !enabled()) return depth_.get();
  for (;;) {
    Label label;
    {
      auto depths = priority_depths_.Lock();
      label = LabelOf(*depths, priority);
      const auto depth = depths->find(label);
      if (depth != depths->end()) return depth->second.get();
    }
    // The provider is user code: call it without the lock. Meanwhile another thread may create a
    // metric, which can change the label.
    auto created =
        provider_->NewDepthMetric(name_, label ? std::to_string(*label) : kOverflowLabel);
    auto depths = priority_depths_.Lock();
    if (LabelOf(*depths, priority) != label) continue;
    return depths->try_emplace(label, std::move(created)).first->second.get();
  }
}

}  // namespace kopp::workqueue::detail
