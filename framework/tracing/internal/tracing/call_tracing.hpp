#pragma once

#include <stop_token>
#include <utility>

#include <kopp/tracing.hpp>
#include <kopp/transport.hpp>

namespace kopp::detail {

/// The spans of the calls of a client. Thread-safe.
struct CallTracing {
  CallTracing(Tracer& spans_of, SpanContext parent_span)
      : tracer(spans_of), parent(std::move(parent_span)) {}

  Tracer& tracer;
  SpanContext parent;

  /// Sends the request with a span of its own. Returns and throws as Transport::Call does.
  ApiResponse Call(Transport& transport, ApiRequest request, const std::stop_token& stop) const;
};

}  // namespace kopp::detail
