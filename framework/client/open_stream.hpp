#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include <kopp/informer/api_error.hpp>
#include <kopp/transport.hpp>

namespace kopp {

/// Opens a stream. Throws ApiError if the status is not 200; `verb` names the request in its
/// message: "WATCH".
inline std::unique_ptr<Stream> OpenStream(Transport& transport, const ApiRequest& request,
                                          std::string_view verb, const std::stop_token& stop) {
  std::unique_ptr<Stream> stream = transport.Open(request, stop);
  const ApiResponse& head = stream->head();
  if (head.status == 200) return stream;
  throw ApiError::FromBody(std::string(verb) + " " + request.target, head.status, head.body,
                           head.retry_after);
}

}  // namespace kopp
