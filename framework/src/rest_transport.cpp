#include "rest_transport.hpp"

#include "beast_transport.hpp"
#include "failures.hpp"
#include "http_rules.hpp"
#include "socket.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>  // Boost.Asio 1.74 forgets it

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <cpprest/astreambuf.h>
#include <cpprest/http_client.h>
#include <pplx/threadpool.h>

// cpprestsdk is kept to this file, and its habits are worked around here: it knows no deadline for
// a call in all, sends a POST again on its own, closes sockets from one thread under the hands of
// another when told to cancel, and takes any amount of header. So it is given one http_client for
// each call at a time (a "line"), whose socket we watch, and interrupt, from the calling thread.
namespace kopp::detail {
namespace {

using boost::asio::ip::tcp;
namespace streams = concurrency::streams;
using web::http::http_response;
using Kind = TransportError::Kind;

constexpr std::size_t kThreads = 4;  // they do input and output only, for all lines
constexpr Duration kGlance = std::chrono::milliseconds(20);
constexpr Duration kGrace = std::chrono::seconds(1);
constexpr Duration kKeepIdle = std::chrono::seconds(30);
constexpr std::size_t kMostKept = 16;

TimePoint Now() { return Clock::Real().Now(); }

// A kept connection turned out to be closed before anything was sent on it.
struct Stale {};

// Runs a continuation where it becomes ready. The default, another thread of the pool, costs more
// than all that ours do.
class InPlace final : public pplx::scheduler_interface {
 public:
  void schedule(pplx::TaskProc_t run, void* argument) override { run(argument); }
};

pplx::task_options InPlaceOption() {
  static const auto scheduler = std::make_shared<InPlace>();
  return {std::static_pointer_cast<pplx::scheduler_interface>(scheduler)};
}

// One call on one line, as its caller and cpprestsdk's threads see it. It may outlive the caller.
class Progress {
 public:
  explicit Progress(const TransportOptions& options) : options_(options) {}

  // --- for the caller

  void Begin(TimePoint deadline, bool tls) {
    const std::lock_guard lock(mutex_);
    state_ = State{};
    state_.tls = tls;
    state_.deadline = deadline;
    state_.phase_deadline = After(Now(), options_.connect_timeout);
  }

  // Blocks until cpprestsdk is through with the call, its connection put back or closed.
  Response Await(const std::stop_token& stop);

  // Wakes Await to look at its stop token.
  void Wake() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  // Whether the server may have seen something of the request.
  [[nodiscard]] bool MayHaveBeenSent() const {
    const std::lock_guard lock(mutex_);
    return !state_.connecting;
  }
  [[nodiscard]] bool ClosedBeforeAnswer() const {
    const std::lock_guard lock(mutex_);
    return state_.kept && !state_.head;
  }

  // --- for cpprestsdk's threads

  // Called before each use of a socket, a new one not open yet. What this throws ends the call.
  void Adopt(tcp::socket& socket, SSL* session);
  void TakeHead(const http_response& response);
  void TakeBody(std::string body);
  void Complete();
  void Fail(std::exception_ptr error);
  void End();

 private:
  struct State {
    bool tls = false;
    TimePoint deadline;
    TimePoint phase_deadline;  // of connecting, then of the handshake
    bool kept = false;         // the connection served a call before
    bool connecting = true;
    bool head = false;
    bool complete = false;
    bool ended = false;
    std::uint64_t received_before = 0;
    Response response;
    std::exception_ptr error;
    std::optional<TransportError> given_up;  // and when the caller stops waiting for the end
    TimePoint abandon_at = TimePoint::max();
  };
  void Supervise(const std::stop_token& stop);
  [[nodiscard]] std::optional<TransportError> ReasonToGiveUp(const std::stop_token& stop);
  [[nodiscard]] TransportError Explained(const web::http::http_exception& error) const;

