#include "memory_transport.hpp"

#include <nlohmann/json.hpp>

#include <kopp/testing/api_server.hpp>

namespace kopp::testing {

class ApiServer::Impl {
 public:
  explicit Impl(const ApiServerOptions& options)
      : world_(options.clock, options.seed, {.clock = options.clock, .history = options.history}),
        api_(world_),
        transport_(world_, api_, {"system:admin", {"system:masters", "system:authenticated"}},
                   "kopp") {}

  [[nodiscard]] Transport& transport() { return transport_; }
  [[nodiscard]] apiserver::Api& api() { return api_; }

 private:
  apiserver::World world_;
  apiserver::Api api_;
  apiserver::MemoryTransport transport_;
};

ApiServer::ApiServer(ApiServerOptions options) : impl_(std::make_unique<Impl>(options)) {}

ApiServer::~ApiServer() = default;

Transport& ApiServer::transport() { return impl_->transport(); }

std::vector<nlohmann::json> ApiServer::Requests() const {
  return impl_->api().audit_log().Entries();
}

}  // namespace kopp::testing
