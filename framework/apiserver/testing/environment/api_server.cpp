#include "auth/authorizer.hpp"
#include "environment/extended_api_server.hpp"
#include "faults/audit_log.hpp"
#include "faults/fault_injector.hpp"
#include "handlers/api_handler.hpp"
#include "http/api_http_server.hpp"
#include "http/in_memory_transport.hpp"
#include "http/server_lifecycle.hpp"
#include "http/service_resolver.hpp"
#include "http/webhook_client.hpp"
#include "kube_catalog.hpp"
#include "storage/server_context.hpp"

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

apiserver::User AuthenticatedUser(const std::string& name, std::vector<std::string> groups) {
  groups.emplace_back("system:authenticated");
  return {name, std::move(groups)};
}

}  // namespace

class ApiServer::Impl {
 public:
  explicit Impl(ApiServerOptions options,
                const apiserver::Extensions& extensions = {.catalog = apiserver::KubeCatalog()})
      : context(options.clock, options.seed, {.clock = options.clock, .history = options.history},
                {.uses_rbac = options.authorization == AuthorizationMode::kRbac,
                 .checks_owner_references = options.checks_owner_references},
                extensions,
                [this](const WebhookCall& call) { return faults.CallWebhook(call, call_webhook); }),
        services(context, options.resolve),
        webhook_client(
            [this](const ObjectKey& service, int port) { return services.Resolve(service, port); }),
        call_webhook(options.call_webhook ? std::move(options.call_webhook)
                                          : WebhookCaller([this](const WebhookCall& call) {
                                              return webhook_client.Call(call);
                                            })),
        api(context),
        access_filter(context, api),
        faults(context, access_filter, options.seed),
        audit_log(context, faults, std::move(options.on_request)),
        filter(MakeFilter(audit_log)),
        fault_free_filter(MakeFilter(api)),
        lifecycle(options.clock),
        always_up(options.clock),
        transport(context, handler(), lifecycle, Administrator(), "kopp") {}

  /// Returns the handler of all connections, or of those without faults.
  apiserver::RequestHandler& handler() {
    return filter != nullptr ? *filter : static_cast<apiserver::RequestHandler&>(audit_log);
  }
  apiserver::RequestHandler& fault_free_handler() {
    return fault_free_filter != nullptr ? *fault_free_filter
                                        : static_cast<apiserver::RequestHandler&>(api);
  }

  apiserver::ApiHttpServer& server() {
    if (http_server == nullptr) {
      throw std::logic_error("ApiServer does not listen: call Listen() first");
    }
    return *http_server;
  }

  apiserver::ServerContext context;
  apiserver::ServiceResolver services;
  apiserver::WebhookClient webhook_client;
  const WebhookCaller call_webhook;
  apiserver::ApiHandler api;
  apiserver::AccessFilter access_filter;
  apiserver::FaultInjector faults;
  apiserver::AuditLog audit_log;
  std::unique_ptr<apiserver::RequestHandler> filter;  // null without the extension, as the next one
  std::unique_ptr<apiserver::RequestHandler> fault_free_filter;
  apiserver::ServerLifecycle lifecycle;
  apiserver::ServerLifecycle always_up;  // of the fault-free transports
  apiserver::InMemoryTransport transport;
  std::unique_ptr<apiserver::ApiHttpServer> http_server;

 private:
  std::unique_ptr<apiserver::RequestHandler> MakeFilter(apiserver::RequestHandler& next) {
    const auto make = context.extensions().make_protobuf_filter;
    return make != nullptr ? make(context, next) : nullptr;
  }
};

ApiServer::ApiServer(ApiServerOptions options)
    : ApiServer(std::make_unique<Impl>(std::move(options))) {}

ApiServer::ApiServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ApiServer::~ApiServer() = default;

Transport& ApiServer::transport() { return impl_->transport; }

std::unique_ptr<Transport> ApiServer::TransportAs(const std::string& user,
                                                  const std::vector<std::string>& groups) {
  return std::make_unique<apiserver::InMemoryTransport>(
      impl_->context, impl_->handler(), impl_->lifecycle, AuthenticatedUser(user, groups), "kopp");
}

std::unique_ptr<Transport> ApiServer::FaultFreeTransport() {
  return std::make_unique<apiserver::InMemoryTransport>(impl_->context, impl_->fault_free_handler(),
                                                        impl_->always_up, Administrator(), "kopp");
}

Config ApiServer::Listen(const ListenOptions& options) {
  if (impl_->http_server != nullptr) {
    throw std::logic_error("ApiServer listens already: call Listen() only once");
  }
  if (impl_->context.uses_rbac() && !options.tls) {
    throw std::logic_error(
        "ApiServer does not authenticate users without TLS: call Listen({.tls = true}) with RBAC");
  }
  impl_->http_server = std::make_unique<apiserver::ApiHttpServer>(impl_->context, impl_->handler(),
                                                                  impl_->lifecycle, options);
  return impl_->http_server->ConfigFor(Administrator());
}

Config ApiServer::ConfigFor(const std::string& user, const std::vector<std::string>& groups) {
  return impl_->server().ConfigFor(AuthenticatedUser(user, groups));
}

Config ApiServer::ConfigWithCertificate(const std::string& user,
                                        const std::vector<std::string>& groups) {
  return impl_->server().ConfigWithCertificate(AuthenticatedUser(user, groups));
}

void ApiServer::Inject(Fault fault) { impl_->faults.Inject(std::move(fault)); }

void ApiServer::ClearFaults() { impl_->faults.Clear(); }

void ApiServer::Restart(Duration downtime) { impl_->lifecycle.Restart(downtime); }

void ApiServer::Compact() { impl_->context.store().Compact(); }

std::vector<nlohmann::json> ApiServer::Requests() const { return impl_->audit_log.Entries(); }

ExtendedApiServer::ExtendedApiServer(const apiserver::Extensions& extensions,
                                     ApiServerOptions options)
    : ApiServer(std::make_unique<Impl>(std::move(options), extensions)) {}

}  // namespace kopp::testing
