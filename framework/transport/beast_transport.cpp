#include "beast_transport.hpp"

#include "http_client_messages.hpp"
#include "http_connection.hpp"
#include "net/transport_failure.hpp"
#include "proxy_connection.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <utility>

#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/string_body.hpp>

namespace kopp::detail {
namespace {

namespace http = boost::beast::http;
using ErrorKind = TransportError::Kind;

TimePoint Now() { return Clock::Real().Now(); }

// A stop callback that interrupts a connection.
struct Interrupter {
  const Connection* connection;
  void operator()() const noexcept { connection->Interrupt(); }
};

// The stream that BeastTransport::Open returns.
class BeastStream final : public Stream, public DeadConnectionDetector::MonitoredStream {
 public:
  BeastStream(std::unique_ptr<HttpConnection> connection, const ApiRequest& request,
              const Endpoint& endpoint, std::stop_token stop)
      : request_(request),
        endpoint_(endpoint),
        stop_(std::move(stop)),
        connection_(std::move(connection)),
        interrupt_(stop_, Interrupter{&connection_->connection()}) {}

  [[nodiscard]] const ApiResponse& head() const override { return head_; }

  // Sends the request `bytes` and reads the response head, and the body too unless the status is
  // 2xx. Must be called first. It is not part of the constructor, so that `stop` can interrupt it.
  void Start(std::string_view bytes, std::size_t max_body, TimePoint deadline) {
    head_ = connection_->SendAndReadHead(bytes, parser_, std::numeric_limits<std::uint64_t>::max(),
                                         deadline);
    if (head_.status < 300) return;
    for (Chunk chunk = Next(deadline); chunk.state != State::kEnd; chunk = Next(deadline)) {
      if (chunk.state == State::kSilent || Now() >= deadline) throw failure::ResponseTimeout();
      head_.body += chunk.bytes;
      if (head_.body.size() > max_body) throw failure::BodyTooLarge();
    }
  }

  // Lets `detector` cut the stream. Call it after Start.
  void Monitor(DeadConnectionDetector& detector) {
    registration_.emplace(detector, *this, connection_->opened());
  }

  Chunk Read(Duration limit) override {
    try {
      return Next(SaturatingAdd(Now(), limit));
    } catch (const TransportError& error) {
      throw AddRequestContext(was_cut_ ? failure::SilentConnection() : error, request_, endpoint_,
                              stop_);
    }
  }

 private:
  // Blocks until body bytes arrive, the body ends or `deadline` passes.
  Chunk Next(TimePoint deadline) {
    while (!parser_->is_done()) {
      auto& body = parser_->get().body();
      body.data = bytes_.data();
      body.size = bytes_.size();
      if (!connection_->ReadSome(*parser_, deadline)) return {.state = State::kSilent};
      const std::size_t received = bytes_.size() - body.size;
      if (received > 0) return {.state = State::kBytes, .bytes = {bytes_.data(), received}};
      if (Now() >= deadline) return {.state = State::kSilent};  // only chunk framing arrived
    }
    // If the body ends with the connection, an interrupted read looks like its end.
    if (stop_.stop_requested()) throw failure::Cancelled();
    if (was_cut_ && parser_->need_eof()) throw failure::SilentConnection();
    return {.state = State::kEnd};
  }

  [[nodiscard]] TimePoint LastReceived() const override {
    return connection_->connection().LastReceived();
  }
  void Cut() override {
    was_cut_ = true;
    connection_->connection().Interrupt();
  }

