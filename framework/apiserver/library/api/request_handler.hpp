#pragma once

#include "api/request.hpp"
#include "api/response.hpp"

namespace kopp::apiserver {

/// Handles requests: the API itself, or a filter in front of it.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  RequestHandler(const RequestHandler&) = delete;
  RequestHandler& operator=(const RequestHandler&) = delete;

  /// Returns the response to a request. Thread-safe. Does not throw: an error becomes a Status
  /// response.
  virtual ServerResponse Handle(const ServerRequest& request) = 0;

 protected:
  RequestHandler() = default;
};

}  // namespace kopp::apiserver
