#include "front.hpp"

#include "alarm.hpp"
#include "authority.hpp"
#include "door.hpp"
#include "session.hpp"
#include "users.hpp"

#include <array>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace kopp::apiserver {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::size_t kAnswerers = 4;  // threads: a long list holds up none of the other three
constexpr Alarm::Who kDoor = 0;        // the front itself; all others are sessions

/// TLS by which clients may show a certificate and need not. One of a stranger's is not refused
/// here: its owner is told in HTTP.
std::unique_ptr<asio::ssl::context> ServeTls(const Authority& authority, const Identity& own) {
  auto made = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  made->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1 |
                    SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(made->native_handle(), SSL_SESS_CACHE_OFF);
  made->use_certificate_chain(asio::buffer(own.certificate));
  made->use_private_key(asio::buffer(own.key), asio::ssl::context::pem);
  made->add_certificate_authority(asio::buffer(authority.certificate()));
  SSL_CTX_set_verify(made->native_handle(), SSL_VERIFY_PEER,
                     [](int /*is_good*/, X509_STORE_CTX*) { return 1; });
  return made;
}

}  // namespace

class Front::Impl final : public Session::Host {
 public:
  Impl(World& world, Answerer& server, Uptime& uptime, testing::ListenOptions options)
      : world_(world),
        server_(server),
        uptime_(uptime),
        options_(std::move(options)),
        door_(io_, options_.address, options_.max_connections,
              {.enter = [this](tcp::socket socket) { Begin(std::move(socket)); },
               .ask_to_leave = [this](Session::Id id) { Find(id)->Close(); }}),
        pool_(kAnswerers),
        alarm_(world.clock(), [this](Alarm::Who who) { Wake(who); }) {
    if (options_.tls) {
      authority_.emplace();
      tls_ =
          ServeTls(*authority_, authority_->IssueForServer(door_.endpoint().address().to_string()));
    }
    std::latch begun(1);
    asio::post(io_, [&] {
      Live();
      door_.Begin();
      begun.count_down();
    });
    thread_ = std::jthread([this] { io_.run(); });
    begun.wait();
  }
  ~Impl() {
    pool_.stop();
    pool_.join();  // first: who answers may wait for the network's thread, to restart the server
    io_.stop();
    thread_.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Config ConfigFor(const User& user) {
    Config config = Address();
    if (options_.tls) config.token = users_.NewToken(user);
    return config;
  }
  Config ConfigWithCertificate(const User& user) {
    if (!options_.tls) {
      throw std::logic_error("client certificates need TLS: Listen({.tls = true})");
    }
    Config config = Address();
    auto [certificate, key] = authority_->IssueForUser(user);
    config.client_certificate = std::move(certificate);
    config.client_key = std::move(key);
    return config;
  }

  void Waits(Session::Id id) override { door_.Waits(id); }
  void Works(Session::Id id) override { door_.Works(id); }
  void Answer(Session::Id id, Ask ask) override {
    asio::post(pool_, [this, id, ask = std::move(ask)] {
      asio::post(io_, [this, id, reply = server_.Answer(ask)]() mutable {
        if (Session* session = Find(id)) session->Take(std::move(reply));
      });
    });
  }
  void Wake(Session::Id id) override {
    asio::post(io_, [this, id] {
      if (id == kDoor) return Open();
      if (Session* session = Find(id)) session->Wake();
    });
  }
  void WakeAt(Session::Id id, TimePoint when) override { alarm_.Set(id, when); }
  void Ended(Session::Id id) override {
    alarm_.Set(id, TimePoint::max());
    sessions_.erase(id);
    door_.Left(id);
  }
  [[nodiscard]] World& world() override { return world_; }
  [[nodiscard]] Users& users() override { return users_; }
  [[nodiscard]] const testing::ListenOptions& options() const override { return options_; }

 private:
  Session* Find(Session::Id id) {
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? nullptr : found->second.get();
  }

  /// How to reach it, as nobody in particular.
  [[nodiscard]] Config Address() const {
    const auto& address = door_.endpoint().address();
    const std::string host = address.is_unspecified() ? "127.0.0.1" : address.to_string();
    const bool has_colons = host.find(':') != std::string::npos;
    Config config{.server = std::string(options_.tls ? "https://" : "http://") +
                            (has_colons ? '[' + host + ']' : host) + ':' +
                            std::to_string(door_.endpoint().port()),
                  .source = "the API server in memory"};
    if (authority_) config.certificate_authority = authority_->certificate();
    return config;
  }

  void Begin(tcp::socket socket) {
    const Session::Id id = ++last_id_;
    auto session = std::make_unique<Session>(id, std::move(socket), tls_.get(), *this);
    auto& begun = *session;
    sessions_.emplace(id, std::move(session));
    begun.Start();
  }

  // Once the next life begins.
  void Open() { uptime_.is_up() ? door_.Open() : alarm_.Set(kDoor, uptime_.up()); }

  // Whoever ends this life finds all connections cut, and the next life begun, when that returns.
  void Live() {
    has_turned_ = !has_turned_;
    lives_[has_turned_ ? 1 : 0].emplace(uptime_.life(), [this] {
      std::latch done(1);
      const bool is_own_thread = io_.get_executor().running_in_this_thread();
      asio::post(io_, [this, done = is_own_thread ? nullptr : &done] { Die(done); });
      if (!is_own_thread) done.wait();
    });
  }
  void Die(std::latch* done) {
    for (const auto& [id, session] : sessions_) session->Cut();
    door_.Close();
    Open();
    Live();
    if (done != nullptr) done->count_down();
  }

  World& world_;
  Answerer& server_;
  Uptime& uptime_;
  const testing::ListenOptions options_;
  asio::io_context io_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  detail::Door<Session::Id> door_;
  std::optional<Authority> authority_;       // with TLS
  std::unique_ptr<asio::ssl::context> tls_;  // likewise
  Users users_;
  Session::Id last_id_ = kDoor;
  std::unordered_map<Session::Id, std::unique_ptr<Session>> sessions_;
  asio::thread_pool pool_;
  Alarm alarm_;
  // That of this life, and that of the life before, of which the end may still be told.
  std::array<std::optional<std::stop_callback<std::function<void()>>>, 2> lives_;
  bool has_turned_ = false;
  std::jthread thread_;  // last: it uses everything above
};

Front::Front(World& world, Answerer& server, Uptime& uptime, const testing::ListenOptions& options)
    : impl_(std::make_unique<Impl>(world, server, uptime, options)) {}

Front::~Front() = default;

Config Front::ConfigFor(const User& user) { return impl_->ConfigFor(user); }

Config Front::ConfigWithCertificate(const User& user) { return impl_->ConfigWithCertificate(user); }

}  // namespace kopp::apiserver
