#include "http_session.hpp"

#include "quoted.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/status.hpp>

namespace kopp::detail {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kReadSize = 4096;
constexpr Duration kLinger = std::chrono::seconds(2);

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

HttpAnswer Ask(const HttpServer::Handler& handler, std::string_view query) {
  try {
    return handler(query);
  } catch (const std::exception& error) {
    return {.status = 500, .body = std::string(error.what()) + '\n'};
  } catch (...) {
    return {.status = 500, .body = "something was thrown that is no std::exception\n"};
  }
}

HttpAnswer NotThere(std::string_view path, const HttpServer::Handlers& handlers) {
  std::string text = "nothing is served at " + Quoted(path) + ", only at";
  for (const auto& [known, handler] : handlers) text += ' ' + known;
  return {.status = 404, .body = text + '\n'};
}

}  // namespace

HttpSession::HttpSession(boost::asio::ip::tcp::socket socket, const HttpServerOptions& options,
                         Host& host)
    : options_(options), host_(host), buffer_(options.max_head), stream_(std::move(socket)) {}

// On a connection that was used already: for as long as may pass between two requests.
void HttpSession::AwaitRequest() {
  if (buffer_.size() > 0) return ReadRequest();
  host_.Waits(*this);
  parser_.reset();
  answer_ = {};
  stream_.expires_after(options_.idle_timeout);
  const auto room = buffer_.prepare(std::min(kReadSize, options_.max_head));
  stream_.async_read_some(room, [this](const Error& error, std::size_t got) {
    if (error) return host_.Ended(*this);
    buffer_.commit(got);
    ReadRequest();
  });
}

void HttpSession::ReadRequest() {
  host_.Waits(*this);
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(options_.max_head));
  parser_->body_limit(options_.max_body);
  stream_.expires_after(options_.request_timeout);
  http::async_read_header(stream_, buffer_, *parser_, [this](Error error, std::size_t size) {
    // Beast's limit leaves out what it took before it first had to wait for more.
    if (!error && size > options_.max_head) error = http::error::header_limit;
    if (error) return TakeRequest(error);
    http::async_read(stream_, buffer_, *parser_,
                     [this](const Error& failed, std::size_t) { TakeRequest(failed); });
  });
}

void HttpSession::TakeRequest(const Error& error) {
  using Problem = http::error;
  host_.Works(*this);
  if (!error) return Dispatch();
  if (error == Problem::header_limit || error == Problem::buffer_overflow) {
    return Refuse(
        431, "the head of a request is limited to " + std::to_string(options_.max_head) + " bytes");
  }
  if (error == Problem::body_limit) {
    return Refuse(
        413, "the body of a request is limited to " + std::to_string(options_.max_body) + " bytes");
  }
  const bool is_http = error.category() == make_error_code(Problem::end_of_stream).category();
  if (!is_http || error == Problem::end_of_stream || error == Problem::partial_message) {
    return host_.Ended(*this);
  }
  Refuse(400, "this is no HTTP/1.1 request: " + error.message());
}

void HttpSession::Dispatch() {
  const auto& request = parser_->get();
  if (request.version() >= 11 && request.count(http::field::host) != 1) {
    return Refuse(400, "a request has one Host header");
  }
  keep_alive_ = parser_->keep_alive();
  head_only_ = request.method() == http::verb::head;
  const std::string_view target = View(request.target());
  const std::string_view path = target.substr(0, target.find('?'));
  const auto found = host_.handlers().find(path);
  if (found == host_.handlers().end()) return Send(NotThere(path, host_.handlers()));
  if (!head_only_ && request.method() != http::verb::get) {
    return Send({.status = 405, .body = "only GET and HEAD are served here\n"},
                "Allow: GET, HEAD\r\n");
  }
  Call(found->second, std::string(target.substr(std::min(path.size() + 1, target.size()))));
}

void HttpSession::Call(const HttpServer::Handler& handler, std::string query) {
  host_.Run([this, &handler, query = std::move(query)] {
    boost::asio::post(stream_.get_executor(),
                      [this, answer = Ask(handler, query)]() mutable { Send(std::move(answer)); });
  });
}

// What follows such a request on its connection nobody can tell.
void HttpSession::Refuse(int status, std::string_view text) {
  keep_alive_ = false;
  head_only_ = false;
  Send({.status = status, .body = std::string(text) + '\n'});
}

void HttpSession::Send(HttpAnswer answer, std::string_view more_headers) {
  answer_ = std::move(answer);
  const auto reason = http::obsolete_reason(static_cast<http::status>(answer_.status));
  head_ = "HTTP/1.1 " + std::to_string(answer_.status) + ' ' + std::string(View(reason)) +
          "\r\nContent-Type: " + answer_.content_type +
          "\r\nX-Content-Type-Options: nosniff\r\nContent-Length: " +
          std::to_string(answer_.body.size()) +
          "\r\nConnection: " + (keep_alive_ ? "keep-alive" : "close") + "\r\n";
  head_.append(more_headers).append("\r\n");
  const std::array<boost::asio::const_buffer, 2> bytes{
      boost::asio::buffer(head_),
      boost::asio::buffer(answer_.body.data(), head_only_ ? 0 : answer_.body.size())};
  stream_.expires_after(options_.write_timeout);
  boost::asio::async_write(stream_, bytes, [this](const Error& error, std::size_t) {
    if (error) return host_.Ended(*this);
    keep_alive_ ? AwaitRequest() : Linger();
  });
}

// Takes what the client goes on sending for a while: closing with bytes unread would take back the
// answer that it has not read yet.
void HttpSession::Linger() {
  host_.Waits(*this);
  Error ignored;
  stream_.socket().shutdown(boost::asio::socket_base::shutdown_send, ignored);
  stream_.expires_after(kLinger);
  Drain();
}

void HttpSession::Drain() {
  buffer_.clear();
  const auto room = buffer_.prepare(options_.max_head);
  stream_.async_read_some(
      room, [this](const Error& error, std::size_t) { error ? host_.Ended(*this) : Drain(); });
}

}  // namespace kopp::detail
