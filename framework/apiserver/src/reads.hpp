#pragma once

#include "exchange.hpp"
#include "list_options.hpp"
#include "resource.hpp"
#include "status.hpp"
#include "world.hpp"

#include <string>
#include <vector>

namespace kopp::apiserver {

/// The verbs that look. Safe to use from any thread. Each throws a Refusal.
class Reads {
 public:
  explicit Reads(World& world) : world_(world) {}

  Reply Get(const Ask& ask, const Resource& resource);
  /// A list, or a watch where the query says so. The watch holds on to the resource.
  Reply List(const Ask& ask, const Catalog::Entry& resource);
  /// A list, whatever the query says, and what is in it.
  struct Listing {
    std::string body{};
    std::vector<ObjectKey> keys{};
  };
  [[nodiscard]] Listing ListNow(const Ask& ask, const Resource& resource);

 private:
  [[nodiscard]] std::optional<Version> VersionToShow(const ListOptions& options) const;

  World& world_;
};

/// Throws a Refusal where `version` is one that has not come yet.
void CheckNotOfTheFuture(const Store& store, Version version);

/// To a list of a version that is no longer kept: where it begins, or was to go on with `token`.
[[nodiscard]] Refusal TooOldToList(const std::string& token);
/// To a watch from such a version.
[[nodiscard]] Refusal TooOldToWatch(const std::string& version, Version current);

}  // namespace kopp::apiserver
