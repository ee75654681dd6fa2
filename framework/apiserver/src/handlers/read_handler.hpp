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
  ServerResponse List(const ServerRequest& request, const Catalog::Entry& resource);
  /// A list response and the keys of its items.
  struct ListResult {
    std::string body{};
    std::vector<ObjectKey> keys{};
  };
  /// Same as List, but ignores watch=true.
  [[nodiscard]] ListResult ListObjects(const ServerRequest& request, const Resource& resource);

 private:
  /// The version to list; empty for the latest.
  [[nodiscard]] std::optional<ResourceVersion> SnapshotVersion(const ListOptions& options) const;

  ServerContext& context_;
};

/// Throws StatusError (504 Timeout) if `version` is higher than the latest version of the store.
void CheckVersionNotInFuture(const Store& store, ResourceVersion version);

/// 410 Expired for a list at a compacted version. `token` is the continue token of the request, or
/// "": with a token, the error contains a token that continues at the latest version.
[[nodiscard]] StatusError TooOldToList(const std::string& token);
/// 410 Expired for a watch that starts at a compacted version.
[[nodiscard]] StatusError TooOldToWatch(const std::string& version, ResourceVersion current);

}  // namespace kopp::apiserver
