#pragma once

#include "connection.hpp"
#include "failures.hpp"
#include "http_rules.hpp"

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

/// A connection, and what came on it that no parser has taken yet. Used by one thread at a time;
/// what fails throws TransportError, its text without what was asked.
class HttpConnection {
 public:
  static constexpr std::size_t kReadSize = 16 << 10;  // a TLS record's most

  explicit HttpConnection(const Address& to) : wire_(to) {}

  Connection& wire() { return wire_; }
  [[nodiscard]] bool answered() const { return answered_; }
  [[nodiscard]] bool IsFit() const { return buffer_.size() == 0 && wire_.IsFit(); }

  /// Whether another request may follow once the answer is read.
  [[nodiscard]] bool sent() const { return !unsent_; }

  /// Sends a request and reads the head of its answer. A server may answer and close before it has
  /// read a large body: then the answer counts, and not that the rest could not be sent.
  template <class Parser>
  Response Ask(std::string_view bytes, std::optional<Parser>& parser, std::uint64_t body_limit,
               TimePoint deadline) {
    answered_ = false;
    Send(bytes, deadline);
    try {
      return ReadHead(parser, body_limit, deadline);
    } catch (const TransportError& error) {
      if (unsent_ && error.kind() == TransportError::Kind::kBroken) throw TransportError(*unsent_);
      throw;
    }
  }

  /// Hands `parser` what has come, or else waits for more. False: `deadline` passed without a byte.
  template <class Parser>
  bool Advance(Parser& parser, TimePoint deadline) {
    boost::beast::error_code error;
    if (wants_more_ || buffer_.size() == 0) {
      // Beast bounds a header, but not the trailers behind the last chunk.
      if (buffer_.size() > kHeaderLimit) Fail(boost::beast::http::error::header_limit);
      const auto room = buffer_.prepare(kReadSize);
      const auto got = wire_.Read({static_cast<char*>(room.data()), room.size()}, deadline);
      if (!got) return false;
      wants_more_ = false;
      if (*got == 0) {
        if (!parser.got_some()) throw failure::Unanswered();
        parser.put_eof(error);
        if (error) Fail(error);
        return true;
      }
      answered_ = true;
      buffer_.commit(*got);
    }
    buffer_.consume(parser.put(buffer_.data(), error));
    wants_more_ = error == boost::beast::http::error::need_more;
    if (error && !wants_more_ && error != boost::beast::http::error::need_buffer) Fail(error);
    return true;
  }

  /// For what has to be over by `deadline`, though bytes never stop coming.
  template <class Parser>
  void AdvanceInTime(Parser& parser, TimePoint deadline) {
    if (Clock::Real().Now() >= deadline || !Advance(parser, deadline)) throw failure::Timeout();
  }

 private:
  [[noreturn]] static void Fail(const boost::beast::error_code& error) {
    using Error = boost::beast::http::error;
    if (error == Error::body_limit) throw failure::TooLarge();
    if (error == Error::partial_message) throw failure::CutShort();
    throw failure::NotHttp(error.message());
  }

  static std::string_view View(boost::beast::string_view text) {
    return {text.data(), text.size()};
  }

  void Send(std::string_view bytes, TimePoint deadline) {
    try {
      wire_.Write(bytes, deadline);
    } catch (const TransportError& error) {
      if (error.kind() != TransportError::Kind::kBroken) throw;
      unsent_ = error;
    }
  }

  // The head of the answer proper: what a 1xx says is for others.
  template <class Parser>
  Response ReadHead(std::optional<Parser>& parser, std::uint64_t body_limit, TimePoint deadline) {
    do {
      parser.emplace();
      parser->header_limit(kHeaderLimit);
      parser->body_limit(body_limit);
      while (!parser->is_header_done()) AdvanceInTime(*parser, deadline);
    } while (parser->get().result_int() < 200);
    Response head{.status = static_cast<int>(parser->get().result_int())};
    CheckStatus(head.status);
    for (const auto& field : parser->get()) {
      TakeHeader(View(field.name_string()), View(field.value()), head);
    }
    return head;
  }

  Connection wire_;
  boost::beast::flat_buffer buffer_;
  bool wants_more_ = false;               // the parser cannot do anything with what buffer_ holds
  bool answered_ = false;                 // a byte came since the last request
  std::optional<TransportError> unsent_;  // why some of the request could not be sent
};

}  // namespace kopp::detail
