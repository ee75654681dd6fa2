#include "base/uuid.hpp"

#include <kopp/tracing.hpp>

namespace kopp {

std::string SpanContext::Traceparent() const {
  return "00-" + trace_id + '-' + span_id + (sampled ? "-01" : "-00");
}

SpanContext SpanContext::New(const SpanContext* parent) {
  constexpr std::size_t kTraceIdDigits = 32;
  constexpr std::size_t kSpanIdDigits = 16;
  SpanContext context{.span_id = detail::RandomHexDigits(kSpanIdDigits)};
  context.trace_id = parent == nullptr ? detail::RandomHexDigits(kTraceIdDigits) : parent->trace_id;
  if (parent != nullptr) context.sampled = parent->sampled;
  return context;
}

}  // namespace kopp
