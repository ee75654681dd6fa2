#include "explore/cache_view.hpp"

#include "api/request.hpp"
#include "faults/fault_plan.hpp"
#include "json/schema_names.hpp"
#include "schema/accessors.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/informer/object_key.hpp>

namespace kopp::apiserver::explore {
namespace {

std::string VerbOf(const ApiRequest& request, const RequestInfo& target) {
  if (request.method == "POST") return "create";
  if (request.method == "PUT") return "update";
  if (request.method == "PATCH") {
    return request.content_type == "application/apply-patch+yaml" ? "apply" : "patch";
  }
  if (request.method == "DELETE") return target.name.empty() ? "delete all" : "delete";
  return target.name.empty() ? "list" : "get";
}

}  // namespace

using informer::WatchItem;

void CacheView::List(std::optional<ResourceVersion> at) {
  pending_.clear();
  watch_.reset();
  std::vector<informer::AnyObject> objects;
  const informer::ListResult result = informer_.source->List(
      {.resource_version = at ? std::to_string(*at) : "", .exact = at.has_value()},
      [&](informer::AnyObject object) { objects.push_back(std::move(object)); }, {});
  std::vector<ObjectKey> skipped;
  for (const informer::SkippedItem& object : result.skipped) skipped.push_back(object.key);
  informer_.sink->Replace(std::move(objects), skipped);
  informer_.sink->OnVersion(result.resource_version);
  watch_ = informer_.source->Watch(
      {.resource_version = result.resource_version, .timeout = std::chrono::hours(24 * 365)}, {});
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

bool IsWrite(const ApiRequest& request) { return request.method != "GET"; }

std::string DescribeRequest(const ApiRequest& request) {
  const ServerRequest parsed{.method = request.method,
                             .target = ParseRequestInfo(request.target),
                             .body = request.body,
                             .content_type = request.content_type};
  const RequestInfo& target = parsed.target;
  if (!target.is_resource) return request.method + ' ' + target.path;
  std::string text = VerbOf(request, target) + ' ' + target.plural;
  if (!target.subresource.empty()) text += '/' + target.subresource;
  std::string name = ObjectNameOf(parsed);
  if (name.empty() && request.method == "POST") {
    const auto body = nlohmann::json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    name = StringAt(body, "/metadata/generateName") + '*';
  }
  const bool both = !target.ns.empty() && !name.empty();
  const std::string object = target.ns + (both ? "/" : "") + name;
  return object.empty() ? text : text + ' ' + object;
}

std::string DescribeResponse(const ApiResponse& response) {
  std::string text = std::to_string(response.status);
  if (response.status < 400) return text;
  const auto body = nlohmann::json::parse(response.body, nullptr, /*allow_exceptions=*/false);
  return text + ' ' + StringAt(body, "/message");
}

}  // namespace kopp::apiserver::explore