  const TransportOptions options_;
  mutable std::mutex mutex_;  // guards what follows, but for the report
  std::condition_variable changed_;
  State state_;
  int number_ = -1;    // of the descriptor that socket_ duplicates
  Descriptor socket_;  // ours, so that interrupting it never meets another's descriptor
  HandshakeReport report_;
};

void Progress::Adopt(tcp::socket& socket, SSL* session) {
  const std::lock_guard lock(mutex_);
  if (state_.given_up) throw TransportError(*state_.given_up);
  state_.kept = socket.is_open();
  if (state_.kept) {
    if (!IsQuiet(socket.native_handle())) throw Stale();
    state_.connecting = false;
  } else {
    boost::system::error_code error;
    socket.open(tcp::v4(), error);
    if (error) throw failure::CannotConnect(error.message());
    TuneSocket(socket.native_handle());
    report_.done = false;
    report_.refusal.clear();
    if (session != nullptr) TlsContext::Attach(session, report_);
  }
  if (!state_.kept || number_ != socket.native_handle()) {
    number_ = socket.native_handle();
    socket_ = Duplicate(number_);
  }
  state_.received_before = ProgressOf(number_).received;
}

void Progress::TakeHead(const http_response& response) {
  Response head{.status = response.status_code()};
  if (head.status < 200) {
    throw TransportError(Kind::kMalformed,
                         "the server sent an interim answer (1xx), which cpprestsdk takes for the "
                         "final one: use --http-transport=beast");
  }
  CheckStatus(head.status);
  std::size_t size = 0;
  for (const auto& [name, value] : response.headers()) {
    size += name.size() + value.size();
    TakeHeader(name, value, head);
  }
  if (size > kHeaderLimit) throw failure::NotHttp("header limit exceeded");
  const std::lock_guard lock(mutex_);
  state_.head = true;
  state_.response = std::move(head);
}

void Progress::TakeBody(std::string body) {
  const std::lock_guard lock(mutex_);
  state_.response.body = std::move(body);
}

void Progress::Complete() {
  const std::lock_guard lock(mutex_);
  state_.complete = true;
}

void Progress::Fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!state_.error) state_.error = std::move(error);
  Interrupt(socket_.get());  // cpprestsdk may be reading on
}

void Progress::End() {
  const std::lock_guard lock(mutex_);
  state_.ended = true;
  changed_.notify_all();
}

Response Progress::Await(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!state_.ended && Now() < state_.abandon_at) {
    Clock::Real().WaitUntil(lock, changed_, std::min(state_.deadline, After(Now(), kGlance)));
    if (!state_.ended) Supervise(stop);
  }
  if (state_.given_up) throw TransportError(*state_.given_up);
  try {
    if (state_.error) std::rethrow_exception(state_.error);
  } catch (const web::http::http_exception& error) {
    throw Explained(error);
  } catch (const TransportError&) {
    throw;
  } catch (const std::exception& error) {
    throw failure::NotHttp(error.what());
  }
  if (!state_.complete) throw failure::CutShort();
  return std::move(state_.response);
}

// Gives up where there is reason to. Interrupting again and again is no harm, and catches a socket
// that had not started to connect yet.
void Progress::Supervise(const std::stop_token& stop) {
  if (!state_.given_up) {
    state_.given_up = ReasonToGiveUp(stop);
    if (!state_.given_up) return;
    state_.deadline = TimePoint::max();
    state_.abandon_at = After(Now(), kGrace);
  }
  Interrupt(socket_.get());
}

std::optional<TransportError> Progress::ReasonToGiveUp(const std::stop_token& stop) {
  const TimePoint now = Now();
  if (stop.stop_requested()) return failure::Stopped();
  if (now >= state_.deadline) return failure::Timeout();
  const TcpProgress progress = ProgressOf(socket_.get());
  if (state_.connecting && socket_.get() >= 0 && !progress.connecting) {
    state_.connecting = false;
    state_.phase_deadline = After(now, options_.handshake_timeout);
  }
  if (state_.connecting && now >= state_.phase_deadline) return failure::ConnectTimeout();
  const bool shaking = state_.tls && !state_.kept && !report_.done;
  if (shaking && now >= state_.phase_deadline) return failure::HandshakeTimeout();

  // cpprestsdk bounds neither a header nor a chunk, so what came by the wire is counted. A
  // handshake and the frames around the bytes come on top of them.
  const std::uint64_t received = progress.received - state_.received_before;
  if (!state_.head && received > 2 * kHeaderLimit) return failure::NotHttp("header limit exceeded");
  if (received > options_.max_body + options_.max_body / 8 + 4 * kHeaderLimit) {
    return failure::TooLarge();
  }
  return std::nullopt;
}

