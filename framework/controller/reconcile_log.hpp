#pragma once

#include "reconcile_outcome.hpp"

#include <optional>
#include <string>
#include <string_view>

#include <kopp/informer/object_key.hpp>
#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// Writes the log lines of reconciles: their start at -v=5, their success at -v=4, errors always.
/// Messages and keys are those of controller-runtime. Thread-safe.
class ReconcileLog {
 public:
  /// `log` adds the controller to each line.
  /// `kind` is that of the objects and must outlive the object.
  ReconcileLog(const Logger& log, std::string_view kind)
      : log_(log), starts_(log.V(5)), results_(log.V(4)), kind_(kind) {}

  /// Returns the logger for the Context of one reconcile.
  [[nodiscard]] Logger ForReconcile(const ObjectKey& key, const std::string& id) const {
    return log_.With({{kind_, LogValue::Reference(key)},
                      {"namespace", key.ns},
                      {"name", key.name},
                      {"reconcileID", id}});
  }

  /// `log` is ForReconcile of the reconcile.
  void Started(const Logger& log, int retries, std::optional<Duration> queue_wait) const;
  void Triggered(const Logger& log, const Reasons& reasons) const;
  void Ended(const Logger& log, const ReconcileOutcome& outcome) const;
  void Paused(const ObjectKey& key) const;
  /// Logs that something other than the reconcile function failed. Does not throw.
  void Failed(const ObjectKey& key, std::string_view message, std::string_view error) const;

 private:
  Logger log_;
  Logger starts_;
  Logger results_;
  std::string_view kind_;
};

}  // namespace kopp
