#include <utility>

#include <kopp/transport/transport_policies.hpp>

namespace kopp {
namespace {

constexpr int kRequestVerbosity = 6;  // that of client-go

}  // namespace

std::unique_ptr<Transport> WithPolicies(std::shared_ptr<Transport> transport,
                                        TransportPolicies policies) {
  std::vector<RequestObserver> observers = std::move(policies.observers);
  observers.push_back(LogWarnings(policies.log));
  const Logger request_log = policies.log.V(kRequestVerbosity);
  if (request_log.Enabled()) observers.push_back(LogRequests(request_log));

  transport = std::make_shared<ObservingTransport>(std::move(transport), std::move(observers),
                                                   std::move(policies.host), policies.clock);
  if (policies.rate_limit.qps > 0) {
    transport = std::make_shared<RateLimitingTransport>(std::move(transport), policies.rate_limit,
                                                        policies.log, policies.clock,
                                                        std::move(policies.on_rate_limit));
  }
  return std::make_unique<RetryingTransport>(std::move(transport), policies.retry, policies.clock);
}

}  // namespace kopp
