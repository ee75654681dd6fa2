#pragma once

#include "http_client_messages.hpp"
#include "net/connection.hpp"
#include "net/transport_failure.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>

#include <kopp/transport.hpp>

namespace kopp::detail {

/// The client side of one HTTP/1.1 connection: sends requests and passes received bytes to a Beast
/// parser. Buffers bytes that the parser has not consumed. Not thread-safe. Throws TransportError
/// for every failure; the text does not name the request (see AddRequestContext).
class HttpConnection {
 public:
  static constexpr std::size_t kReadSize = 16 << 10;  // the maximum size of a TLS record

  explicit HttpConnection(const Address& to) : connection_(to) {}

  Connection& connection() { return connection_; }
  [[nodiscard]] const Connection& connection() const { return connection_; }
  /// Returns when the object was created.
  [[nodiscard]] TimePoint opened() const { return opened_; }
  /// Returns when the last request was sent.
  [[nodiscard]] TimePoint sent() const { return sent_; }
  /// Returns whether any byte has arrived since the last request was sent.
  [[nodiscard]] bool received_any() const { return received_any_; }
  /// Returns whether the connection can carry another request that uses `tls`; null: no TLS.
  [[nodiscard]] bool IsReusable(const TlsContext* tls) const {
    return buffer_.size() == 0 && connection_.IsReusable(tls);
  }

  /// Returns whether the last request was sent completely.
  [[nodiscard]] bool request_sent() const { return !send_error_; }

  /// Sends the serialized request `bytes`, replaces `parser` by a new parser and reads until it has
  /// the head of the final response. The caller reads the body with ReadSome. `body_limit` is in
  /// bytes. Times out at `silence_deadline` if no byte arrives until then. If the server responds
  /// and closes the connection before the whole request is sent, returns the response and ignores
  /// the send error; request_sent() is then false.
  template <class Parser>
  ApiResponse SendAndReadHead(std::string_view bytes, std::optional<Parser>& parser,
                              std::uint64_t body_limit, TimePoint deadline,
                              TimePoint silence_deadline = TimePoint::max()) {
    received_any_ = false;
    sent_ = Clock::Real().Now();
    Send(bytes, deadline);
    try {
      return ReadHead(parser, body_limit, deadline, silence_deadline);
    } catch (const TransportError& error) {
      if (send_error_ && error.kind() == TransportError::Kind::kBroken)
        throw TransportError(*send_error_);
      throw;
    }
  }

  /// Sends the serialized CONNECT request `bytes` to a proxy and reads the head of its response.
  /// Afterwards the connection is a tunnel to the server. Throws if the proxy refuses.
  void OpenTunnel(std::string_view bytes, TimePoint deadline) {
    const int status = SendConnect(bytes, deadline);
    if (status >= 300) throw failure::ProxyRefused(status);
    // The server sends nothing before the TLS handshake.
    if (buffer_.size() > 0) throw failure::InvalidProxyResponse();
  }

  /// Passes received bytes to `parser`. If the buffer is empty or the parser needs more bytes,
  /// first blocks until bytes arrive, and returns false if none arrive before `deadline`. At the
  /// end of the connection, completes the body or throws.
  template <class Parser>
  bool ReadSome(Parser& parser, TimePoint deadline) {
    boost::beast::error_code error;
    if (parser_needs_more_ || buffer_.size() == 0) {
      // Beast limits the size of the header, but not of the trailers after the last chunk.
      if (buffer_.size() > kMaxHeaderBytes)
        ThrowParseError(boost::beast::http::error::header_limit);
      const auto room = buffer_.prepare(kReadSize);
      const auto received =
          connection_.Read({static_cast<char*>(room.data()), room.size()}, deadline);
      if (!received) return false;
      parser_needs_more_ = false;
      if (*received == 0) {
        if (!parser.got_some()) throw failure::ClosedBeforeResponse();
        parser.put_eof(error);
        if (error) ThrowParseError(error);
        return true;
      }
      received_any_ = true;
      buffer_.commit(*received);
    }
    buffer_.consume(parser.put(buffer_.data(), error));
    parser_needs_more_ = error == boost::beast::http::error::need_more;
    if (error && !parser_needs_more_ && error != boost::beast::http::error::need_buffer)
      ThrowParseError(error);
    return true;
  }