// Its error codes are true of where they come from, its texts only of the step that failed.
TransportError Progress::Explained(const web::http::http_exception& error) const {
  const std::string_view step = error.what();
  const int code = error.error_code().value();
  const bool shaking = state_.tls && !state_.kept && !report_.done;
  if (!report_.refusal.empty()) return {Kind::kUntrusted, report_.refusal};
  if (step.starts_with("Failed to connect")) {
    // It calls "refused" what is "no route to host".
    if (code == EHOSTUNREACH || code == ECONNREFUSED) return failure::Refused();
    return failure::CannotConnect(std::generic_category().message(code));
  }
  const auto tls_code = static_cast<unsigned long>(code);
  if (code > 0xffff && (shaking || IsTlsAlert(tls_code))) {
    return {Kind::kUntrusted, DescribeTlsFailure(tls_code, "the TLS handshake failed: ")};
  }
  if (shaking) return failure::HandshakeClosed();
  if (step.starts_with("Invalid")) return failure::NotHttp(std::string(step));
  if (code == ETIMEDOUT) return failure::Timeout();
  return state_.head ? failure::CutShort() : failure::Unanswered();
}

// What a buffer that goes one way only has to say to all the rest.
class OneWay : public streams::details::streambuf_state_manager<std::uint8_t> {
 public:
  using Base = streams::details::streambuf_state_manager<std::uint8_t>;
  using Base::Base;
  [[nodiscard]] bool can_seek() const override { return false; }
  [[nodiscard]] bool has_size() const override { return false; }
  [[nodiscard]] size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(size_t, std::ios_base::openmode) override {}
  [[nodiscard]] size_t in_avail() const override { return 0; }
  [[nodiscard]] pos_type getpos(std::ios_base::openmode) const override { return traits::eof(); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return traits::eof(); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return traits::eof();
  }
  bool acquire(std::uint8_t*&, size_t&) override { return false; }
  void release(std::uint8_t*, size_t) override {}

 protected:
  static pplx::task<int_type> Nothing() {
    return pplx::task_from_result<int_type>(int_type{traits::eof()});
  }
  pplx::task<int_type> _putc(std::uint8_t) override { return Nothing(); }
  pplx::task<size_t> _putn(const std::uint8_t*, size_t) override {
    return pplx::task_from_result<size_t>(0);
  }
  pplx::task<int_type> _bumpc() override { return Nothing(); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return Nothing(); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return Nothing(); }
  pplx::task<int_type> _ungetc() override { return Nothing(); }
  pplx::task<size_t> _getn(std::uint8_t*, size_t) override {
    return pplx::task_from_result<size_t>(0);
  }
  size_t _scopy(std::uint8_t*, size_t) override { return 0; }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(size_t) override { return nullptr; }
  void _commit(size_t) override {}
};

// A body that cannot be rewound: then cpprestsdk does not send a request a second time.
class RequestBody final : public OneWay {
 public:
  explicit RequestBody(std::string bytes) : OneWay(std::ios_base::in), bytes_(std::move(bytes)) {}

 protected:
  pplx::task<size_t> _getn(std::uint8_t* into, size_t count) override {
    const size_t some = std::min(count, bytes_.size() - taken_);
    std::memcpy(into, bytes_.data() + taken_, some);
    taken_ += some;
    return pplx::task_from_result(some);
  }

 private:
  std::string bytes_;
  size_t taken_ = 0;
};

// Held by every part of cpprestsdk that still works on a call. When the last lets go, whatever way
// the call went, its connection is put back or closed.
class Claim {
 public:
  explicit Claim(std::shared_ptr<Progress> progress) : progress_(std::move(progress)) {}
  ~Claim() { progress_->End(); }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  [[nodiscard]] Progress& progress() const { return *progress_; }

 private:
  std::shared_ptr<Progress> progress_;
};

// Takes an answer's body, up to `limit`. cpprestsdk hands on what a chunk's header says, were it -1.
class ResponseBody final : public OneWay {
 public:
  ResponseBody(std::shared_ptr<Claim> claim, std::size_t limit)
      : OneWay(std::ios_base::out), claim_(std::move(claim)), limit_(limit) {}
  ~ResponseBody() override { claim_->progress().TakeBody(std::move(bytes_)); }

 protected:
  pplx::task<size_t> _putn(const std::uint8_t* from, size_t count) override {
    if (count > PTRDIFF_MAX) return Refuse(failure::NotHttp("bad chunk"));
    if (count > limit_ - bytes_.size()) return Refuse(failure::TooLarge());
    bytes_.append(reinterpret_cast<const char*>(from), count);
    return pplx::task_from_result(count);
  }

 private:
  static pplx::task<size_t> Refuse(const TransportError& error) {
    return pplx::task_from_exception<size_t>(std::make_exception_ptr(error));
  }

