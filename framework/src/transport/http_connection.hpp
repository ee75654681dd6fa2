#pragma once

#include "net/connection.hpp"
#include "net/http_rules.hpp"
#include "net/transport_failure.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>

#include <kopp/transport.hpp>

namespace kopp::detail {

/// A connection with a buffer of the received bytes that no HTTP parser has consumed yet. Not
/// thread-safe. Every failure throws TransportError with a text that does not name the request.
class HttpConnection {
 public:
  static constexpr std::size_t kReadSize = 16 << 10;  // the maximum size of a TLS record

  explicit HttpConnection(const Address& to) : tcp_(to) {}

  Connection& tcp() { return tcp_; }
  /// Returns whether any byte arrived since the last request was sent.
  [[nodiscard]] bool received_any() const { return received_any_; }
  /// Returns whether the connection can carry another request.
  [[nodiscard]] bool IsReusable() const { return buffer_.size() == 0 && tcp_.IsReusable(); }

  /// Returns whether the last request was sent completely.
  [[nodiscard]] bool request_sent() const { return !send_error_; }

  /// Sends a request and reads the response head. If the server responds and closes the connection
  /// before it has read a large body, the response counts, not the failure to send the rest.
  template <class Parser>
  Response SendAndReadHead(std::string_view bytes, std::optional<Parser>& parser,
                           std::uint64_t body_limit, TimePoint deadline) {
    received_any_ = false;
    Send(bytes, deadline);
    try {
      return ReadHead(parser, body_limit, deadline);
    } catch (const TransportError& error) {
      if (send_error_ && error.kind() == TransportError::Kind::kBroken)
        throw TransportError(*send_error_);
      throw;
    }
  }

  /// Passes the buffered bytes to `parser`; blocks for more bytes if there are none. Returns false
  /// if `deadline` passed without a byte.
  template <class Parser>
  bool ReadSome(Parser& parser, TimePoint deadline) {
    boost::beast::error_code error;
    if (parser_needs_more_ || buffer_.size() == 0) {
      // Beast limits the size of the header, but not of the trailers after the last chunk.
      if (buffer_.size() > kMaxHeaderBytes)
        ThrowParseError(boost::beast::http::error::header_limit);
      const auto room = buffer_.prepare(kReadSize);
      const auto received = tcp_.Read({static_cast<char*>(room.data()), room.size()}, deadline);
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

  /// Like ReadSome, but throws a timeout error once `deadline` has passed, even if bytes keep
  /// arriving.
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

  static std::string_view ToStringView(boost::beast::string_view text) {
    return {text.data(), text.size()};
  }

  void Send(std::string_view bytes, TimePoint deadline) {
    try {
      tcp_.Write(bytes, deadline);
    } catch (const TransportError& error) {
      if (error.kind() != TransportError::Kind::kBroken) throw;
      send_error_ = error;
    }
  }

  // Reads the head of the final response. Skips interim responses (1xx).
  template <class Parser>
  Response ReadHead(std::optional<Parser>& parser, std::uint64_t body_limit, TimePoint deadline) {
    do {
      parser.emplace();
      parser->header_limit(kMaxHeaderBytes);
      parser->body_limit(body_limit);
      while (!parser->is_header_done()) ReadSomeOrTimeOut(*parser, deadline);
    } while (parser->get().result_int() < 200);
    Response head{.status = static_cast<int>(parser->get().result_int())};
    RejectRedirect(head.status);
    for (const auto& field : parser->get()) {
      ReadResponseHeader(ToStringView(field.name_string()), ToStringView(field.value()), head);
    }
    return head;
  }

  Connection tcp_;
  boost::beast::flat_buffer buffer_;
  bool parser_needs_more_ = false;            // the parser cannot proceed with the bytes in buffer_
  bool received_any_ = false;                 // since the last request was sent
  std::optional<TransportError> send_error_;  // why the last request was not sent completely
};

}  // namespace kopp::detail
