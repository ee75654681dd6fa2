#include "rest_client_collector.hpp"

#include "metrics/metric_text.hpp"

#include <chrono>
#include <initializer_list>
#include <string>

#include <kopp/transport/observing_transport.hpp>

namespace kopp {
namespace {

using prometheus::Labels;
using Bounds = prometheus::Histogram::BucketBoundaries;

// The bounds of client-go.
Bounds SecondsBounds() { return {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}; }
Bounds BytesBounds() {
  return {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};
}

double InFractionalSeconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

void RestClientCollector::Observe(const RequestEvent& event) {
  const std::string host = ToUtf8(std::string(event.host));
  const std::string method = ToUtf8(std::string(event.method));
  const std::string code = event.error ? "<error>" : std::to_string(event.status);
  const Labels labels{{"verb", method}, {"host", host}};
  requests_.GetOrCreate({{"code", code}, {"method", method}, {"host", host}})->Increment();
  if (event.attempt > 1) {
    retries_.GetOrCreate({{"code", code}, {"verb", method}, {"host", host}})->Increment();
  }
  const auto observe = [&](Histograms& family, const Bounds& bounds, double value) {
    family.GetOrCreate(labels, bounds)->Observe(value);
  };
  observe(request_size_, BytesBounds(), static_cast<double>(event.request_bytes));
  if (event.stream) return;
  observe(duration_, SecondsBounds(), InFractionalSeconds(event.duration));
  if (event.error) return;
  observe(response_size_, BytesBounds(), static_cast<double>(event.response_bytes));
}

void RestClientCollector::ObserveRateLimiter(std::string_view method, std::string_view host,
                                             Duration wait) {
  rate_limiter_
      .GetOrCreate({{"verb", ToUtf8(std::string(method))}, {"host", ToUtf8(std::string(host))}},
                   SecondsBounds())
      ->Observe(InFractionalSeconds(wait));
}

std::vector<prometheus::MetricFamily> RestClientCollector::Collect() const {
  std::vector<prometheus::MetricFamily> all;
  for (const prometheus::Collectable* family :
       std::initializer_list<const prometheus::Collectable*>{
           &requests_, &duration_, &rate_limiter_, &request_size_, &response_size_, &retries_}) {
    for (prometheus::MetricFamily& collected : family->Collect()) {
      all.push_back(std::move(collected));
    }
  }
  return all;
}

}  // namespace kopp