  /// Like ReadSome, but throws TransportError (kTimeout) once `deadline` has passed, even if bytes
  /// keep arriving.
  template <class Parser>
  void ReadSomeOrTimeOut(Parser& parser, TimePoint deadline) {
    if (Clock::Real().Now() >= deadline || !ReadSome(parser, deadline))
      throw failure::ResponseTimeout();
  }

 private:
  [[noreturn]] static void ThrowParseError(const boost::beast::error_code& error) {
    using Error = boost::beast::http::error;
    if (error == Error::body_limit) throw failure::BodyTooLarge();
    if (error == Error::partial_message) throw failure::UnexpectedEnd();
    throw failure::InvalidHttp(error.message());
  }

  // Sends a CONNECT request and returns the status of the response. If the connection closes or the
  // response is not valid HTTP, the error names the proxy, not the server.
  int SendConnect(std::string_view bytes, TimePoint deadline) {
    using Kind = TransportError::Kind;
    std::optional<boost::beast::http::response_parser<boost::beast::http::empty_body>> parser;
    try {
      connection_.Write(bytes, deadline);
      ParseHead(parser, std::numeric_limits<std::uint64_t>::max(), deadline);
    } catch (const TransportError& error) {
      if (error.kind() == Kind::kBroken) throw failure::ClosedByProxy();
      if (error.kind() == Kind::kTimeout) throw failure::ProxyTimeout("an HTTP proxy");
      if (error.kind() == Kind::kMalformed) throw failure::InvalidProxyResponse();
      throw;
    }
    return static_cast<int>(parser->get().result_int());
  }

  static std::string_view ToStringView(boost::beast::string_view text) {
    return {text.data(), text.size()};
  }

  void Send(std::string_view bytes, TimePoint deadline) {
    try {
      connection_.Write(bytes, deadline);
    } catch (const TransportError& error) {
      if (error.kind() != TransportError::Kind::kBroken) throw;
      send_error_ = error;
    }
  }

  // Replaces `parser` and reads the head of the final response. Skips interim responses (1xx).
  template <class Parser>
  void ParseHead(std::optional<Parser>& parser, std::uint64_t body_limit, TimePoint deadline,
                 TimePoint silence_deadline = TimePoint::max()) {
    do {
      parser.emplace();
      parser->header_limit(kMaxHeaderBytes);
      parser->body_limit(body_limit);
      while (!parser->is_header_done()) {
        ReadSomeOrTimeOut(*parser, received_any_ ? deadline : std::min(deadline, silence_deadline));
      }
    } while (parser->get().result_int() < 200);
  }

  template <class Parser>
  ApiResponse ReadHead(std::optional<Parser>& parser, std::uint64_t body_limit, TimePoint deadline,
                       TimePoint silence_deadline) {
    ParseHead(parser, body_limit, deadline, silence_deadline);
    ApiResponse head{.status = static_cast<int>(parser->get().result_int())};
    RejectRedirect(head.status, ToStringView(parser->get()[boost::beast::http::field::location]));
    for (const auto& field : parser->get()) {
      ApplyResponseHeader(ToStringView(field.name_string()), ToStringView(field.value()), head);
    }
    return head;
  }

  Connection connection_;
  const TimePoint opened_ = Clock::Real().Now();
  TimePoint sent_{};
  boost::beast::flat_buffer buffer_;
  bool parser_needs_more_ = false;            // the parser cannot proceed with the bytes in buffer_
  bool received_any_ = false;                 // since the last request was sent
  std::optional<TransportError> send_error_;  // set if a request was not sent completely
};

}  // namespace kopp::detail
