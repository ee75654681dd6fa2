#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include <kopp/transport/rate_limiting_transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

constexpr int kAllCalls = 0;

int BurstOf(const RateLimit& limit) {
  if (limit.burst > 0) return limit.burst;
  const double twice = std::ceil(2 * limit.qps);
  return twice < std::numeric_limits<int>::max() ? static_cast<int>(twice)
                                                 : std::numeric_limits<int>::max();
}

}  // namespace

RateLimitingTransport::RateLimitingTransport(std::shared_ptr<Transport> next, RateLimit limit,
                                             Logger log, Clock& clock, RateLimitObserver observer)
    : next_(std::move(next)),
      log_(std::move(log)),
      clock_(clock),
      observer_(std::move(observer)),
      bucket_(limit.qps, BurstOf(limit), clock) {}

ApiResponse RateLimitingTransport::Call(const ApiRequest& request, std::stop_token stop) {
  const Duration wait = bucket_.When(kAllCalls);
  if (wait > Duration::zero()) {
    if (!SleepUntil(clock_, SaturatingAdd(clock_.Now(), wait), stop)) {
      throw TransportError(TransportError::Kind::kCancelled,
                           request.method + " " + request.target +
                               ": cancelled before it was sent because a stop was requested");
    }
    LogWait(request, wait);
  }
  if (observer_) observer_(request.method, wait);
  return next_->Call(request, std::move(stop));
}

std::unique_ptr<Stream> RateLimitingTransport::Open(const ApiRequest& request,
                                                    std::stop_token stop) {
  return next_->Open(request, std::move(stop));
}

void RateLimitingTransport::LogWait(const ApiRequest& request, Duration wait) const {
  if (wait <= 50ms) return;
  log_.V(wait > 1s ? 0 : 3)
      .Info("Waited before sending request",
            {{"delay", std::chrono::duration<double>(wait).count()},
             {"reason", "client-side throttling, not priority and fairness"},
             {"verb", request.method},
             {"path", std::string_view(request.target).substr(0, request.target.find('?'))}});
}

}  // namespace kopp
