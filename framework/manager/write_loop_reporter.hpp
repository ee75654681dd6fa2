#pragma once

#include "client/write_loop_detector.hpp"

#include <cstddef>
#include <map>
#include <string>
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
  /// The metric names this many objects, with the fields and writers of their first loops. It
  /// counts the loops of further ones without labels.
  static constexpr std::size_t kMaxNamedObjects = 20;

  /// `metrics` may be null, and must outlive this object.
  WriteLoopReporter(Logger log, Metrics* metrics) : log_(std::move(log)), metrics_(metrics) {}

  /// `cluster` is empty for the cluster of the Manager. Objects of others get no Event. Does not
  /// throw: without memory, it reports nothing.
  void Report(const detail::WriteLoop& loop, std::string_view cluster);
  /// Records Events until Stop. `events` must live until then.
  void Start(EventRecorder& events) { events_.Lock()->recorder = &events; }
  void Stop() { events_.Lock()->recorder = nullptr; }

 private:
  struct Events {
    EventRecorder* recorder = nullptr;  // null: not started
  };
  /// The labels of an object in the metric.
  struct Labels {
    ObjectKey key = {};
    std::string fields = {};
    std::string writers = {};
  };

  void ReportOrThrow(const detail::WriteLoop& loop, std::string_view cluster);
  [[nodiscard]] Labels LabelsOf(const detail::WriteLoop& loop);

  const Logger log_;
  Metrics* const metrics_;
  detail::Guarded<Events> events_;
  detail::Guarded<std::map<std::pair<std::string, ObjectKey>, Labels>> named_;  // by kind and key
};

}  // namespace kopp
