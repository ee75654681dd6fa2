#pragma once

#include "net/byte_budget.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

// The requests, responses and response bodies of the HTTP server.
namespace kopp::detail {

using HttpMessage = boost::beast::http::request<boost::beast::http::string_body>;

/// The certificate that a client presented in its TLS handshake.
struct ClientCertificate {
  bool presented = false;
  bool verified = false;  ///< issued by the server's client CA; the fields below are set only then
  std::string common_name{};
  std::vector<std::string> organizations{};
};

/// A complete request that the server has received.
struct IncomingRequest {
  HttpMessage message{};
  ClientCertificate client{};
  HeldBytes held{};  ///< the bytes of the body; to be moved to the response
};

/// A response body that is produced over time, such as a watch. Used in the network thread of the
/// server only. The server takes more bytes only after it has written the previous bytes to the
/// socket, so the output for a slow client does not pile up.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  BodyStream(const BodyStream&) = delete;
  BodyStream& operator=(const BodyStream&) = delete;

  /// Returns the bytes that are ready, or "" if there are none yet. Does not block.
  virtual std::string Take() = 0;
  /// Returns whether the stream is complete: Take returns no more bytes.
  [[nodiscard]] virtual bool ended() const = 0;
  /// Returns whether an ended stream is incomplete. The server then resets the connection, so that
  /// the client does not treat the body as complete.
  [[nodiscard]] virtual bool aborted() const { return false; }
  /// Called when all bytes are sent and the stream has not ended. The stream must call
  /// HttpListener::Wake when Take may return bytes again.
  virtual void OnDrained() {}

 protected:
  BodyStream() = default;
};

/// A response for the server to send.
struct OutgoingResponse {
  /// The point at which the server resets the connection instead of completing the response.
  enum class Abort { kNever, kBeforeHead, kAfterBody };

  int status = 200;
  /// Header lines, each ended by CRLF, without Content-Length, Transfer-Encoding and Connection.
  std::string headers{};
  std::string body{};
  std::unique_ptr<BodyStream> stream{};         ///< sent after `body`; may be null
  std::optional<std::size_t> content_length{};  ///< default: the size of `body`
  Abort abort = Abort::kNever;
  HeldBytes held{};  ///< of the request; freed when the response is sent, or the connection closed
};

/// The status and text of the response to an invalid request.
struct RequestError {
  int status = 400;
  std::string text{};
};
/// Checks what HTTP/1.1 (RFC 9112) requires beyond the grammar: one Host header, a supported
/// Transfer-Encoding and Expect, a target that is a path. Returns nullopt for a valid request.
[[nodiscard]] std::optional<RequestError> FindRequestError(const HttpMessage& request);

/// Returns the path and query of a request target, which may be in absolute form
/// ("http://host/path").
[[nodiscard]] std::string_view OriginForm(std::string_view target);

/// Returns all values of a header, joined by ", "; "" if it is absent. Replaces bytes other than
/// visible ASCII and spaces by '?'.
[[nodiscard]] std::string HeaderOf(const HttpMessage& request, std::string_view name);

/// Options of FormatHead.
struct HeadOptions {
  bool keep_alive = true;
  bool http10 = false;  ///< the client uses HTTP/1.0
  /// The length of the body. If empty, the body is chunked; in HTTP/1.0 it ends with the
  /// connection.
  std::optional<std::size_t> length{};
};
/// Returns the status line and all headers of `response`, with the empty line after them.
[[nodiscard]] std::string FormatHead(const OutgoingResponse& response, const HeadOptions& options);

/// Returns one chunk of a chunked body. An empty chunk ends the body.
[[nodiscard]] std::string FormatChunk(std::string_view bytes);

}  // namespace kopp::detail
