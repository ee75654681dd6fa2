#include "api/status.hpp"

#include "schema/go_quoted.hpp"
#include "schema/utf8.hpp"

#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

json Details(const Resource& resource, const std::string& name, const std::string& kind) {
  json details{{"kind", kind}};
  if (!name.empty()) details["name"] = name;
  if (!resource.group.empty()) details["group"] = resource.group;
  return details;
}

}  // namespace

StatusError::StatusError(int code, std::string reason, const std::string& message, json details,
                         json metadata)
    : std::runtime_error(ToValidUtf8(message)),
      code_(code),
      message_(ToValidUtf8(message)),
      reason_(std::move(reason)),
      details_(std::move(details)),
      metadata_(std::move(metadata)) {}

std::optional<int> StatusError::retry_after() const {
  if (!details_.is_object() || !details_.contains("retryAfterSeconds")) return std::nullopt;
  return details_["retryAfterSeconds"].get<int>();
}

json StatusError::ToJson() const {
  json status{{"kind", "Status"},    {"apiVersion", "v1"},  {"metadata", metadata_},
              {"status", "Failure"}, {"message", message_}, {"code", code_}};
  if (!reason_.empty()) status["reason"] = reason_;
  if (!details_.is_null()) status["details"] = details_;
  return status;
}

StatusError BadRequest(const std::string& message) { return {400, "BadRequest", message}; }

StatusError PathNotFound() {
  return {404, "NotFound", "the server could not find the requested resource", json::object()};
}

StatusError MethodNotAllowed() {
  return {405, "MethodNotAllowed",
          "the server does not allow this method on the requested resource", json::object()};
}

StatusError NotFound(const Resource& resource, const std::string& name) {
  return {404, "NotFound", resource.group_resource() + ' ' + GoQuoted(name) + " not found",
          Details(resource, name, resource.plural)};
}

StatusError AlreadyExists(const Resource& resource, const std::string& name,
                          bool is_being_deleted) {
  return {409, "AlreadyExists",
          (is_being_deleted ? "object is being deleted: " : "") + resource.group_resource() + ' ' +
              GoQuoted(name) + " already exists",
          Details(resource, name, resource.plural)};
}

StatusError Conflict(const Resource& resource, const std::string& name, const std::string& reason) {
  return {409, "Conflict",
          "Operation cannot be fulfilled on " + resource.group_resource() + ' ' + GoQuoted(name) +
              ": " + reason,
          Details(resource, name, resource.plural)};
}

StatusError ResourceVersionConflict(const Resource& resource, const std::string& name) {
  return Conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

StatusError Forbidden(const Resource& resource, const std::string& name, const std::string& reason,
                      json errors) {
  json details = Details(resource, name, resource.plural);
  if (!errors.is_null()) details["causes"] = std::move(errors);
  return {403, "Forbidden",
          resource.group_resource() + ' ' + GoQuoted(name) + " is forbidden: " + reason,
          std::move(details)};
}

StatusError Invalid(const Resource& resource, const std::string& name, const FieldErrors& errors) {
  // kube-apiserver validates the Events of both groups as those of the core group.
  const std::string group = resource.storage_resource == "events" ? "" : resource.group;
  json details = Details(resource, name, resource.kind);
  if (resource.kind.empty()) details.erase("kind");
  if (group.empty()) details.erase("group");
  for (const auto& [reason, message, field] : errors) {
    details["causes"].push_back({{"reason", reason}, {"message", message}, {"field", field}});
  }
  const std::string kind = group.empty() ? resource.kind : resource.kind + '.' + group;
  return {422, "Invalid", kind + ' ' + GoQuoted(name) + " is invalid: " + ToString(errors),
          std::move(details)};
}

StatusError Expired(const std::string& message, json metadata) {
  return {410, "Expired", message, nullptr, std::move(metadata)};
}

StatusError TooLarge(const std::string& reason) {
  return {413, "RequestEntityTooLarge", "Request entity too large: " + reason,
          nlohmann::json::object()};
}

StatusError BodyTooLarge() { return TooLarge("limit is " + std::to_string(kMaxBody)); }

}  // namespace kopp::apiserver
