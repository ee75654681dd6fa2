#include "cache_audit.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace kopp::informer {
namespace {

constexpr int kAuditPageSize = 500;

auto KeyParts(const AnyObject& object) {
  return std::tie(object.metadata().ns, object.metadata().name);
}

}  // namespace

CacheAudit::CacheAudit(std::vector<AnyObject> cached, std::string resource_version)
    : resource_version_(std::move(resource_version)) {
  cached_.reserve(cached.size());
  for (AnyObject& object : cached) cached_.push_back({std::move(object)});
  std::sort(cached_.begin(), cached_.end(),
            [](const Entry& a, const Entry& b) { return KeyParts(a.object) < KeyParts(b.object); });
}

ListRequest CacheAudit::NextListRequest() const {
  return {.resource_version = continue_token_.empty() ? resource_version_ : "",
          .limit = kAuditPageSize,
          .continue_token = continue_token_,
          .exact = true,
          .metadata_only = metadata_only_};
}

void CacheAudit::OnListed(const AnyObject& object) {
  Entry* const cached = Find(object.key());
  if (cached == nullptr) return Count(drift_.missing, object.key(), drift_);
  cached->listed = true;
  const ObjectMeta& a = cached->object.metadata();
  const ObjectMeta& b = object.metadata();
  if (a.uid != b.uid || a.resourceVersion != b.resourceVersion) {
    Count(drift_.stale, object.key(), drift_);
  }
}

bool CacheAudit::OnListPage(const ListResult& page) {
  if (page.resource_version != resource_version_) {
    throw std::runtime_error("the server listed resource version " + page.resource_version +
                             " in place of " + resource_version_);
  }
  for (const SkippedItem& skipped : page.skipped) {
    has_unknown_keys_ |= skipped.key.name.empty();
    if (Entry* const cached = Find(skipped.key)) cached->listed = true;
  }
  continue_token_ = page.continue_token;
  if (!continue_token_.empty()) return false;
  CountGhosts();
  if (drift_.total() == 0 || !page.metadata_only) return true;
  StartWithCompleteObjects();
  return false;
}

void CacheAudit::CountGhosts() {
  if (has_unknown_keys_) return;
  for (const Entry& entry : cached_) {
    if (!entry.listed) Count(drift_.ghosts, entry.object.key(), drift_);
  }
}

void CacheAudit::StartWithCompleteObjects() {
  metadata_only_ = false;
  has_unknown_keys_ = false;
  drift_ = {};
  for (Entry& entry : cached_) entry.listed = false;
}

CacheAudit::Entry* CacheAudit::Find(const ObjectKey& key) {
  const auto found = std::lower_bound(
      cached_.begin(), cached_.end(), key, [](const Entry& entry, const ObjectKey& wanted) {
        return KeyParts(entry.object) < std::tie(wanted.ns, wanted.name);
      });
  return found != cached_.end() && found->object.key() == key ? &*found : nullptr;
}

void CacheAudit::Count(std::size_t& count, const ObjectKey& key, CacheDrift& drift) {
  ++count;
  if (drift.example.name.empty()) drift.example = key;
}

}  // namespace kopp::informer
