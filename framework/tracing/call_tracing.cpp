#include "tracing/call_tracing.hpp"

#include <cstdint>
#include <exception>
#include <string>

#include <kopp/transport/observing_transport.hpp>

namespace kopp::detail {

/// The names of attributes are those of OpenTelemetry's conventions for HTTP clients.
ApiResponse CallTracing::Call(Transport& transport, ApiRequest request,
                              const std::stop_token& stop) const {
  const std::string path_template = PathTemplate(request.target);
  const auto span = tracer.StartSpan(
      request.method + ' ' + path_template,
      {.kind = SpanKind::kClient,
       .parent = &parent,
       .attributes = {{"http.request.method", request.method},
                      {"url.path", request.target.substr(0, request.target.find('?'))},
                      {"url.template", path_template}}});
  request.traceparent = span->context().Traceparent();
  try {
    ApiResponse response = transport.Call(request, stop);
    span->SetAttribute("http.response.status_code", std::int64_t{response.status});
    if (response.status >= 400) span->SetError("HTTP status " + std::to_string(response.status));
    span->End();
    return response;
  } catch (const std::exception& error) {
    span->SetError(error.what());
    span->End();
    throw;
  }
}

}  // namespace kopp::detail
