#include <utility>

#include <kopp/testing/in_memory_tracer.hpp>

namespace kopp::testing {

class InMemoryTracer::ActiveSpan final : public Span {
 public:
  ActiveSpan(InMemoryTracer& tracer, std::string_view name, SpanOptions&& options)
      : tracer_(tracer),
        span_{.name = std::string(name),
              .kind = options.kind,
              .context = SpanContext::New(options.parent),
              .start = tracer.clock_.Now()} {
    if (options.parent != nullptr) span_.parent_id = options.parent->span_id;
    for (auto& [key, value] : options.attributes) span_.attributes[key] = std::move(value);
  }
  ~ActiveSpan() override { Finish(); }
  ActiveSpan(const ActiveSpan&) = delete;
  ActiveSpan& operator=(const ActiveSpan&) = delete;

  [[nodiscard]] const SpanContext& context() const override { return span_.context; }
  void SetAttribute(std::string_view key, SpanValue value) override {
    span_.attributes[std::string(key)] = std::move(value);
  }
  void SetError(std::string_view description) override { span_.error = description; }
  void End() override { Finish(); }

 private:
  void Finish() {
    if (std::exchange(ended_, true)) return;
    span_.end = tracer_.clock_.Now();
    tracer_.ended_.Lock()->push_back(span_);
    tracer_.changed_.notify_all();
  }

  InMemoryTracer& tracer_;
  RecordedSpan span_;
  bool ended_ = false;
};

std::unique_ptr<Span> InMemoryTracer::StartSpan(std::string_view name, SpanOptions options) {
  return std::make_unique<ActiveSpan>(*this, name, std::move(options));
}

std::vector<RecordedSpan> InMemoryTracer::Await(std::size_t count) {
  auto ended = ended_.Lock();
  ended.Wait(changed_, [&] { return ended->size() >= count; });
  return *ended;
}

}  // namespace kopp::testing
