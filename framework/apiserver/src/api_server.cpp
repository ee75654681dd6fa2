#include "api.hpp"
#include "audit_log.hpp"
#include "faults.hpp"
#include "front.hpp"
#include "memory_transport.hpp"
#include "uptime.hpp"
#include "world.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/testing/api_server.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::testing {
namespace {

const apiserver::User& Administrator() {
  static const apiserver::User user{"system:admin", {"system:masters", "system:authenticated"}};
  return user;
}

apiserver::User Named(const std::string& name, std::vector<std::string> groups) {
  groups.emplace_back("system:authenticated");
  return {name, std::move(groups)};
}

}  // namespace

class ApiServer::Impl {
 public:
  explicit Impl(ApiServerOptions options)
      : world(options.clock, options.seed, {.clock = options.clock, .history = options.history}),
        api(world),
        faults(world, api, options.seed),
        audit_log(world, faults, std::move(options.on_request)),
        uptime(options.clock),
        always_up(options.clock),
        transport(world, audit_log, uptime, Administrator(), "kopp") {}

  apiserver::Front& front() {
    if (listening == nullptr) throw std::logic_error("the server does not listen: call Listen");
    return *listening;
  }

  apiserver::World world;
  apiserver::Api api;
  apiserver::Faults faults;
  apiserver::AuditLog audit_log;
  apiserver::Uptime uptime;
  apiserver::Uptime always_up;  // past faults
  apiserver::MemoryTransport transport;
  std::unique_ptr<apiserver::Front> listening;
};

ApiServer::ApiServer(ApiServerOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

ApiServer::~ApiServer() = default;

Transport& ApiServer::transport() { return impl_->transport; }

std::unique_ptr<Transport> ApiServer::TransportAs(const std::string& user,
                                                  const std::vector<std::string>& groups) {
  return std::make_unique<apiserver::MemoryTransport>(impl_->world, impl_->audit_log, impl_->uptime,
                                                      Named(user, groups), "kopp");
}

std::unique_ptr<Transport> ApiServer::TransportPastFaults() {
  return std::make_unique<apiserver::MemoryTransport>(impl_->world, impl_->api, impl_->always_up,
                                                      Administrator(), "kopp");
}

Config ApiServer::Listen(const ListenOptions& options) {
  if (impl_->listening != nullptr) throw std::logic_error("the server listens already");
  impl_->listening =
      std::make_unique<apiserver::Front>(impl_->world, impl_->audit_log, impl_->uptime, options);
  return impl_->listening->ConfigFor(Administrator());
}

Config ApiServer::ConfigFor(const std::string& user, const std::vector<std::string>& groups) {
  return impl_->front().ConfigFor(Named(user, groups));
}

Config ApiServer::ConfigWithCertificate(const std::string& user,
                                        const std::vector<std::string>& groups) {
  return impl_->front().ConfigWithCertificate(Named(user, groups));
}

void ApiServer::Inject(Fault fault) { impl_->faults.Inject(std::move(fault)); }

void ApiServer::ClearFaults() { impl_->faults.Clear(); }

void ApiServer::Restart(Duration closed) { impl_->uptime.Restart(closed); }

void ApiServer::Compact() { impl_->world.store().Compact(); }

std::vector<nlohmann::json> ApiServer::Requests() const { return impl_->audit_log.Entries(); }

}  // namespace kopp::testing
