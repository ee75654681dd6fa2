#include "beast_transport.hpp"

#include "failures.hpp"
#include "http_connection.hpp"
#include "http_rules.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/string_body.hpp>

namespace kopp::detail {
namespace {

namespace http = boost::beast::http;
using Kind = TransportError::Kind;

TimePoint Now() { return Clock::Real().Now(); }

struct Interrupter {
  const Connection* connection;
  void operator()() const noexcept { connection->Interrupt(); }
};

class BeastStream final : public Stream {
 public:
  BeastStream(std::unique_ptr<HttpConnection> connection, const Request& request,
              const Endpoint& endpoint, std::stop_token stop)
      : request_(request),
        endpoint_(endpoint),
        stop_(std::move(stop)),
        connection_(std::move(connection)),
        interrupt_(stop_, Interrupter{&connection_->wire()}) {}

  [[nodiscard]] const Response& head() const override { return head_; }

  // The first thing to be called; not the constructor, so that `stop` ends it too.
  void Start(std::string_view bytes, std::size_t max_body, TimePoint deadline) {
    head_ = connection_->Ask(bytes, parser_, std::numeric_limits<std::uint64_t>::max(), deadline);
    if (head_.status < 300) return;
    for (Chunk chunk = Next(deadline); chunk.state != State::kEnd; chunk = Next(deadline)) {
      if (chunk.state == State::kSilent || Now() >= deadline) throw failure::Timeout();
      head_.body += chunk.bytes;
      if (head_.body.size() > max_body) throw failure::TooLarge();
    }
  }

  Chunk Read(Duration limit) override {
    try {
      return Next(After(Now(), limit));
    } catch (const TransportError& error) {
      throw Explain(error, request_, endpoint_, stop_);
    }
  }

 private:
  Chunk Next(TimePoint deadline) {
    while (!parser_->is_done()) {
      auto& body = parser_->get().body();
      body.data = bytes_.data();
      body.size = bytes_.size();
      if (!connection_->Advance(*parser_, deadline)) return {.state = State::kSilent};
      const std::size_t got = bytes_.size() - body.size;
      if (got > 0) return {.state = State::kBytes, .bytes = {bytes_.data(), got}};
      if (Now() >= deadline) return {.state = State::kSilent};  // what came was framing alone
    }
    // Where the end of the connection ends the body, being interrupted looks like it.
    if (stop_.stop_requested()) throw failure::Stopped();
    return {.state = State::kEnd};
  }

