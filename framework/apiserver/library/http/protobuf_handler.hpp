#pragma once

#include "api/request_handler.hpp"

namespace kopp::apiserver {

/// Converts between the protobuf bodies of clients and the JSON bodies inside the server, so that
/// the audit log and the injected faults see JSON. Thread-safe. `handler` must outlive it.
///
/// The content type of a response from `handler` is the one that the client receives; its body is
/// JSON in any case. This class also converts the errors and the discovery documents, for which
/// `handler` does not look at the Accept header.
class ProtobufHandler final : public RequestHandler {
 public:
  explicit ProtobufHandler(RequestHandler& handler) : handler_(handler) {}

  /// Passes a body that cannot be decoded on: only the handler of a resource knows the error.
  ServerResponse Handle(const ServerRequest& request) override;

 private:
  RequestHandler& handler_;
};

}  // namespace kopp::apiserver
