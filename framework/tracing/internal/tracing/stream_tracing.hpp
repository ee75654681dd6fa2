#pragma once

#include <memory>
#include <stop_token>
#include <utility>

#include <kopp/tracing.hpp>
#include <kopp/transport.hpp>

namespace kopp::detail {

/// Gives each stream a span, from the request until the stream is destroyed: the lists and watches
/// of informers. Calls have none: see CallTracing. Thread-safe.
class StreamTracingTransport final : public Transport {
 public:
  StreamTracingTransport(std::shared_ptr<Transport> next, std::shared_ptr<Tracer> tracer)
      : next_(std::move(next)), tracer_(std::move(tracer)) {}

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    return next_->Call(request, std::move(stop));
  }
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop) override;

 private:
  const std::shared_ptr<Transport> next_;
  const std::shared_ptr<Tracer> tracer_;
};

}  // namespace kopp::detail
