#pragma once

#include "net/endpoint.hpp"
#include "storage/server_context.hpp"

#include <map>
#include <utility>
#include <vector>

#include <kopp/informer/object_key.hpp>
#include <kopp/testing/service_address.hpp>

namespace kopp::apiserver {

/// Finds the addresses of Services, because no proxy routes requests to their cluster IPs.
/// Thread-safe. `context` must outlive it.
class ServiceResolver {
 public:
  /// The addresses in `known` take precedence over the stored objects. Throws ConfigError if one is
  /// not valid.
  ServiceResolver(ServerContext& context, const std::vector<testing::ServiceAddress>& known);

  /// Returns the address of a port of a Service: the known one, the external name, or that of a
  /// ready endpoint. Throws std::runtime_error with the text of kube-apiserver if there is none.
  [[nodiscard]] detail::Endpoint Resolve(const ObjectKey& service, int port) const;

 private:
  ServerContext& context_;
  std::map<std::pair<ObjectKey, int>, detail::Endpoint> known_;
};

}  // namespace kopp::apiserver
