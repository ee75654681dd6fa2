#pragma once

#include "client/write_loop_detector.hpp"

#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include <kopp/events.hpp>
#include <kopp/log.hpp>
#include <kopp/metrics.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// Reports write loops: in the log, as a Warning Event "WriteLoop" of the object, and as a metric.
/// Thread-safe.
class WriteLoopReporter {
 public:
  /// The metric names this many objects, and counts the loops of further ones without their names.
  static constexpr std::size_t kMaxNamedObjects = 20;

  /// `metrics` may be null, and must outlive this object.
  WriteLoopReporter(Logger log, Metrics* metrics) : log_(std::move(log)), metrics_(metrics) {}

  /// `cluster` is empty for the cluster of the Manager. Objects of others get no Event.
  void Report(const detail::WriteLoop& loop, std::string_view cluster);
  /// Records Events until Stop. `events` must live until then.
  void Start(EventRecorder& events) { events_.Lock()->recorder = &events; }
  void Stop() { events_.Lock()->recorder = nullptr; }

 private:
  struct Events {
    EventRecorder* recorder = nullptr;  // null: not started
  };

  [[nodiscard]] ObjectKey NameInMetric(const ObjectKey& key);

  const Logger log_;
  Metrics* const metrics_;
  detail::Guarded<Events> events_;
  detail::Guarded<std::set<ObjectKey>> named_;
};

}  // namespace kopp
