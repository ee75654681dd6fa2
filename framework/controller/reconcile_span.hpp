#pragma once

#include "reconcile_outcome.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <kopp/client.hpp>
#include <kopp/controller/reason.hpp>
#include <kopp/informer/object_key.hpp>
#include <kopp/log.hpp>
#include <kopp/tracing.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The span of one reconcile. Without a tracer it does nothing, and nothing is allocated.
class ReconcileSpan {
 public:
  struct Attributes {
    std::string_view controller;
    const std::string& field_manager;
    const ObjectKey& key;
    const std::string& id;
    int retries = 0;
    std::optional<Duration> queue_wait = {};
    const Reasons& reasons;
  };

  /// Starts the span. `tracer` may be null; else it must outlive the object.
  ReconcileSpan(Tracer* tracer, const Attributes& attributes);

  /// Returns the span, or null.
  [[nodiscard]] Span* get() const { return span_.get(); }
  /// Returns `log` with the ids of the span.
  [[nodiscard]] Logger With(const Logger& log) const;
  /// Returns a copy of `client` whose calls are children of the span, or nullopt.
  [[nodiscard]] std::optional<Client> With(const Client& client) const;
  /// Ends the span.
  void End(const ReconcileOutcome& outcome) const;

 private:
  Tracer* tracer_;
  std::unique_ptr<Span> span_;  // null without a tracer
};

}  // namespace kopp