  Request request_;
  const Endpoint& endpoint_;
  std::stop_token stop_;
  std::unique_ptr<HttpConnection> connection_;
  std::stop_callback<Interrupter> interrupt_;
  std::optional<http::response_parser<http::buffer_body>> parser_;
  Response head_;
  std::array<char, HttpConnection::kReadSize> bytes_{};
};

}  // namespace

BeastTransport::BeastTransport(std::shared_ptr<Server> server) : server_(std::move(server)) {}

BeastTransport::~BeastTransport() = default;

Response BeastTransport::Call(const Request& request, std::stop_token stop) {
  CheckRequest(request);
  return Call(request, After(Now(), server_->options.call_timeout), stop);
}

// To a request that is checked.
Response BeastTransport::Call(const Request& request, TimePoint deadline,
                              const std::stop_token& stop) {
  try {
    const std::string bytes = Serialize(request);
    if (auto kept = TakeKept()) {
      try {
        return Exchange(kept, bytes, deadline, stop);
      } catch (const TransportError& error) {
        // The server may have closed it just now. Whether it had seen the request nobody can say.
        const bool closed = error.kind() == Kind::kBroken && !kept->answered();
        if (!closed || !IsRepeatable(request)) throw;
      }
    }
    auto fresh = Connect(deadline, stop);
    return Exchange(fresh, bytes, deadline, stop);
  } catch (const TransportError& error) {
    throw Explain(error, request, server_->endpoint, stop);
  }
}

// Keeps `connection` when another request can go that way.
Response BeastTransport::Exchange(std::unique_ptr<HttpConnection>& connection,
                                  std::string_view bytes, TimePoint deadline,
                                  const std::stop_token& stop) {
  std::optional<http::response_parser<http::string_body>> parser;
  Response response;
  {
    const std::stop_callback interrupt(stop, Interrupter{&connection->wire()});
    response = connection->Ask(bytes, parser, server_->options.max_body, deadline);
    parser->eager(true);
    while (!parser->is_done()) connection->AdvanceInTime(*parser, deadline);
    // Where the end of the connection ends the body, being interrupted looks like it.
    if (parser->need_eof() && stop.stop_requested()) throw failure::Stopped();
  }
  response.body = std::move(parser->get().body());
  if (response.status == 401) server_->token.Distrust();
  if (parser->keep_alive() && connection->sent()) kept_.Put(std::move(connection));
  return response;
}

std::unique_ptr<Stream> BeastTransport::Open(const Request& request, std::stop_token stop) {
  CheckRequest(request);
  const TimePoint deadline = After(Now(), server_->options.call_timeout);
  try {
    auto stream =
        std::make_unique<BeastStream>(Connect(deadline, stop), request, server_->endpoint, stop);
    stream->Start(Serialize(request), server_->options.max_body, deadline);
    if (stream->head().status == 401) server_->token.Distrust();
    return stream;
  } catch (const TransportError& error) {
    throw Explain(error, request, server_->endpoint, stop);
  }
}

std::unique_ptr<HttpConnection> BeastTransport::Connect(TimePoint deadline,
                                                        const std::stop_token& stop) {
  const auto addresses = server_->lookup.Resolve(
      std::min(deadline, After(Now(), server_->options.connect_timeout)), stop);
  for (auto address = addresses.begin();; ++address) {
    try {
      return ConnectTo(*address, deadline, stop);
    } catch (const TransportError& error) {
      const bool another_may_do =
          error.kind() == Kind::kUnreachable || error.kind() == Kind::kTimeout;
      if (!another_may_do || std::next(address) == addresses.end() || stop.stop_requested()) throw;
    }
  }
}

std::unique_ptr<HttpConnection> BeastTransport::ConnectTo(const Address& address,
                                                          TimePoint deadline,
                                                          const std::stop_token& stop) {
  auto connection = std::make_unique<HttpConnection>(address);
  const std::stop_callback interrupt(stop, Interrupter{&connection->wire()});
  connection->wire().AwaitConnected(
      std::min(deadline, After(Now(), server_->options.connect_timeout)));
  if (server_->tls) {
    const TimePoint patience = After(Now(), server_->options.handshake_timeout);
    connection->wire().Handshake(*server_->tls, std::min(deadline, patience));
  }
  return connection;
}

std::unique_ptr<HttpConnection> BeastTransport::TakeKept() {
  auto connection = kept_.Take();
  while (connection && !connection->IsFit()) connection = kept_.Take();
  return connection;
}

std::string BeastTransport::Serialize(const Request& request) {
  const std::string authorization = Authorization(server_->token.Get());
  std::string bytes;
  bytes.reserve(512 + authorization.size() + request.target.size() + request.body.size());
  bytes.append(request.method)
      .append(" ")
      .append(server_->endpoint.base_path)
      .append(request.target);
  bytes.append(" HTTP/1.1\r\nHost: ").append(server_->endpoint.Authority()).append("\r\n");
  for (const Header& header : HeadersOf(request, server_->options.user_agent, authorization)) {
    bytes.append(header.name).append(": ").append(header.value).append("\r\n");
  }
  if (!request.body.empty() || request.method.starts_with('P')) {  // POST, PUT, PATCH
    bytes.append("Content-Length: ").append(std::to_string(request.body.size())).append("\r\n");
  }
  return bytes.append("\r\n").append(request.body);
}

}  // namespace kopp::detail