  std::shared_ptr<Claim> claim_;
  std::size_t limit_;
  std::string bytes_;
};

// Both see to it that no task ends in an exception that nobody looks at: cpprestsdk would end the
// process.
void OnBody(const pplx::task<http_response>& body, const std::shared_ptr<Claim>& claim) {
  try {
    body.get();
    claim->progress().Complete();
  } catch (...) {
    claim->progress().Fail(std::current_exception());
  }
}

void OnHead(const pplx::task<http_response>& answer, const std::shared_ptr<Claim>& claim) {
  try {
    const http_response response = answer.get();
    response.content_ready().then(
        [claim](const pplx::task<http_response>& body) { OnBody(body, claim); }, InPlaceOption());
    claim->progress().TakeHead(response);
  } catch (...) {
    claim->progress().Fail(std::current_exception());
  }
}

void InitializePool() {
  static const bool once = [] {
    try {
      crossplat::threadpool::initialize_with_threads(kThreads);
    } catch (const std::exception&) {
      // The program uses cpprestsdk on its own, and its pool serves us too.
    }
    return true;
  }();
  static_cast<void>(once);
}

// A way to one address of the server, for one call at a time.
struct Line {
  Line(const Server& server, const std::string& address);

  std::shared_ptr<Progress> progress;
  web::http::client::http_client client;
  TimePoint idle_since;
};

web::http::client::http_client_config ConfigOf(const Server& server,
                                               std::shared_ptr<Progress> progress) {
  web::http::client::http_client_config config;
  config.set_max_redirects(0);
  // Ours is the one that counts; zero would mean "at once", and so would the largest.
  config.set_timeout(std::chrono::ceil<std::chrono::seconds>(server.options.call_timeout) +
                     std::chrono::seconds(1));
  const bool tls = server.tls.has_value();
  config.set_nativehandle_options([progress, tls](web::http::client::native_handle handle) {
    if (tls) {
      auto* stream = static_cast<boost::asio::ssl::stream<tcp::socket&>*>(handle);
      progress->Adopt(stream->next_layer(), stream->native_handle());
    } else {
      progress->Adopt(*static_cast<tcp::socket*>(handle), nullptr);
    }
  });
  if (!tls) return config;
  config.set_validate_certificates(server.tls->verifies());
  config.set_tlsext_sni_enabled(!IsAddress(server.tls->server_name()));
  const std::shared_ptr<SSL_CTX> context(server.tls->Share(), &SSL_CTX_free);
  config.set_ssl_context_callback([context](boost::asio::ssl::context& made) {
    SSL_CTX_up_ref(context.get());
    made = boost::asio::ssl::context(context.get());
  });
  return config;
}

Line::Line(const Server& server, const std::string& address)
    : progress(std::make_shared<Progress>(server.options)),
      client(web::uri((server.tls ? "https://" : "http://") + address + ":" +
                      std::to_string(server.endpoint.port)),
             ConfigOf(server, progress)) {}

class RestTransport final : public Transport {
 public:
  explicit RestTransport(std::shared_ptr<Server> server)
      : server_(std::move(server)), beast_(server_) {
    InitializePool();
  }

  Response Call(const Request& request, std::stop_token stop) override;
  std::unique_ptr<Stream> Open(const Request& request, std::stop_token stop) override {
    return beast_.Open(request, std::move(stop));
  }

 private:
  [[nodiscard]] std::optional<Response> CallByCppRest(const Request& request, TimePoint deadline,
                                                      const std::stop_token& stop);
  [[nodiscard]] Response Exchange(std::unique_ptr<Line>& line, const Request& request,
                                  TimePoint deadline, const std::stop_token& stop);
  void Start(Line& line, const Request& request);
  [[nodiscard]] web::http::http_request Compose(const Request& request,
                                                const std::shared_ptr<Claim>& claim);
  [[nodiscard]] std::unique_ptr<Line> TakeKept();
  void Keep(std::unique_ptr<Line> line);

  std::shared_ptr<Server> server_;
  BeastTransport beast_;
  std::mutex mutex_;                         // guards kept_
  std::vector<std::unique_ptr<Line>> kept_;  // by the time they were put back
};

Response RestTransport::Call(const Request& request, std::stop_token stop) {
  CheckRequest(request);
  const TimePoint deadline = After(Now(), server_->options.call_timeout);
  try {
    if (auto response = CallByCppRest(request, deadline, stop)) return std::move(*response);
  } catch (const TransportError& error) {
    throw Explain(error, request, server_->endpoint, stop);
  }
  return beast_.Call(request, stop);
}

