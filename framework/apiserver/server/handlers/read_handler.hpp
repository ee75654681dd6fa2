#pragma once

#include "api/list_options.hpp"
#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/response.hpp"
#include "api/status.hpp"
#include "storage/server_context.hpp"

#include <string>
#include <vector>

namespace kopp::apiserver {

/// Handles get, list and watch. Thread-safe. All functions throw StatusError. `context` must
/// outlive it.
class ReadHandler {
 public:
  explicit ReadHandler(ServerContext& context) : context_(context) {}

  ServerResponse Get(const ServerRequest& request, const Resource& resource);
  /// Handles list, or watch if the query has watch=true. The watch shares ownership of `resource`.
  ServerResponse List(const ServerRequest& request, const ResourcePtr& resource);
  /// A list response and the keys of its items.
  struct ListResult {
    ResponseBody body{};
    std::vector<ObjectKey> keys{};
  };
  /// Same as List, but ignores watch=true.
  [[nodiscard]] ListResult ListObjects(const ServerRequest& request, const Resource& resource);

 private:
  /// Returns the version to list, or std::nullopt for the latest.
  [[nodiscard]] std::optional<ResourceVersion> SnapshotVersion(const ListOptions& options) const;

  ServerContext& context_;
};

/// Throws StatusError (504 Timeout) if `version` is higher than the latest version of the store.
void CheckVersionNotInFuture(const Store& store, ResourceVersion version);

/// Returns the 410 Expired error for a list at a compacted version. `token` is the continue token
/// of the request, or "". If it is not empty, the error contains a token that continues at the
/// latest version.
[[nodiscard]] StatusError TooOldToList(const std::string& token);
/// Returns the 410 Expired error for a watch that starts at a compacted version.
[[nodiscard]] StatusError TooOldToWatch(const std::string& version, ResourceVersion current);

}  // namespace kopp::apiserver
