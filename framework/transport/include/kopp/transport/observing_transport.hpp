#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/log.hpp>
#include <kopp/transport.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// A request and its result. The views are valid while the observer runs.
struct RequestEvent {
  std::string_view method{};  ///< "GET"
  std::string_view path{};    ///< without the query
  /// The path with "{namespace}" and "{name}" instead of names, so that there are few different
  /// ones: "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/status".
  std::string path_template{};
  std::string_view host{};  ///< see ObservingTransport: "10.0.0.1:6443"
  int attempt = 1;          ///< the number of the try
  /// Whether the request opened a stream, as informers do: `duration` ends with the response head,
  /// and the body is not known yet.
  bool stream = false;
  Duration duration{};
  int status = 0;                               ///< 0: there is no complete response
  std::optional<TransportError::Kind> error{};  ///< set if there is no complete response
  std::size_t request_bytes = 0;                ///< of the body
  std::size_t response_bytes = 0;               ///< of the body
  std::span<const std::string> warnings{};      ///< see ApiResponse::warnings
};

/// Called for each request, on its thread, when its result is known. Must be thread-safe and must
/// not throw.
using RequestObserver = std::function<void(const RequestEvent&)>;

/// Returns "/apis/apps/v1/namespaces/{namespace}/deployments/{name}" for the target of a request to
/// a Deployment. For a path without a Kubernetes resource, returns the first segment:
/// "/openapi/{path}". Discovery paths are returned unchanged.
[[nodiscard]] std::string PathTemplate(std::string_view target);

/// Returns an observer that logs each request: method, path without the query, status or error,
/// milliseconds and number of the try. It logs neither headers nor bodies.
[[nodiscard]] RequestObserver LogRequests(Logger log);

/// Returns an observer that logs the warnings of the API server, for example about a deprecated API
/// or an unknown field. Each text is logged once; after 1000 different texts it starts again. Texts
/// are truncated to 1024 bytes.
[[nodiscard]] RequestObserver LogWarnings(Logger log);

/// A Transport that reports each request to observers. A request that was not sent because it is
/// invalid is not reported. Thread-safe.
class ObservingTransport final : public Transport {
 public:
  /// `host` is reported as RequestEvent::host. `clock` must outlive the transport.
  ObservingTransport(std::shared_ptr<Transport> next, std::vector<RequestObserver> observers,
                     std::string host = "", Clock& clock = Clock::Real());

  ApiResponse Call(const ApiRequest& request, std::stop_token stop = {}) override;
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop = {}) override;

 private:
  class Observation;

  const std::shared_ptr<Transport> next_;
  const std::vector<RequestObserver> observers_;
  const std::string host_;
  Clock& clock_;
};

}  // namespace kopp
