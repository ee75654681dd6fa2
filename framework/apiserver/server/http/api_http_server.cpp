#include "http/api_http_server.hpp"

#include "api/status.hpp"
#include "http/certificate_authority.hpp"
#include "http/http_message.hpp"
#include "http/timer.hpp"
#include "http/users.hpp"
#include "net/http_listener.hpp"
#include "net/server_tls.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <latch>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <unordered_map>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace kopp::apiserver {
namespace {

namespace asio = boost::asio;
using detail::HttpListener;
using detail::OutgoingResponse;
using ConnectionId = HttpListener::ConnectionId;

// A write that waits for a webhook holds a thread, while the webhook may send requests of its own.
constexpr std::size_t kHandlerThreads = 16;
constexpr Timer::Id kResumeListening = 0;  // all other timers are of connections, from 1 on

}  // namespace

class ApiHttpServer::Impl final : private HttpListener::Handler {
 public:
  Impl(ServerContext& context, RequestHandler& handler, ServerLifecycle& lifecycle,
       const testing::ListenOptions& options)
      : context_(context),
        handler_(handler),
        lifecycle_(lifecycle),
        listener_({.address = options.address,
                   .max_connections = options.max_connections,
                   .limits = {.max_body = kMaxBody,
                              .request_timeout = options.request_timeout,
                              .idle_timeout = options.idle_timeout,
                              .write_timeout = options.write_timeout}},
                  *this),
        users_(context),
        handler_threads_(kHandlerThreads),
        timer_(context.clock(), [this](Timer::Id id) { OnTimer(id); }) {
    if (options.tls) authority_.emplace();
    std::latch started(1);
    listener_.Post([&] {
      FollowRun();
      started.count_down();
    });
    listener_.Start(MakeTls());
    started.wait();
  }
  ~Impl() {
    handler_threads_.stop();
    handler_threads_
        .join();  // first: a handler may wait for the network thread to restart the server
    listener_.Stop();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Config ConfigFor(const User& user) {
    Config config = AnonymousConfig();
    if (authority_) config.token = users_.NewToken(user);
    return config;
  }
  Config ConfigWithCertificate(const User& user) {
    if (!authority_) {
      throw std::logic_error("client certificates need TLS: Listen({.tls = true})");
    }
    Config config = AnonymousConfig();
    auto [certificate, key] = authority_->IssueForUser(user);
    config.client_certificate = std::move(certificate);
    config.client_key = key;
    return config;
  }

 private:
  std::unique_ptr<asio::ssl::context> MakeTls() {
    if (!authority_) return nullptr;
    const std::string address = listener_.endpoint().address().to_string();
    return detail::MakeServerTls(authority_->IssueForServer(address), authority_->certificate());
  }

  [[nodiscard]] Config AnonymousConfig() const {
    const auto& address = listener_.endpoint().address();
    const std::string host = address.is_unspecified() ? "127.0.0.1" : address.to_string();
    const bool is_v6 = host.find(':') != std::string::npos;
    Config config{.server = std::string(authority_ ? "https://" : "http://") +
                            (is_v6 ? '[' + host + ']' : host) + ':' +
                            std::to_string(listener_.endpoint().port()),
                  .source = "the API server in memory"};
    if (authority_) config.certificate_authority = authority_->certificate();
    return config;
  }

  void OnRequest(ConnectionId id, detail::IncomingRequest incoming) override {
    const auto user =
        users_.Authenticate(detail::HeaderOf(incoming.message, "Authorization"), incoming.client);
    ServerRequest request = ReadServerRequest(incoming.message);
    if (request.audit_id.empty()) request.audit_id = context_.NewUid();
    if (!user) {
      return Respond(id, request.audit_id, ToResponse({401, "Unauthorized", "Unauthorized"}));
    }
    request.user = *user;
    asio::post(handler_threads_, [this, id, request = std::move(request)] {
      ServerResponse response = handler_.Handle(request);
      EncodeBody(response);  // here, because the network thread serves all connections
      listener_.Post(
          [this, id, audit_id = request.audit_id, response = std::move(response)]() mutable {
            if (listener_.IsOpen(id))
              RespondAfterDelay(id, std::move(audit_id), std::move(response));
          });
    });
  }

  OutgoingResponse OnRejected(int status, const std::string& text, std::string_view) override {
    ServerResponse response{
        .status = status, .body = text + '\n', .content_type = "text/plain; charset=utf-8"};
    if (status == 413) response = ToResponse(BodyTooLarge());
    return ToOutgoing(0, "", std::move(response));
  }

  void OnClosed(ConnectionId id) override {
    timer_.Set(id, TimePoint::max());
    delayed_.erase(id);
  }

  void RespondAfterDelay(ConnectionId id, std::string audit_id, ServerResponse response) {
    const Duration delay = response.injected_fault.delay;
    if (delay <= Duration::zero()) return Respond(id, audit_id, std::move(response));
    delayed_[id] = {std::move(audit_id), std::move(response)};
    listener_.AllowEviction(id);  // the client may have given up; it is not read from meanwhile
    timer_.Set(id, SaturatingAdd(context_.clock().Now(), delay));
  }

  void Respond(ConnectionId id, const std::string& audit_id, ServerResponse response) {
    listener_.Respond(id, ToOutgoing(id, audit_id, std::move(response)));
  }

  OutgoingResponse ToOutgoing(ConnectionId id, const std::string& audit_id,
                              ServerResponse response) {
    EncodeBody(response);
    OutgoingResponse outgoing = FormatHeaders(response, audit_id, context_.clock().WallNow());
    const InjectedFault& fault = response.injected_fault;
    if (fault.reset) {
      outgoing.abort = OutgoingResponse::Abort::kBeforeHead;
    } else if (response.watch != nullptr) {
      outgoing.stream = std::make_unique<WatchBody>(
          context_.store(), std::move(response.body.text()), std::move(response.watch),
          fault.cut_after,
          WatchBody::Callbacks{.wake = [this, id] { listener_.Wake(id); },
                               .wake_at = [this, id](TimePoint when) { timer_.Set(id, when); }});
    } else {
      outgoing.body = std::move(response.body.text());
      if (!fault.cut_after) return outgoing;
      outgoing.content_length = outgoing.body.size();
      outgoing.body.resize(std::min(outgoing.body.size(), *fault.cut_after));
      outgoing.abort = OutgoingResponse::Abort::kAfterBody;
    }
    return outgoing;
  }

  void OnTimer(Timer::Id id) {
    listener_.Post([this, id] {
      if (id == kResumeListening) return ResumeListening();
      const auto delayed = delayed_.find(id);
      if (delayed == delayed_.end()) return listener_.Wake(id);
      auto [audit_id, response] = std::move(delayed->second);
      delayed_.erase(delayed);
      Respond(id, audit_id, std::move(response));
    });
  }

  // Listens when the lifecycle's next run begins.
  void ResumeListening() {
    lifecycle_.is_up() ? listener_.ResumeListening()
                       : timer_.Set(kResumeListening, lifecycle_.up_since());
  }

  // Makes a Restart of the lifecycle return after all connections are closed and the next run is
  // followed.
  void FollowRun() {
    current_run_ = 1 - current_run_;
    run_ends_.at(current_run_).emplace(lifecycle_.run(), [this] {
      std::latch done(1);
      const bool in_network_thread = listener_.InNetworkThread();
      listener_.Post([this, done = in_network_thread ? nullptr : &done] { OnRunEnd(done); });
      if (!in_network_thread) done.wait();
    });
  }
  void OnRunEnd(std::latch* done) {
    listener_.Crash();
    ResumeListening();
    FollowRun();
    if (done != nullptr) done->count_down();
  }

  ServerContext& context_;
  RequestHandler& handler_;
  ServerLifecycle& lifecycle_;
  HttpListener listener_;
  std::optional<CertificateAuthority> authority_;  // with TLS
  Users users_;
  struct Delayed {
    std::string audit_id{};
    ServerResponse response{};
  };
  std::unordered_map<ConnectionId, Delayed> delayed_;  // by an injected fault
  asio::thread_pool handler_threads_;
  Timer timer_;
  // The stop callbacks of the current run and of the previous one, which may still be running.
  std::array<std::optional<std::stop_callback<std::function<void()>>>, 2> run_ends_;
  std::size_t current_run_ = 0;
};

ApiHttpServer::ApiHttpServer(ServerContext& context, RequestHandler& handler,
                             ServerLifecycle& lifecycle, const testing::ListenOptions& options)
    : impl_(std::make_unique<Impl>(context, handler, lifecycle, options)) {}

ApiHttpServer::~ApiHttpServer() = default;

Config ApiHttpServer::ConfigFor(const User& user) { return impl_->ConfigFor(user); }

Config ApiHttpServer::ConfigWithCertificate(const User& user) {
  return impl_->ConfigWithCertificate(user);
}

}  // namespace kopp::apiserver
