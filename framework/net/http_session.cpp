#include "net/http_session.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>

namespace kopp::detail {
namespace {

namespace http = boost::beast::http;

/// The largest number of bytes that ServerConnection::Read returns.
constexpr std::size_t kReadSize = 16 << 10;

}  // namespace

HttpSession::HttpSession(Id id, boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls,
                         const SessionLimits& limits, Callbacks& callbacks)
    : id_(id),
      limits_(limits),
      callbacks_(callbacks),
      connection_(std::move(socket), tls, [&callbacks, id] { callbacks.OnClosed(id); }) {}

void HttpSession::Start() {
  callbacks_.OnIdle(id_);
  SetReceiveTimeout();
  connection_.Start([this] {
    BeginRequest();
    Receive();
  });
}

// Waits for the next request of a kept-alive connection.
void HttpSession::WaitForRequest() {
  if (!unparsed_.empty()) {
    BeginRequest();
    return Parse({});
  }
  callbacks_.OnIdle(id_);
  if (draining_) return connection_.Finish();
  parser_.reset();
  waiting_ = true;
  connection_.SetTimeout(limits_.idle_timeout);
  connection_.Read([this](std::string_view bytes) {
    waiting_ = false;
    BeginRequest();
    Parse(bytes);
  });
}

void HttpSession::BeginRequest() {
  callbacks_.OnIdle(id_);
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(limits_.max_head));
  parser_->body_limit(std::numeric_limits<std::uint64_t>::max());  // the target has the limit
  head_size_ = 0;
  max_body_ = 0;
  SetReceiveTimeout();
}

void HttpSession::SetReceiveTimeout() {
  receiving_ = true;
  connection_.SetTimeout(draining_ ? std::min(limits_.drain_timeout, limits_.request_timeout)
                                   : limits_.request_timeout);
}

void HttpSession::Receive() {
  connection_.Read([this](std::string_view bytes) { Parse(bytes); });
}

// Copies only the bytes that are not part of the body yet: most requests need no buffer.
void HttpSession::Parse(std::string_view bytes) {
  if (!unparsed_.empty()) {
    unparsed_ += bytes;
    bytes = unparsed_;
  }
  ParseFrom(bytes);
  unparsed_ = std::string(bytes);
}

void HttpSession::ParseFrom(std::string_view& bytes) {
  Error error;
  const bool was_in_head = !parser_->is_header_done();
  if (!bytes.empty()) {
    const std::size_t parsed = parser_->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
    bytes.remove_prefix(parsed);
    if (was_in_head) head_size_ += parsed;
  }
  if (error && error != http::error::need_more) return RejectMalformed(error);
  // Beast limits neither the whole head nor the trailers after the last chunk.
  const bool in_head = !parser_->is_header_done();
  const std::size_t head_size = head_size_ + (in_head ? bytes.size() : 0);
  const bool too_large =
      head_size > limits_.max_head ||
      (!in_head && !parser_->is_done() && bytes.size() > std::max(kReadSize, limits_.max_head));
  if (too_large) return RejectMalformed(http::error::header_limit);
  if (!was_in_head && !held_.Grow(parser_->get().body().size())) return RejectOverBudget();
  if (parser_->is_done()) return Dispatch();
  was_in_head && !in_head ? ReadBody(bytes) : Receive();
}

void HttpSession::ReadBody(std::string_view& bytes) {
  const auto target = parser_->get().target();
  BodyLimits limits;
  if (limits_.body_limits_of) limits = limits_.body_limits_of({target.data(), target.size()});
  max_body_ = limits.max > 0 ? limits.max : limits_.max_body;
  held_ = HeldBytes(std::move(limits.budget));
  const std::uint64_t announced = parser_->content_length().value_or(0);
  if (announced > max_body_) return RejectMalformed(http::error::body_limit);
  if (!held_.HasRoomFor(announced)) return RejectOverBudget();
  parser_->body_limit(max_body_);
  parser_->eager(true);
  if (!bytes.empty()) return ParseFrom(bytes);
  if (!boost::beast::iequals(parser_->get()[http::field::expect], "100-continue")) return Receive();
  connection_.Write("HTTP/1.1 100 Continue\r\n\r\n", [this] { Receive(); });
}

void HttpSession::Dispatch() {
  receiving_ = false;
  callbacks_.OnBusy(id_);
  auto& request = parser_->get();
  http10_ = request.version() < 11;
  keep_alive_ = parser_->keep_alive();
  head_only_ = request.method() == http::verb::head;
  if (const auto error = FindRequestError(request)) return Reject(error->status, error->text);
  callbacks_.OnRequest(id_, {parser_->release(), connection_.client(), std::move(held_)});
}

void HttpSession::RejectMalformed(const Error& error) {
  callbacks_.OnBusy(id_);
  if (error == http::error::header_limit) {
    Reject(431,
           "the head of a request is limited to " + std::to_string(limits_.max_head) + " bytes");
  } else if (error == http::error::body_limit) {
    Reject(413, "the body of a request is limited to " + std::to_string(max_body_) + " bytes");
  } else {
    Reject(400, "malformed HTTP/1.1 request: " + error.message());
  }
}

void HttpSession::RejectOverBudget() {
  callbacks_.OnBusy(id_);
  Reject(429, "too many requests: the memory for their bodies is in use");
}

// Closes the connection, because it is unknown where the next request would begin.
void HttpSession::Reject(int status, const std::string& text) {
  receiving_ = false;
  keep_alive_ = false;
  head_only_ = false;
  const auto target = parser_->get().target();
  OutgoingResponse response = callbacks_.OnRejected(status, text, {target.data(), target.size()});
  parser_.reset();  // frees the body at once: the response may take a while
  Respond(std::move(response));
}

void HttpSession::Drain() {
  DisableKeepAlive();
  draining_ = true;
  if (waiting_) Close();
  if (receiving_) connection_.ShortenTimeout(limits_.drain_timeout);
}

void HttpSession::Respond(OutgoingResponse response) {
  callbacks_.OnBusy(id_);
  keep_alive_ = keep_alive_ && reusable_;
  held_ = std::move(response.held);
  if (response.abort == OutgoingResponse::Abort::kBeforeHead) return connection_.Reset();
  response.stream == nullptr ? SendWhole(std::move(response)) : SendStream(std::move(response));
}

void HttpSession::Wake() {
  if (sender_) sender_->Pump();
}

void HttpSession::SendStream(OutgoingResponse response) {
  keep_alive_ = false;
  std::string head = FormatHead(response, {.keep_alive = false, .http10 = http10_});
  sender_.emplace(
      connection_, std::move(response.body), std::move(response.stream),
      StreamSender::Options{
          .head = std::move(head), .chunked = !http10_, .write_timeout = limits_.write_timeout});
  sender_->Pump();
}

void HttpSession::SendWhole(OutgoingResponse response) {
  std::string bytes =
      FormatHead(response, {.keep_alive = keep_alive_,
                            .http10 = http10_,
                            .length = response.content_length.value_or(response.body.size())});
  if (!head_only_) bytes += response.body;
  const bool aborts = response.abort == OutgoingResponse::Abort::kAfterBody;
  connection_.SetTimeout(limits_.write_timeout);
  connection_.Write(std::move(bytes), [this, aborts] {
    held_ = HeldBytes();
    if (aborts) return connection_.ResetWhenDelivered();
    if (keep_alive_) return WaitForRequest();
    callbacks_.OnIdle(id_);
    connection_.Finish();
  });
}

}  // namespace kopp::detail