// nullopt: the name has IPv6 addresses only, which are beyond cpprestsdk.
std::optional<Response> RestTransport::CallByCppRest(const Request& request, TimePoint deadline,
                                                     const std::stop_token& stop) {
  if (auto kept = TakeKept()) {
    try {
      return Exchange(kept, request, deadline, stop);
    } catch (const TransportError& error) {
      const bool closed = error.kind() == Kind::kBroken && kept->progress->ClosedBeforeAnswer();
      if (!closed || !IsRepeatable(request)) throw;
    }
  }
  const TimePoint patience = After(Now(), server_->options.connect_timeout);
  auto addresses = server_->lookup.Resolve(std::min(deadline, patience), stop);
  std::erase_if(addresses, [](const Address& address) { return !address.IsIpv4(); });
  for (const Address& address : addresses) {
    auto line = std::make_unique<Line>(*server_, address.Text());
    try {
      return Exchange(line, request, deadline, stop);
    } catch (const TransportError& error) {
      const bool unsent = error.kind() == Kind::kUnreachable || !line->progress->MayHaveBeenSent();
      if (!unsent || &address == &addresses.back() || stop.stop_requested()) throw;
    }
  }
  return std::nullopt;
}

// Keeps `line` when the call went well. After anything else its connection may hold bytes that
// belong to no call.
Response RestTransport::Exchange(std::unique_ptr<Line>& line, const Request& request,
                                 TimePoint deadline, const std::stop_token& stop) {
  for (;;) {
    if (stop.stop_requested()) throw failure::Stopped();
    const auto progress = line->progress;
    progress->Begin(deadline, server_->tls.has_value());
    const std::stop_callback wake(stop, [&progress] { progress->Wake(); });
    Start(*line, request);
    try {
      Response response = progress->Await(stop);
      if (response.status == 401) server_->token.Distrust();
      Keep(std::move(line));
      return response;
    } catch (const Stale&) {
      // That connection is gone from the line; the next one is another, or new.
    }
  }
}

void RestTransport::Start(Line& line, const Request& request) {
  const auto claim = std::make_shared<Claim>(line.progress);
  line.client.request(Compose(request, claim))
      .then([claim](const pplx::task<http_response>& answer) { OnHead(answer, claim); },
            InPlaceOption());
}

web::http::http_request RestTransport::Compose(const Request& request,
                                               const std::shared_ptr<Claim>& claim) {
  web::http::http_request message(request.method);
  message.set_request_uri(web::uri(server_->endpoint.base_path + request.target));
  const std::string authorization = Authorization(server_->token.Get());
  if (!IsRepeatable(request) || !request.body.empty()) {
    const auto body = std::make_shared<RequestBody>(request.body);
    message.set_body(streams::istream(streams::streambuf<std::uint8_t>(body)), request.body.size());
    message.headers().remove("Content-Type");
  }
  // It takes the name for SNI and for its own look at the certificate from here, where a port would
  // be in the way.
  message.headers().add("Host",
                        server_->tls ? server_->tls->server_name() : server_->endpoint.Authority());
  for (const auto& [name, value] : HeadersOf(request, server_->options.user_agent, authorization)) {
    message.headers().add(std::string(name), std::string(value));
  }
  const auto sink = std::make_shared<ResponseBody>(claim, server_->options.max_body);
  message.set_response_stream(streams::ostream(streams::streambuf<std::uint8_t>(sink)));
  return message;
}

std::unique_ptr<Line> RestTransport::TakeKept() {
  const std::lock_guard lock(mutex_);
  while (!kept_.empty() && Now() - kept_.back()->idle_since > kKeepIdle) kept_.pop_back();
  if (kept_.empty()) return nullptr;
  auto line = std::move(kept_.back());
  kept_.pop_back();
  return line;
}

void RestTransport::Keep(std::unique_ptr<Line> line) {
  line->idle_since = Now();
  const std::lock_guard lock(mutex_);
  if (kept_.size() == kMostKept) kept_.erase(kept_.begin());
  kept_.push_back(std::move(line));
}

}  // namespace

std::unique_ptr<Transport> MakeRestTransport(std::shared_ptr<Server> server) {
  return std::make_unique<RestTransport>(std::move(server));
}

}  // namespace kopp::detail
