#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/informer/owning_kind.hpp>
#include <kopp/transport.hpp>

namespace kopp {

/// A resource that the API server serves: metav1.APIResource.
struct ApiResource {
  OwningKind kind = {};                        ///< kind.plural is the name of the resource
  std::string singular = {};                   ///< "deployment"
  std::vector<std::string> short_names = {};   ///< {"deploy"}
  std::vector<std::string> verbs = {};         ///< {"create", "get", "list", "watch" …}
  std::vector<std::string> subresources = {};  ///< {"scale", "status"}

  [[nodiscard]] bool HasVerb(std::string_view verb) const;
  [[nodiscard]] bool HasSubresource(std::string_view subresource) const;
  friend bool operator==(const ApiResource&, const ApiResource&) = default;
};

/// One version of an API group.
struct ApiVersion {
  std::string version = {};  ///< "v1"
  std::vector<ApiResource> resources = {};
  /// An error text if `resources` is missing or may be out of date, for example because the server
  /// of an aggregated API is down. Empty if `resources` is complete.
  std::string problem = {};
};

/// An API group: metav1.APIGroup.
struct ApiGroup {
  std::string name = {};                  ///< "apps", or "" for the core group
  std::vector<ApiVersion> versions = {};  ///< the preferred version is first
};

/// Asks the API server which resources it serves. Nothing is cached; RestMapper adds a cache.
/// client-go: discovery.DiscoveryClient.
///
/// Cheap to copy. Thread-safe. The transport must outlive all copies. Each function blocks until
/// the responses have arrived, up to TransportOptions::call_timeout for each request, and throws
/// - ApiError if the API server returns an error status,
/// - TransportError if there is no complete response, or after a stop request,
/// - DecodeError if the response is not from a Kubernetes API server.
class DiscoveryClient {
 public:
  /// After a stop request, all calls throw TransportError (kCancelled).
  explicit DiscoveryClient(Transport& transport, std::stop_token stop = {})
      : transport_(&transport), stop_(std::move(stop)) {}

  /// Returns all groups in the order of the server's preference, the core group first. Sends two
  /// requests (aggregated discovery); if the server is older than Kubernetes 1.27, also one for
  /// each version of a group. A version that cannot be read does not fail the others: see
  /// ApiVersion::problem. Go: ServerGroupsAndResources.
  [[nodiscard]] std::vector<ApiGroup> Groups() const;

  /// Returns the resources of a version such as "apps/v1"; none if the server does not serve it.
  /// Throws std::invalid_argument for an invalid name. Go: ServerResourcesForGroupVersion.
  [[nodiscard]] std::vector<ApiResource> Resources(std::string_view api_version) const;

 private:
  void AddGroups(const std::string& path, std::vector<ApiGroup>& groups) const;
  void ReadVersion(std::string_view group, ApiVersion& version) const;
  [[nodiscard]] ApiResponse Get(const std::string& path, const std::string& accept) const;

  Transport* transport_;
  std::stop_token stop_;
};

}  // namespace kopp
