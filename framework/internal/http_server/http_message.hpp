#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

// What the HTTP server and its users exchange: requests, responses and response bodies.
namespace kopp::detail {

using HttpMessage = boost::beast::http::request<boost::beast::http::string_body>;

/// The certificate that a client presented in its TLS handshake.
struct ClientCertificate {
  bool presented = false;
  bool verified = false;  ///< issued by the server's client CA; the fields below are set only then
  std::string common_name{};
  std::vector<std::string> organizations{};
};

struct IncomingRequest {
  HttpMessage message{};
  ClientCertificate client{};
};

/// A response body that is produced over time, such as a watch. Used in the server's network thread
/// only. The server takes more bytes only after the client has accepted the previous ones, so a
/// slow client costs no memory.
class BodyStream {
 public:
  virtual ~BodyStream() = default;
  BodyStream(const BodyStream&) = delete;
  BodyStream& operator=(const BodyStream&) = delete;

  /// Returns the bytes that are ready, or "" if there are none yet. Does not block.
  virtual std::string Take() = 0;
  /// Whether no more bytes will come.
  [[nodiscard]] virtual bool ended() const = 0;
  /// Whether an ended stream is incomplete: the server then resets the connection, so that the
  /// client cannot take the body for a whole one.
  [[nodiscard]] virtual bool aborted() const { return false; }
  /// Called when everything was sent and the stream has not ended. The stream has to call
  /// HttpListener::Wake when Take may return bytes again.
  virtual void OnDrained() {}

 protected:
  BodyStream() = default;
};

struct OutgoingResponse {
  /// Whether the server resets the connection instead of completing the response.
  enum class Abort { kNever, kBeforeHead, kAfterBody };

  int status = 200;
  /// Header lines, each ended by CRLF, without Content-Length, Transfer-Encoding and Connection.
  std::string headers{};
  std::string body{};
  std::unique_ptr<BodyStream> stream{};         ///< what follows `body`; null: nothing
  std::optional<std::size_t> content_length{};  ///< if it is not the size of `body`
  Abort abort = Abort::kNever;
};

/// Why a well-formed request is rejected, with the status to send.
struct RequestError {
  int status = 400;
  std::string text{};
};
/// Checks what HTTP/1.1 (RFC 9112) requires beyond the grammar: one Host header, a supported
/// Transfer-Encoding and Expect, a target that is a path. Returns nothing if the request is good.
[[nodiscard]] std::optional<RequestError> ValidateRequest(const HttpMessage& request);

/// The path and query of a request target, which may be in absolute form ("http://host/path").
[[nodiscard]] std::string_view OriginForm(std::string_view target);

/// All values of a header, joined by ", "; "" if it is absent. Bytes other than visible ASCII and
/// spaces are replaced by '?'.
[[nodiscard]] std::string HeaderOf(const HttpMessage& request, std::string_view name);

struct HeadOptions {
  bool keep_alive = true;
  bool http10 = false;  ///< the client speaks HTTP/1.0
  std::optional<std::size_t>
      length{};  ///< of the body; none: chunked, or until the end in HTTP/1.0
};
/// The status line and all headers of `response`, with the empty line after them.
[[nodiscard]] std::string FormatHead(const OutgoingResponse& response, const HeadOptions& options);

/// One chunk of a chunked body; an empty one ends the body.
[[nodiscard]] std::string FormatChunk(std::string_view bytes);

}  // namespace kopp::detail
