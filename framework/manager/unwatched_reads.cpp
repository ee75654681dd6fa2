#include "unwatched_reads.hpp"

#include "cache/cache_impl.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <kopp/detail/watched_view.hpp>

namespace kopp {

std::optional<std::string> UnwatchedReads(const ManagerView& view) {
  if (!view.options.reject_unwatched_reads || view.options.transport) return std::nullopt;
  const std::vector<Cluster::Impl*> clusters = view.clusters();
  std::set<std::string> views;
  for (const detail::WatchedViewRef& read : detail::ReadViews()) {
    const bool throws = std::ranges::all_of(clusters, [&](const Cluster::Impl* cluster) {
      return Cache::Impl::Of(cluster->cache()).RejectsReads(read.key);
    });
    if (!throws) continue;
    const detail::WatchedView described = read.describe(read.key);
    views.insert(described.kind.kind +
                 (described.form == ObjectForm::kMetadataOnly ? " (metadata)" : ""));
  }
  if (views.empty()) return std::nullopt;
  std::string names;
  for (const std::string& each : views) names += (names.empty() ? "" : ", ") + each;
  return "the program reads from the cache what the cache does not have: " + names +
         ". Add .Owns<VIEW>().Cached() or .Watches<VIEW>(…) to the controller that reads it, or "
         ".Owns<VIEW>() for metadata; if the program reads another cache, or watches the view "
         "later, set Options::reject_unwatched_reads to false";
}

}  // namespace kopp
