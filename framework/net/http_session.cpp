#include "net/http_session.hpp"

#include <algorithm>
#include <utility>

#include <boost/beast/http/error.hpp>

namespace kopp::detail {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kReadSize = 16 << 10;  // the largest TLS record

}  // namespace

HttpSession::HttpSession(Id id, boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls,
                         const SessionLimits& limits, Callbacks& callbacks)
    : id_(id),
      limits_(limits),
      callbacks_(callbacks),
      connection_(std::move(socket), tls, [&callbacks, id] { callbacks.OnClosed(id); }) {}

void HttpSession::Start() {
  callbacks_.OnIdle(id_);
  connection_.SetTimeout(limits_.request_timeout);
  connection_.Start([this] { ReadRequest(); });
}

// Waits for the next request of a kept-alive connection.
void HttpSession::WaitForRequest() {
  if (buffer_.size() > 0) return ReadRequest();
  callbacks_.OnIdle(id_);
  parser_.reset();
  connection_.SetTimeout(limits_.idle_timeout);
  connection_.Read(buffer_.prepare(kReadSize), [this](std::size_t size) {
    buffer_.commit(size);
    ReadRequest();
  });
}

void HttpSession::ReadRequest() {
  callbacks_.OnIdle(id_);
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(limits_.max_head));
  parser_->body_limit(limits_.max_body);
  head_size_ = 0;
  connection_.SetTimeout(limits_.request_timeout);
  Parse();
}

void HttpSession::Receive() {
  connection_.Read(buffer_.prepare(kReadSize), [this](std::size_t size) {
    buffer_.commit(size);
    Parse();
  });
}

void HttpSession::Parse() {
  Error error;
  const bool was_in_head = !parser_->is_header_done();
  if (buffer_.size() > 0) {
    const std::size_t parsed = parser_->put(buffer_.data(), error);
    buffer_.consume(parsed);
    if (was_in_head) head_size_ += parsed;
  }
  if (error && error != http::error::need_more) return RejectMalformed(error);
  // Beast limits neither the whole head nor the trailers after the last chunk.
  const bool in_head = !parser_->is_header_done();
  const std::size_t head_size = head_size_ + (in_head ? buffer_.size() : 0);
  const bool too_large =
      head_size > limits_.max_head ||
      (!in_head && !parser_->is_done() && buffer_.size() > std::max(kReadSize, limits_.max_head));
  if (too_large) return RejectMalformed(http::error::header_limit);
  if (parser_->is_done()) return Dispatch();
  if (was_in_head && parser_->is_header_done()) return ReadBody();
  Receive();
}

void HttpSession::ReadBody() {
  parser_->eager(true);
  if (buffer_.size() > 0) return Parse();
  if (!boost::beast::iequals(parser_->get()[http::field::expect], "100-continue")) return Receive();
  connection_.Write("HTTP/1.1 100 Continue\r\n\r\n", [this](std::size_t) { Receive(); });
}

void HttpSession::Dispatch() {
  callbacks_.OnBusy(id_);
  auto& request = parser_->get();
  http10_ = request.version() < 11;
  keep_alive_ = parser_->keep_alive();
  head_only_ = request.method() == http::verb::head;
  if (const auto error = FindRequestError(request)) return Reject(error->status, error->text);
  callbacks_.OnRequest(id_, {parser_->release(), connection_.client()});
}

void HttpSession::RejectMalformed(const Error& error) {
  callbacks_.OnBusy(id_);
  if (error == http::error::header_limit) {
    Reject(431,
           "the head of a request is limited to " + std::to_string(limits_.max_head) + " bytes");
  } else if (error == http::error::body_limit) {
    Reject(413,
           "the body of a request is limited to " + std::to_string(limits_.max_body) + " bytes");
  } else {
    Reject(400, "malformed HTTP/1.1 request: " + error.message());
  }
}

// Closes the connection, because it is unknown where the next request would begin.
void HttpSession::Reject(int status, const std::string& text) {
  keep_alive_ = false;
  head_only_ = false;
  Respond(callbacks_.OnRejected(status, text));
}

void HttpSession::Respond(OutgoingResponse response) {
  callbacks_.OnBusy(id_);
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
  connection_.Write(std::move(bytes), [this, aborts](std::size_t) {
    if (aborts) return connection_.ResetWhenDelivered();
    if (keep_alive_) return WaitForRequest();
    callbacks_.OnIdle(id_);
    connection_.Finish();
  });
}

}  // namespace kopp::detail
