#pragma once

#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/response.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Handles /healthz, /livez, /readyz and the paths of their checks. This server is always healthy.
/// With the query parameter "verbose", the response lists the checks. Returns an empty optional for
/// other paths.
[[nodiscard]] std::optional<ServerResponse> HandleHealth(const ServerRequest& request);

/// Counts the requests for resources, and serves the counts at /metrics as the metric
/// apiserver_request_total of kube-apiserver. Thread-safe.
class RequestMetrics {
 public:
  /// Counts a request for `resource` that got a response with `status`.
  void Count(const ServerRequest& request, const Resource& resource, int status);
  /// Returns the counts in the Prometheus text format.
  [[nodiscard]] ServerResponse Report();

 private:
  detail::Guarded<std::map<std::string, std::uint64_t>> counts_;  ///< by the labels as text
};

}  // namespace kopp::apiserver
