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

namespace kopp::workqueue {

/// The metrics of one queue. Safe to use from any thread; called with no lock of the queue's held.
/// A metric that is null or throws is skipped: work does not stop because it cannot be counted.
class Instruments {
 public:
  static constexpr std::size_t kPriorities = 25;  ///< with a depth of their own
  static constexpr const char* kOtherPriorities = "exceeded_cardinality_limit";

  struct InHand {
    std::function<double()> unfinished;  ///< seconds, see MetricsProvider
    std::function<double()> longest;
  };

  Instruments(MetricsProvider& provider, std::string name, bool by_priority, InHand in_hand)
      : provider_(provider), name_(std::move(name)), by_priority_(by_priority) {
    if (!by_priority_) depth_ = provider_.NewDepthMetric(name_, "");
    adds_ = provider_.NewAddsMetric(name_);
    latency_ = provider_.NewLatencyMetric(name_);
    work_duration_ = provider_.NewWorkDurationMetric(name_);
    retries_ = provider_.NewRetriesMetric(name_);
    unfinished_ = provider_.NewUnfinishedWorkSecondsMetric(name_, std::move(in_hand.unfinished));
    longest_ = provider_.NewLongestRunningProcessorSecondsMetric(name_, std::move(in_hand.longest));
  }

  void Added() {
    Quietly([&] { Inc(adds_.get()); });
  }
  void Ready(int priority) {
    Quietly([&] { Inc(DepthOf(priority)); });
  }
  void NotReady(int priority) {
    Quietly([&] {
      if (Gauge* depth = DepthOf(priority)) depth->Dec();
    });
  }
  void Waited(Duration time) {
    Quietly([&] { Observe(latency_.get(), time); });
  }
  void Worked(Duration time) {
    Quietly([&] { Observe(work_duration_.get(), time); });
  }
  void Retried() {
    Quietly([&] { Inc(retries_.get()); });
  }

 private:
  using Label = std::optional<int>;  // a priority; nothing: all those beyond kPriorities
  using Depths = std::map<Label, std::unique_ptr<Gauge>>;

  template <typename M>
  static void Inc(M* metric) {
    if (metric != nullptr) metric->Inc();
  }
  static void Observe(Histogram* histogram, Duration time) {
    if (histogram == nullptr) return;
    histogram->Observe(std::chrono::duration<double>(time).count());
  }

  template <typename F>
  static void Quietly(F tell) {
    try {
      tell();
    } catch (...) {  // NOLINT(bugprone-empty-catch): see above
    }
  }

  static Label LabelOf(const Depths& depths, int priority) {
    const std::size_t own = depths.size() - depths.count(std::nullopt);
    return own < kPriorities || depths.contains(priority) ? Label(priority) : std::nullopt;
  }
  Gauge* DepthOf(int priority);

  MetricsProvider& provider_;
  const std::string name_;
  const bool by_priority_;
  std::unique_ptr<Gauge> depth_;  // of an order without priorities
  Guarded<Depths> depths_;        // of an order with them
  std::unique_ptr<Counter> adds_;
  std::unique_ptr<Histogram> latency_;
  std::unique_ptr<Histogram> work_duration_;
  std::unique_ptr<Counter> retries_;
  std::unique_ptr<Metric> unfinished_;
  std::unique_ptr<Metric> longest_;
};

inline Gauge* Instruments::DepthOf(int priority) {
  if (!by_priority_) return depth_.get();
  for (;;) {
    Label label;
    {
      auto depths = depths_.Lock();
      label = LabelOf(*depths, priority);
      const auto known = depths->find(label);
      if (known != depths->end()) return known->second.get();
    }
    // Without the lock: it is not our code. Another priority may take the label meanwhile.
    auto made = provider_.NewDepthMetric(name_, label ? std::to_string(*label) : kOtherPriorities);
    auto depths = depths_.Lock();
    if (LabelOf(*depths, priority) != label) continue;
    return depths->try_emplace(label, std::move(made)).first->second.get();
  }
}

}  // namespace kopp::workqueue
