#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <kopp/informer/any_object.hpp>
#include <kopp/informer/detail/reflector_state.hpp>
#include <kopp/informer/source.hpp>

namespace kopp::informer {

/// Compares the objects of a cache with a list of the same resource version, page by page. Changes
/// of the cache after the start are not considered.
///
/// A cache that has applied all changes up to a version has exactly the objects of that version, so
/// each difference is an error. A server that does not have the version yet, or no longer, rejects
/// the list.
///
/// Lists only metadata first. If that shows differences, lists complete objects and compares again:
/// a cache does not have objects that do not fit its view.
class CacheAudit {
 public:
  /// `cached` has all changes up to `resource_version`.
  CacheAudit(std::vector<AnyObject> cached, std::string resource_version);

  /// Returns the options of the next list request.
  [[nodiscard]] ListRequest NextListRequest() const;
  /// Call for each object of a page.
  void OnListed(const AnyObject& object);
  /// Call after the objects of a page. Returns whether it was the last page of the audit. Throws
  /// std::runtime_error if the page has another resource version.
  bool OnListPage(const ListResult& page);
  /// Returns the result. Requires: the last page was listed.
  [[nodiscard]] const CacheDrift& Drift() const { return drift_; }

 private:
  struct Entry {
    AnyObject object;
    bool listed = false;
  };
  /// Returns the cached object with this key, or null.
  Entry* Find(const ObjectKey& key);
  /// Counts the cached objects that were not listed.
  void CountGhosts();
  void StartWithCompleteObjects();
  static void Count(std::size_t& count, const ObjectKey& key, CacheDrift& drift);

  std::vector<Entry> cached_;  // by key
  std::string resource_version_;
  std::string continue_token_;
  bool metadata_only_ = true;
  bool has_unknown_keys_ = false;  // an object of unknown name exists, so none is a ghost
  CacheDrift drift_;               // without ghosts until the last page
};

}  // namespace kopp::informer
