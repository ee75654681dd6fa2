#include "unwatched_reads.hpp"

#include "cache/cache_impl.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <kopp/config.hpp>
#include <kopp/detail/watched_view.hpp>

namespace kopp {

void RejectUnwatchedReads(const ManagerView& view) {
  if (!view.options.reject_unwatched_reads || view.options.transport) return;
  const std::vector<Cluster::Impl*> clusters = view.clusters();
  std::set<std::string> kinds;
  for (const detail::WatchedViewRef& read : detail::ReadViews()) {
    const bool throws = std::ranges::all_of(clusters, [&](const Cluster::Impl* cluster) {
      return Cache::Impl::Of(cluster->cache()).RejectsReads(read.key);
    });
    if (throws) kinds.insert(read.describe(read.key).kind.kind);
  }
  if (kinds.empty()) return;
  std::string names;
  for (const std::string& kind : kinds) names += (names.empty() ? "" : ", ") + kind;
  throw ConfigError(
      "the program reads objects from the cache in a form that the cache does not "
      "have: " +
      names +
      ". Add .Owns<VIEW>().Cached() or .Watches<VIEW>(…) to the "
      "controller that reads them; if the manager shall not run it, set "
      "Options::reject_unwatched_reads to false");
}

}  // namespace kopp
