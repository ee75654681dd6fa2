#pragma once

#include <memory>
#include <string>
#include <vector>

#include <kopp/log.hpp>
#include <kopp/transport.hpp>
#include <kopp/transport/observing_transport.hpp>
#include <kopp/transport/rate_limiting_transport.hpp>
#include <kopp/transport/retrying_transport.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The options of WithPolicies.
struct TransportPolicies {
  RetryPolicy retry{};
  RateLimit rate_limit{};                    ///< off by default
  std::vector<RequestObserver> observers{};  ///< called for each request
  RateLimitObserver on_rate_limit{};         ///< called for each call if there is a rate limit
  std::string host{};                        ///< RequestEvent::host
  Logger log{};                              ///< requests at verbosity 6, warnings, long waits
  Clock& clock = Clock::Real();              ///< must outlive the transport
};

/// Returns a transport with the policies of kopp::Manager, for a program without one: retries of
/// calls, a limit of their rate, a log of requests and of the warnings of the API server.
///
///     const Config config = LoadConfig();
///     const auto transport =
///         WithPolicies(MakeTransport(config, {.user_agent = UserAgent("backup", "v1.2")}),
///                      {.rate_limit = {.qps = 20}});
///     const Client client{*transport};
///
/// Each try of a call takes its turn in the rate limit and is observed.
[[nodiscard]] std::unique_ptr<Transport> WithPolicies(std::shared_ptr<Transport> transport,
                                                      TransportPolicies policies = {});

}  // namespace kopp
