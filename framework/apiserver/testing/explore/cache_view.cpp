#include "explore/cache_view.hpp"

#include <chrono>
#include <utility>

namespace kopp::apiserver::explore {

using informer::WatchItem;

void CacheView::List(std::optional<ResourceVersion> at) {
  pending_.clear();
  watch_.reset();
  const std::string version =
      informer_.List({.resource_version = at ? std::to_string(*at) : "", .exact = at.has_value()});
  watch_ = informer_.source->Watch(
      {.resource_version = version, .timeout = std::chrono::hours(24 * 365)}, {});
  Receive();
}

void CacheView::Receive() {
  if (watch_ == nullptr) return;
  for (;;) {
    WatchItem item = watch_->Next(Duration::zero());
    if (item.type == WatchItem::Type::kNoEvent) return;
    if (item.type == WatchItem::Type::kEnd) return List();  // after a year
    if (item.type == WatchItem::Type::kEvent) pending_.push_back(std::move(item));
  }
}

ResourceVersion CacheView::NextVersion() const {
  return std::stoull(pending_.front().resource_version);
}

std::string CacheView::DescribeNext() const {
  const WatchItem& item = pending_.front();
  const bool added = item.event_type == informer::EventType::kAdded;
  const bool deleted = item.event_type == informer::EventType::kDeleted;
  return (added ? "ADDED " : deleted ? "DELETED " : "MODIFIED ") + item.object.key().ToString();
}

void CacheView::Deliver() {
  const WatchItem item = std::move(pending_.front());
  pending_.pop_front();
  informer_.sink->ApplyEvent(item);
  informer_.sink->OnVersion(item.resource_version);
}

}  // namespace kopp::apiserver::explore
