#pragma once

#include "faults/audit_log.hpp"
#include "handlers/api_handler.hpp"
#include "script.hpp"
#include "storage/server_context.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::apiserver::fuzz {

/// Thrown for a response that is wrong for any request.
class Finding : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Sends requests to an API server and checks each response. The server starts with the custom
/// resource Foo, and with objects named "a" of some kinds in the namespace default.
class ResponseChecker {
 public:
  ResponseChecker();

  /// Runs one step. Returns the status of the response, or 0 for a wait. Throws Finding if the
  /// response is an unexpected 500 InternalError or not valid JSON, if a GET after a write does not
  /// return the written object, or if a frame of an open watch is not an event.
  int Run(const Step& step);
  /// Throws Finding if an entry of the audit log cannot be serialized.
  void Finish();

 private:
  void CheckResponse(const ServerResponse& response) const;
  void CheckReadBack(const ServerRequest& write, const ServerResponse& response);
  void CheckFrames(const std::string& frames) const;

  testing::FakeClock clock_;
  ServerContext context_;
  ApiHandler api_;
  AuditLog log_;
  std::unique_ptr<RequestHandler> filter_;
  std::vector<std::unique_ptr<WatchResponse>> watches_;
};

}  // namespace kopp::apiserver::fuzz
