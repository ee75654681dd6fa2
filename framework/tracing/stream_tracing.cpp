#include "tracing/stream_tracing.hpp"

#include <cstdint>
#include <exception>
#include <string>

#include <kopp/transport/observing_transport.hpp>

namespace kopp::detail {
namespace {

/// A stream whose span ends with it.
class TracedStream final : public Stream {
 public:
  TracedStream(std::unique_ptr<Span> span, std::unique_ptr<Stream> next, std::stop_token stop)
      : span_(std::move(span)), next_(std::move(next)), stop_(std::move(stop)) {}

  [[nodiscard]] const ApiResponse& head() const override { return next_->head(); }
  Chunk Read(Duration limit) override {
    try {
      return next_->Read(limit);
    } catch (const std::exception& error) {
      if (!stop_.stop_requested()) span_->SetError(error.what());
      throw;
    }
  }

 private:
  const std::unique_ptr<Span> span_;
  const std::unique_ptr<Stream> next_;
  const std::stop_token stop_;
};

bool IsWatch(const std::string& target) {
  const auto query = target.find('?');
  return query != std::string::npos && target.find("watch=", query) != std::string::npos;
}

}  // namespace

/// The names of attributes are those of OpenTelemetry's conventions for HTTP clients.
std::unique_ptr<Stream> StreamTracingTransport::Open(const ApiRequest& request,
                                                     std::stop_token stop) {
  const std::string path_template = PathTemplate(request.target);
  auto span = tracer_->StartSpan(
      (IsWatch(request.target) ? "WATCH" : request.method) + ' ' + path_template,
      {.kind = SpanKind::kClient,
       .attributes = {{"http.request.method", request.method},
                      {"url.path", request.target.substr(0, request.target.find('?'))},
                      {"url.template", path_template}}});
  ApiRequest traced = request;
  traced.traceparent = span->context().Traceparent();
  try {
    auto stream = next_->Open(traced, stop);
    const int status = stream->head().status;
    span->SetAttribute("http.response.status_code", std::int64_t{status});
    if (status >= 400) span->SetError("HTTP status " + std::to_string(status));
    return std::make_unique<TracedStream>(std::move(span), std::move(stream), std::move(stop));
  } catch (const std::exception& error) {
    if (span && !stop.stop_requested()) span->SetError(error.what());
    throw;
  }
}

}  // namespace kopp::detail
