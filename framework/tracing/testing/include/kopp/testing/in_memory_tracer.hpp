#pragma once

#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/tracing.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::testing {

/// A span that has ended.
struct RecordedSpan {
  std::string name = {};
  SpanKind kind = SpanKind::kInternal;
  SpanContext context = {};
  std::string parent_id = {};  ///< SpanContext::span_id of the parent; empty: none
  std::map<std::string, SpanValue> attributes = {};
  std::optional<std::string> error = {};
  TimePoint start = {};
  TimePoint end = {};
};

/// A Tracer for tests that keeps the spans in memory. Thread-safe.
class InMemoryTracer final : public Tracer {
 public:
  /// `clock` must outlive the tracer.
  explicit InMemoryTracer(Clock& clock) : clock_(clock) {}

  std::unique_ptr<Span> StartSpan(std::string_view name, SpanOptions options) override;

  /// Blocks until at least `count` spans have ended; returns all of them in the order of their
  /// ends. There is no timeout.
  [[nodiscard]] std::vector<RecordedSpan> Await(std::size_t count);

 private:
  class ActiveSpan;

  Clock& clock_;
  kopp::detail::Guarded<std::vector<RecordedSpan>> ended_;
  std::condition_variable changed_;
};

}  // namespace kopp::testing
