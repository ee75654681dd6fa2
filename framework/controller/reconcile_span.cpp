#include "reconcile_span.hpp"

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include <kopp/controller/reconcile_event.hpp>

namespace kopp {

ReconcileSpan::ReconcileSpan(Tracer* tracer, const Attributes& attributes) : tracer_(tracer) {
  if (tracer == nullptr) return;
  std::vector<SpanAttribute> all{{"kopp.controller", std::string(attributes.controller)},
                                 {"kopp.field_manager", attributes.field_manager},
                                 {"k8s.namespace.name", attributes.key.ns},
                                 {"kopp.object.name", attributes.key.name},
                                 {"kopp.reconcile_id", attributes.id},
                                 {"kopp.retries", std::int64_t{attributes.retries}}};
  if (attributes.queue_wait) {
    const double seconds = std::chrono::duration<double>(*attributes.queue_wait).count();
    all.emplace_back("kopp.queue_wait_seconds", seconds);
  }
  if (!attributes.reasons.empty()) {
    all.emplace_back("kopp.reasons", attributes.reasons.ToString());
  }
  span_ = tracer->StartSpan("reconcile " + std::string(attributes.controller),
                            {.attributes = std::move(all)});
}

Logger ReconcileSpan::With(const Logger& log) const {
  if (!span_) return log;
  const SpanContext& context = span_->context();
  return log.With({{"trace_id", context.trace_id}, {"span_id", context.span_id}});
}

std::optional<Client> ReconcileSpan::With(const Client& client) const {
  if (!span_) return std::nullopt;
  return client.WithTracing(*tracer_, span_->context());
}

void ReconcileSpan::End(const ReconcileOutcome& outcome) const {
  if (!span_) return;
  span_->SetAttribute("kopp.result", std::string(ToString(outcome.result)));
  if (outcome.result == ReconcileResult::kError) span_->SetError(outcome.error.ToString());
  span_->End();
}

}  // namespace kopp
