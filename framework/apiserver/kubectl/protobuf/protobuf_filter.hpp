#pragma once

#include "api/response.hpp"
#include "storage/server_context.hpp"

#include <optional>

namespace kopp::apiserver {

/// Converts between the protobuf bodies of clients and the JSON bodies inside the server, so that
/// the audit log and the injected faults see JSON. Thread-safe. `context` and `handler` must
/// outlive it.
///
/// The content type of a response from `handler` is the one that the client receives; its body is
/// JSON in any case. This class also converts the errors and the discovery documents, for which
/// `handler` does not look at the Accept header.
class ProtobufFilter final : public RequestHandler {
 public:
  ProtobufFilter(ServerContext& context, RequestHandler& handler)
      : context_(context), handler_(handler) {}

  /// Passes a body that cannot be decoded on, with a BodyError.
  ServerResponse Handle(const ServerRequest& request) override;

 private:
  /// Returns the request with its body in JSON or with a BodyError. Returns nullopt if the request
  /// stays as it is: it has no protobuf body, or one that its resource does not support.
  [[nodiscard]] std::optional<ServerRequest> WithJsonBody(const ServerRequest& request);

  ServerContext& context_;
  RequestHandler& handler_;
};

}  // namespace kopp::apiserver
