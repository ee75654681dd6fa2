#pragma once

#include "metric_family.hpp"

#include <string_view>
#include <vector>

#include <prometheus/collectable.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>

#include <kopp/workqueue/clock.hpp>

namespace kopp {

struct RequestEvent;

/// The metrics `rest_client_…` of requests to the API server, with the names, labels and buckets of
/// client-go. Thread-safe.
class RestClientCollector final : public prometheus::Collectable {
 public:
  /// Counts a request. A stream has neither a duration nor a size of its response.
  void Observe(const RequestEvent& event);
  /// Observes the wait of a call for its turn in the rate limit.
  void ObserveRateLimiter(std::string_view method, std::string_view host, Duration wait);

  /// Returns no family without a series.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  using Counters = PermanentFamily<prometheus::Counter>;
  using Histograms = PermanentFamily<prometheus::Histogram>;

  Counters requests_{"rest_client_requests_total",
                     "Number of requests to the API server, by status code, method and host."};
  Histograms duration_{
      "rest_client_request_duration_seconds",
      "Seconds from sending a request to the API server until its response is complete, by verb "
      "and host. Streams are not included."};
  Histograms rate_limiter_{
      "rest_client_rate_limiter_duration_seconds",
      "Seconds that a request waits for the client-side rate limit, by verb and host."};
  Histograms request_size_{"rest_client_request_size_bytes",
                           "Bytes of the body of a request, by verb and host."};
  Histograms response_size_{
      "rest_client_response_size_bytes",
      "Bytes of the body of a response, by verb and host. Streams are not included."};
  Counters retries_{"rest_client_request_retries_total",
                    "Number of retries of requests, by the status code of the retry, verb and "
                    "host."};
};

}  // namespace kopp
