#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kopp {

/// Identifies a span across processes: the trace context of W3C, which OpenTelemetry uses.
struct SpanContext {
  std::string trace_id = {};  ///< 32 lower-case hexadecimal digits
  std::string span_id = {};   ///< 16 lower-case hexadecimal digits
  bool sampled = true;        ///< whether the trace is recorded

  /// Returns the value of the header `traceparent`: "00-TRACE_ID-SPAN_ID-01".
  [[nodiscard]] std::string Traceparent() const;
  /// Returns the context of a new span with random ids: in the trace of `parent`, or in a new trace
  /// if `parent` is null.
  [[nodiscard]] static SpanContext New(const SpanContext* parent);
};

using SpanValue = std::variant<std::string, std::int64_t, double, bool>;
/// The name and value of an attribute of a span.
using SpanAttribute = std::pair<std::string, SpanValue>;

/// How a span relates to others: SpanKind of OpenTelemetry.
enum class SpanKind {
  kInternal,
  kClient,  ///< a request to another program
};

/// The options of Tracer::StartSpan.
struct SpanOptions {
  SpanKind kind = SpanKind::kInternal;
  const SpanContext* parent = nullptr;  ///< null: a new trace; valid during the call
  std::vector<SpanAttribute> attributes = {};
};

/// An operation with a start and an end. It ends with End, or else with its destructor. Used by one
/// thread at a time. The functions must not throw.
class Span {
 public:
  virtual ~Span() = default;
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  [[nodiscard]] virtual const SpanContext& context() const = 0;
  virtual void SetAttribute(std::string_view key, SpanValue value) = 0;
  /// Sets the status of the span to an error.
  virtual void SetError(std::string_view description) = 0;
  virtual void End() = 0;

 protected:
  Span() = default;
};

/// Creates spans. To export them, implement this interface, for example with opentelemetry-cpp:
/// StartSpan calls Tracer::StartSpan of OpenTelemetry with the parent's ids, and Span wraps its
/// span. Tests use kopp::testing::InMemoryTracer.
///
/// With Options::tracer, each reconcile has a span, and each API call of Context::client a span
/// below it, also if the call is retried. Each list and each watch of an informer has a span in a
/// trace of its own, which ends with the stream: after minutes for a watch. Requests have the
/// header `traceparent`, so that spans of the API server belong to the same trace; log lines of
/// Context::log have the fields `trace_id` and `span_id`.
///
/// Thread-safe. A tracer must outlive its spans. StartSpan must not throw, and does not return
/// null.
class Tracer {
 public:
  virtual ~Tracer() = default;
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  virtual std::unique_ptr<Span> StartSpan(std::string_view name, SpanOptions options) = 0;

 protected:
  Tracer() = default;
};

}  // namespace kopp
