#include "session.hpp"

#include "body.hpp"
#include "status_reply.hpp"

#include <algorithm>
#include <utility>

#include <boost/beast/http/error.hpp>

namespace kopp::apiserver {
namespace {

namespace http = boost::beast::http;

constexpr std::size_t kReadSize = 16 << 10;  // a TLS record's most
constexpr std::size_t kMaxHead = 64 << 10;

Reply InText(int status, const std::string& text) {
  return {.status = status, .body = text + '\n', .content_type = "text/plain; charset=utf-8"};
}

}  // namespace

Session::Session(Id id, boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls,
                 Host& host)
    : id_(id), host_(host), wire_(std::move(socket), tls, [&host, id] { host.Ended(id); }) {}

void Session::Start() {
  host_.Waits(id_);
  wire_.Within(host_.options().request_timeout);
  wire_.Start([this] { ReadRequest(); });
}

// On a connection that was used already: for as long as may pass between two requests.
void Session::AwaitRequest() {
  if (buffer_.size() > 0) return ReadRequest();
  host_.Waits(id_);
  parser_.reset();
  wire_.Within(host_.options().idle_timeout);
  wire_.Read(buffer_.prepare(kReadSize), [this](std::size_t got) {
    buffer_.commit(got);
    ReadRequest();
  });
}

void Session::ReadRequest() {
  host_.Waits(id_);
  parser_.emplace();
  parser_->header_limit(kMaxHead);
  parser_->body_limit(kMaxBody);
  head_size_ = 0;
  wire_.Within(host_.options().request_timeout);
  Parse();
}

void Session::Receive() {
  wire_.Read(buffer_.prepare(kReadSize), [this](std::size_t got) {
    buffer_.commit(got);
    Parse();
  });
}

void Session::Parse() {
  Error error;
  const bool was_in_head = !parser_->is_header_done();
  if (buffer_.size() > 0) {
    const std::size_t parsed = parser_->put(buffer_.data(), error);
    buffer_.consume(parsed);
    if (was_in_head) head_size_ += parsed;
  }
  if (error && error != http::error::need_more) return RefuseAs(error);
  // Beast bounds neither all of a head, nor the trailers behind the last chunk.
  if (std::max(head_size_, buffer_.size()) > kMaxHead) return RefuseAs(http::error::header_limit);
  if (parser_->is_done()) return Dispatch();
  if (was_in_head && parser_->is_header_done()) return ReadBody();
  Receive();
}

void Session::ReadBody() {
  parser_->eager(true);
  if (buffer_.size() > 0) return Parse();
  if (!boost::beast::iequals(parser_->get()[http::field::expect], "100-continue")) return Receive();
  wire_.Write("HTTP/1.1 100 Continue\r\n\r\n", [this](std::size_t) { Receive(); });
}

void Session::Dispatch() {
  host_.Works(id_);
  auto& request = parser_->get();
  http10_ = request.version() < 11;
  keep_alive_ = parser_->keep_alive();
  head_only_ = request.method() == http::verb::head;
  if (const auto objection = ObjectionTo(request)) {
    return Refuse(InText(objection->status, objection->text));
  }
  const auto user = host_.users().Find(HeaderOf(request, "Authorization"), wire_.peer());
  Ask ask = ReadAsk(request);
  if (ask.audit_id.empty()) ask.audit_id = host_.world().NewUid();
  audit_id_ = ask.audit_id;
  if (!user) return Take(ReplyOf({401, "Unauthorized", "Unauthorized"}));
  ask.user = *user;
  host_.Answer(id_, std::move(ask));
}

void Session::RefuseAs(const Error& error) {
  host_.Works(id_);
  if (error == http::error::header_limit) {
    Refuse(
        InText(431, "the head of a request is limited to " + std::to_string(kMaxHead) + " bytes"));
  } else if (error == http::error::body_limit) {
    Refuse(ReplyOf(BodyTooLarge()));
  } else {
    Refuse(InText(400, "this is no HTTP/1.1 request: " + error.message()));
  }
}

// What follows such a request on its connection nobody can tell.
void Session::Refuse(Reply reply) {
  keep_alive_ = false;
  head_only_ = false;
  audit_id_.clear();
  Take(std::move(reply));
}

void Session::Take(Reply reply) {
  reply_ = std::move(reply);
  if (reply_.mishap.delay <= Duration::zero()) return Send();
  held_until_ = After(host_.world().clock().Now(), reply_.mishap.delay);
  host_.Waits(id_);  // its client may have left: nobody listens meanwhile
  host_.WakeAt(id_, *held_until_);
}

void Session::Wake() {
  if (sender_) return sender_->Pump();
  if (!held_until_ || host_.world().clock().Now() < *held_until_) return;
  held_until_.reset();
  host_.Works(id_);
  Send();
}

void Session::Send() {
  if (reply_.mishap.reset) return wire_.Cut();
  reply_.feed == nullptr ? SendWhole() : SendFeed();
}

void Session::SendFeed() {
  keep_alive_ = false;
  std::string head = HeadOf(reply_, Head());
  sender_.emplace(
      wire_, host_.world().store(), std::move(reply_),
      FeedSender::Options{.head = std::move(head),
                          .in_chunks = !http10_,
                          .write_timeout = host_.options().write_timeout,
                          .wake = [this] { host_.Wake(id_); },
                          .wake_at = [this](TimePoint when) { host_.WakeAt(id_, when); }});
  sender_->Pump();
}

void Session::SendWhole() {
  HeadOptions options = Head();
  options.length = reply_.body.size();
  const std::string head = HeadOf(reply_, options);
  const bool cut = reply_.mishap.cut_after.has_value();
  std::string bytes = std::exchange(reply_.body, {});
  if (head_only_) bytes.clear();
  if (cut) bytes.resize(std::min(bytes.size(), *reply_.mishap.cut_after));
  bytes.insert(0, head);
  wire_.Within(host_.options().write_timeout);
  wire_.Write(std::move(bytes), [this, cut](std::size_t) {
    if (cut) return wire_.CutWhenTaken();
    if (keep_alive_) return AwaitRequest();
    host_.Waits(id_);
    wire_.Finish();
  });
}

HeadOptions Session::Head() const {
  return {.keep_alive = keep_alive_,
          .http10 = http10_,
          .now = host_.world().clock().WallNow(),
          .audit_id = audit_id_};
}

}  // namespace kopp::apiserver
