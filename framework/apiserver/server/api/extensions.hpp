#pragma once

#include "api/resource.hpp"
#include "api/response.hpp"
#include "api/write_request.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

class ServerContext;

/// Prints objects as the rows of a meta.k8s.io Table. `now` is the time for ages, in RFC 3339.
struct TablePrinter {
  nlohmann::json (*column_definitions)(const Resource& resource) = nullptr;
  nlohmann::json (*cells)(const Resource& resource, const nlohmann::json& object,
                          const std::string& now) = nullptr;
  /// Returns null for a row without conditions.
  nlohmann::json (*row_conditions)(const Resource& resource,
                                   const nlohmann::json& object) = nullptr;
};

/// Handles paths that are not those of resources. Thread-safe.
class PathHandler {
 public:
  virtual ~PathHandler() = default;
  PathHandler(const PathHandler&) = delete;
  PathHandler& operator=(const PathHandler&) = delete;

  /// Returns an empty optional for a path that it does not handle.
  [[nodiscard]] virtual std::optional<ServerResponse> Handle(const ServerRequest& request) = 0;

 protected:
  PathHandler() = default;
};

/// A request that creates an object of a virtual kind, which is not stored.
struct VirtualRequest {
  ServerContext& context;
  const WriteRequest& write;
  nlohmann::json object{};  ///< the decoded body
};

/// Returns the object in the response, or null for a Status "Success". Throws StatusError.
using VirtualKindHandler = nlohmann::json (*)(const VirtualRequest& request);

/// The extension points of the server. `catalog` holds the rules of each kind, which kube defines;
/// the other members hold features for kubectl and other clients of a cluster. AllExtensions
/// returns all, for kopp-apiserver. Without a feature, the server responds as one that does not
/// have it. All functions are thread-safe.
struct Extensions {
  /// The served resources with their strategies. Required. ServerCatalog() has the built-in kinds
  /// without rules beyond their schema, KubeCatalog() has their rules, too.
  std::shared_ptr<const Catalog> catalog{};
  /// The handlers of the further virtual kinds in `catalog`, by kind.
  std::map<std::string, VirtualKindHandler> virtual_kinds{};
  /// Null: 406 for a Table.
  const TablePrinter* tables = nullptr;
  /// Creates the filter that converts protobuf bodies to JSON and back. The context and `next`
  /// outlive it. Null: 415 and 406 for protobuf.
  std::unique_ptr<RequestHandler> (*make_protobuf_filter)(ServerContext& context,
                                                          RequestHandler& next) = nullptr;
  /// Creates the handler of OpenAPI documents. The context outlives it. Null: 404.
  std::unique_ptr<PathHandler> (*make_path_handler)(ServerContext& context) = nullptr;
  /// Returns the user as whom a request is executed. Throws StatusError (403) if `user` may not
  /// impersonate, and std::invalid_argument if `impersonation` names no user. Null: 403.
  User (*impersonate)(ServerContext& context, const User& user,
                      const Impersonation& impersonation) = nullptr;
  /// Rejects a write by throwing StatusError. `before` is null for a new object. By default, all
  /// writes are allowed.
  void (*check_write)(ServerContext& context, const WriteRequest& write,
                      const nlohmann::json& before, const nlohmann::json& object) =
      [](ServerContext&, const WriteRequest&, const nlohmann::json&, const nlohmann::json&) {};
};

}  // namespace kopp::apiserver
