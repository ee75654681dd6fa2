#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/metrics.hpp>

namespace kopp::workqueue {

/// The metrics of one queue. Safe to use from any thread; called with no lock of the queue's held.
/// A metric that throws is skipped: work does not stop because it cannot be counted.
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
    Quietly([&] { adds_->Inc(); });
  }
  void Ready(int priority) {
    Quietly([&] { DepthOf(priority).Inc(); });
  }
  void NotReady(int priority) {
    Quietly([&] { DepthOf(priority).Dec(); });
  }
  void Waited(Duration time) {
    Quietly([&] { latency_->Observe(Seconds(time)); });
  }
  void Worked(Duration time) {
    Quietly([&] { work_duration_->Observe(Seconds(time)); });
  }
  void Retried() {
    Quietly([&] { retries_->Inc(); });
  }

 private:
  static double Seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

  template <typename F>
  static void Quietly(F tell) {
    try {
      tell();
    } catch (...) {  // NOLINT(bugprone-empty-catch): see above
    }
  }

  Gauge& DepthOf(int priority);

  MetricsProvider& provider_;
  const std::string name_;
  const bool by_priority_;
  std::unique_ptr<Gauge> depth_;                                   // of an order without priorities
  Guarded<std::map<std::string, std::unique_ptr<Gauge>>> depths_;  // else by label
  std::unique_ptr<Counter> adds_;
  std::unique_ptr<Histogram> latency_;
  std::unique_ptr<Histogram> work_duration_;
  std::unique_ptr<Counter> retries_;
  std::unique_ptr<Metric> unfinished_;
  std::unique_ptr<Metric> longest_;
};

inline Gauge& Instruments::DepthOf(int priority) {
  if (!by_priority_) return *depth_;
  std::string label = std::to_string(priority);
  {
    auto depths = depths_.Lock();
    if (!depths->contains(label) && depths->size() >= kPriorities) label = kOtherPriorities;
    const auto known = depths->find(label);
    if (known != depths->end()) return *known->second;
  }
  auto made = provider_.NewDepthMetric(name_, label);  // without the lock: it is not our code
  return *depths_.Lock()->try_emplace(std::move(label), std::move(made)).first->second;
}

}  // namespace kopp::workqueue
