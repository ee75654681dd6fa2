#include "recording/recorder.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp {
namespace {

using nlohmann::json;

json ToJson(const SpanValue& value) {
  return std::visit([](const auto& held) { return json(held); }, value);
}

// Returns an attribute of a span as JSON, or null if there is none with this name.
json Attribute(const std::vector<SpanAttribute>& attributes, std::string_view name) {
  const auto found = std::ranges::find(attributes, name, &SpanAttribute::first);
  return found == attributes.end() ? json() : ToJson(found->second);
}

// Returns false for the context of a span that is not recorded, whose ids are zero.
bool IsValid(const SpanContext& context) {
  return context.trace_id.find_first_not_of('0') != std::string::npos;
}

// A span of the next tracer, or one without any effect.
class ForwardingSpan : public Span {
 public:
  // `next` may be null.
  ForwardingSpan(std::unique_ptr<Span> next, const SpanContext* parent)
      : next_(std::move(next)),
        context_(next_ && IsValid(next_->context()) ? next_->context() : SpanContext::New(parent)) {
  }

  [[nodiscard]] const SpanContext& context() const override { return context_; }
  void SetAttribute(std::string_view key, SpanValue value) override {
    if (next_) next_->SetAttribute(key, std::move(value));
  }
  void SetError(std::string_view description) override {
    if (next_) next_->SetError(description);
  }
  void End() override {
    if (next_) next_->End();
  }

 private:
  const std::unique_ptr<Span> next_;
  const SpanContext context_;
};

// The span of a reconcile, whose start and end are recorded.
class ReconcileSpanRecord final : public ForwardingSpan {
 public:
  ReconcileSpanRecord(std::unique_ptr<Span> next, const std::vector<SpanAttribute>& attributes,
                      std::shared_ptr<Recorder> recorder)
      : ForwardingSpan(std::move(next), nullptr), recorder_(std::move(recorder)) {
    json entry{{"reconcile", context().trace_id},
               {"controller", Attribute(attributes, "kopp.controller")},
               {"fieldManager", Attribute(attributes, "kopp.field_manager")},
               {"namespace", Attribute(attributes, "k8s.namespace.name")},
               {"name", Attribute(attributes, "kopp.object.name")},
               {"retries", Attribute(attributes, "kopp.retries")}};
    const json reasons = Attribute(attributes, "kopp.reasons");
    if (!reasons.is_null()) entry["reasons"] = reasons;
    recorder_->Write(std::move(entry));
  }

  void SetAttribute(std::string_view key, SpanValue value) override {
    if (key == "kopp.result") result_["result"] = ToJson(value);
    ForwardingSpan::SetAttribute(key, std::move(value));
  }
  void SetError(std::string_view description) override {
    result_["error"] = recorder_->redactor().RedactText(std::string(description));
    ForwardingSpan::SetError(description);
  }
  void End() override {
    result_["reconciled"] = context().trace_id;
    recorder_->Write(std::exchange(result_, json::object()));
    ForwardingSpan::End();
  }

 private:
  const std::shared_ptr<Recorder> recorder_;
  json result_ = json::object();
};

class RecordingTracer final : public Tracer {
 public:
  RecordingTracer(std::shared_ptr<Tracer> next, std::shared_ptr<Recorder> recorder)
      : next_(std::move(next)), recorder_(std::move(recorder)) {}

  std::unique_ptr<Span> StartSpan(std::string_view name, SpanOptions options) override {
    const bool is_reconcile = !Attribute(options.attributes, "kopp.controller").is_null();
    const SpanContext* parent = options.parent;
    const std::vector<SpanAttribute> attributes =
        is_reconcile ? options.attributes : std::vector<SpanAttribute>();
    auto next = next_ ? next_->StartSpan(name, std::move(options)) : nullptr;
    if (!is_reconcile) return std::make_unique<ForwardingSpan>(std::move(next), parent);
    return std::make_unique<ReconcileSpanRecord>(std::move(next), attributes, recorder_);
  }

 private:
  const std::shared_ptr<Tracer> next_;
  const std::shared_ptr<Recorder> recorder_;
};

}  // namespace

std::shared_ptr<Tracer> WithRecordedReconciles(std::shared_ptr<Tracer> next,
                                               std::shared_ptr<Recorder> recorder) {
  return std::make_shared<RecordingTracer>(std::move(next), std::move(recorder));
}

}  // namespace kopp
