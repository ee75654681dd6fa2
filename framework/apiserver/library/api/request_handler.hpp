#pragma once

#include "api/request.hpp"
#include "api/response.hpp"

namespace kopp::apiserver {

/// Handles requests: the API itself, or a filter in front of it.
class RequestHandler {
 public:
  /// Returns the response to a request. Thread-safe. Does not throw: an error becomes a Status
  /// response.
  virtual ServerResponse Handle(const ServerRequest& request) = 0;

 protected:
  RequestHandler() = default;
  ~RequestHandler() = default;
  RequestHandler(const RequestHandler&) = default;
  RequestHandler& operator=(const RequestHandler&) = default;
};

}  // namespace kopp::apiserver