  ApiRequest request_;
  const Endpoint& endpoint_;
  std::stop_token stop_;
  std::unique_ptr<HttpConnection> connection_;
  std::stop_callback<Interrupter> interrupt_;
  std::optional<http::response_parser<http::buffer_body>> parser_;
  ApiResponse head_;
  std::array<char, HttpConnection::kReadSize> bytes_{};
  std::atomic<bool> was_cut_ = false;
  std::optional<DeadConnectionDetector::Registration>
      registration_;  // last: it uses the connection
};

}  // namespace

BeastTransport::BeastTransport(std::shared_ptr<TransportContext> context)
    : context_(std::move(context)) {}

BeastTransport::~BeastTransport() = default;

ApiResponse BeastTransport::Call(const ApiRequest& request, std::stop_token stop) {
  CheckApiRequest(request);
  return Call(request, SaturatingAdd(Now(), context_->options.call_timeout), stop);
}

ApiResponse BeastTransport::Call(const ApiRequest& request, TimePoint deadline,
                                 const std::stop_token& stop) {
  std::shared_ptr<const Credentials> credentials;
  try {
    credentials = context_->credentials.Get(deadline, stop);
    ApiResponse response = CallWith(*credentials, request, deadline, stop);
    context_->CheckStatus(response, credentials);
    return response;
  } catch (const TransportError& error) {
    context_->CheckError(error, credentials);
    throw AddRequestContext(error, request, context_->endpoint, stop);
  }
}

ApiResponse BeastTransport::CallWith(const Credentials& credentials, const ApiRequest& request,
                                     TimePoint deadline, const std::stop_token& stop) {
  const RequestBytes serialized = Serialize(request, credentials);
  const std::string_view bytes = serialized.bytes();
  if (auto pooled = AcquirePooled(credentials.tls.get())) {
    const bool safe = IsSafeToRetry(request);
    const TimePoint silence_deadline =
        safe ? DeadConnectionDetector::SilenceDeadline(Now(), deadline) : TimePoint::max();
    try {
      return Exchange(pooled, request, bytes, deadline, silence_deadline, stop);
    } catch (const TransportError& error) {
      if (pooled->received_any()) throw;
      const TimePoint now = Now();
      context_->dead_connections.OnSilence(pooled->sent(), now, pool_);
      // The server may have closed the connection at this moment, or the network may have lost it.
      // It is unknown whether the server has processed the request.
      const bool closed = error.kind() == ErrorKind::kBroken;
      const bool silent = error.kind() == ErrorKind::kTimeout && now < deadline;
      if (!safe || !(closed || silent)) throw;
    }
  }
  auto fresh = Connect(credentials.tls.get(), deadline, stop);
  return Exchange(fresh, request, bytes, deadline, TimePoint::max(), stop);
}

// Sends `bytes`, which are `request`. Moves `connection` to the pool if it can carry another
// request. Times out at `silence_deadline` if no byte of the response arrives until then.
ApiResponse BeastTransport::Exchange(std::unique_ptr<HttpConnection>& connection,
                                     const ApiRequest& request, std::string_view bytes,
                                     TimePoint deadline, TimePoint silence_deadline,
                                     const std::stop_token& stop) {
  std::optional<http::response_parser<http::string_body>> parser;
  ApiResponse response;
  {
    const std::stop_callback interrupt(stop, Interrupter{&connection->connection()});
    if (request.before_send) request.before_send();
    response = connection->SendAndReadHead(bytes, parser, context_->options.max_body, deadline,
                                           silence_deadline);
    context_->dead_connections.OnResponse(connection->opened(), connection->sent());
    parser->eager(true);
    while (!parser->is_done()) connection->ReadSomeOrTimeOut(*parser, deadline);
    // If the body ends with the connection, an interrupted read looks like its end.
    if (parser->need_eof() && stop.stop_requested()) throw failure::Cancelled();
  }
  response.body = std::move(parser->get().body());
  if (parser->keep_alive() && connection->request_sent()) pool_.Release(std::move(connection));
  return response;
}

std::unique_ptr<Stream> BeastTransport::Open(const ApiRequest& request, std::stop_token stop) {
  CheckApiRequest(request);
  const TimePoint deadline = SaturatingAdd(Now(), context_->options.call_timeout);
  std::shared_ptr<const Credentials> credentials;
  try {
    credentials = context_->credentials.Get(deadline, stop);
    auto stream = std::make_unique<BeastStream>(Connect(credentials->tls.get(), deadline, stop),
                                                request, context_->endpoint, stop);
    stream->Start(Serialize(request, *credentials).bytes(), context_->options.max_body, deadline);
    context_->CheckStatus(stream->head(), credentials);
    if (IsWatch(request)) stream->Monitor(context_->dead_connections);
    return stream;
  } catch (const TransportError& error) {
    context_->CheckError(error, credentials);
    throw AddRequestContext(error, request, context_->endpoint, stop);
  }
}

// Returns a connection over which requests can be sent to the server. If there is a proxy, it is
// named in every error.
std::unique_ptr<HttpConnection> BeastTransport::Connect(const TlsContext* tls, TimePoint deadline,
                                                        const std::stop_token& stop) {
  if (!context_->proxy) return ConnectToAny(tls, deadline, stop);
  const std::string where = "through the proxy " + context_->proxy->Origin() + ": ";
  try {
    return ConnectToAny(tls, deadline, stop);
  } catch (const UntrustedProxy& error) {
    throw UntrustedProxy(where + error.what());
  } catch (const TransportError& error) {
    // No request was sent yet.
    const bool broken = error.kind() == ErrorKind::kBroken || error.kind() == ErrorKind::kMalformed;
    throw TransportError(broken ? ErrorKind::kUnreachable : error.kind(), where + error.what());
  }
}

std::unique_ptr<HttpConnection> BeastTransport::ConnectToAny(const TlsContext* tls,
                                                             TimePoint deadline,
                                                             const std::stop_token& stop) {
  const auto addresses = context_->lookup.Resolve(
      std::min(deadline, SaturatingAdd(Now(), context_->options.connect_timeout)), stop);
  for (auto address = addresses.begin();; ++address) {
    try {
      return ConnectTo(*address, tls, deadline, stop);
    } catch (const TransportError& error) {
      const bool may_try_next =
          error.kind() == ErrorKind::kUnreachable || error.kind() == ErrorKind::kTimeout;
      if (!may_try_next || std::next(address) == addresses.end() || stop.stop_requested()) throw;
    }
  }
}

std::unique_ptr<HttpConnection> BeastTransport::ConnectTo(const Address& address,
                                                          const TlsContext* tls, TimePoint deadline,
                                                          const std::stop_token& stop) {
  auto connection = std::make_unique<HttpConnection>(address);
  const std::stop_callback interrupt(stop, Interrupter{&connection->connection()});
  connection->connection().WaitUntilConnected(
      std::min(deadline, SaturatingAdd(Now(), context_->options.connect_timeout)));
  if (context_->proxy) PrepareProxyConnection(*connection, *context_, deadline);
  if (tls != nullptr) {
    const TimePoint handshake_deadline = SaturatingAdd(Now(), context_->options.handshake_timeout);
    connection->connection().Handshake(*tls, std::min(deadline, handshake_deadline));
  }
  return connection;
}

std::unique_ptr<HttpConnection> BeastTransport::AcquirePooled(const TlsContext* tls) {
  // An https:// proxy forwards the requests to an http:// server.
  const TlsContext* session_tls = tls != nullptr ? tls : context_->proxy_tls.get();
  auto connection = pool_.Acquire();
  while (connection && !connection->IsReusable(session_tls)) connection = pool_.Acquire();
  return connection;
}

RequestBytes BeastTransport::Serialize(const ApiRequest& request, const Credentials& credentials) {
  const bool forwarded =
      context_->proxy && context_->proxy->type == Proxy::Type::kHttp && !context_->endpoint.tls;
  RequestBytes bytes;
  bytes.Append({request.method, " "});
  if (forwarded) bytes.Append({context_->endpoint.Origin()});
  bytes.Append({context_->endpoint.base_path, request.target,
                " HTTP/1.1\r\nHost: ", context_->authority, "\r\n"});
  for (const Header& header : context_->HeadersFor(request, credentials)) {
    bytes.Append({header.name, ": ", header.value, "\r\n"});
  }
  if (forwarded && !context_->proxy->authorization.empty()) {
    bytes.Append({"Proxy-Authorization: ", context_->proxy->authorization.Reveal(), "\r\n"});
  }
  if (!request.body.empty() || request.method.starts_with('P')) {  // POST, PUT, PATCH
    bytes.Append({"Content-Length: ", std::to_string(request.body.size()), "\r\n"});
  }
  bytes.Append({"\r\n", request.body});
  return bytes;
}

}  // namespace kopp::detail
