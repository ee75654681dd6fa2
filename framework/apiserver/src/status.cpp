#include "status.hpp"

#include "utf8.hpp"

#include <algorithm>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

json Details(const Resource& resource, const std::string& name, const std::string& kind) {
  json details{{"kind", kind}};
  if (!name.empty()) details["name"] = name;
  if (!resource.group.empty()) details["group"] = resource.group;
  return details;
}

std::string Quoted(const std::string& text) { return '"' + text + '"'; }

/// As Go prints it: a string in quotes, an object or a list as JSON.
std::string Printed(const json& value) { return value.dump(); }

std::string InWords(const Cause& cause) {
  return cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
}

/// Each problem once.
std::string InWords(const Causes& causes) {
  std::vector<std::string> problems;
  for (const Cause& cause : causes) {
    std::string problem = InWords(cause);
    if (std::find(problems.begin(), problems.end(), problem) == problems.end()) {
      problems.push_back(std::move(problem));
    }
  }
  if (problems.size() == 1) return problems.front();
  std::string words;
  for (const std::string& problem : problems) words += (words.empty() ? "[" : ", ") + problem;
  return words + ']';
}

}  // namespace

Refusal::Refusal(int code, std::string reason, const std::string& message, json details,
                 json metadata)
    : std::runtime_error(AsUtf8(message)),
      code_(code),
      reason_(std::move(reason)),
      details_(std::move(details)),
      metadata_(std::move(metadata)) {}

std::optional<int> Refusal::retry_after() const {
  if (!details_.is_object() || !details_.contains("retryAfterSeconds")) return std::nullopt;
  return details_["retryAfterSeconds"].get<int>();
}

json Refusal::ToJson() const {
  json status{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", metadata_},
              {"status", "Failure"}, {"message", what()},  {"code", code_}};
  if (!reason_.empty()) status["reason"] = reason_;
  if (!details_.is_null()) status["details"] = details_;
  return status;
}

Refusal BadRequest(const std::string& message) { return {400, "BadRequest", message}; }

Refusal NoSuchPath() {
  return {404, "NotFound", "the server could not find the requested resource", json::object()};
}

Refusal MethodNotAllowed() {
  return {405, "MethodNotAllowed",
          "the server does not allow this method on the requested resource", json::object()};
}

Refusal NotFound(const Resource& resource, const std::string& name) {
  return {404, "NotFound", resource.qualified() + ' ' + Quoted(name) + " not found",
          Details(resource, name, resource.plural)};
}

Refusal AlreadyExists(const Resource& resource, const std::string& name, bool is_being_deleted) {
  return {409, "AlreadyExists",
          (is_being_deleted ? "object is being deleted: " : "") + resource.qualified() + ' ' +
              Quoted(name) + " already exists",
          Details(resource, name, resource.plural)};
}

Refusal Conflict(const Resource& resource, const std::string& name, const std::string& why) {
  return {
      409, "Conflict",
      "Operation cannot be fulfilled on " + resource.qualified() + ' ' + Quoted(name) + ": " + why,
      Details(resource, name, resource.plural)};
}

Refusal Modified(const Resource& resource, const std::string& name) {
  return Conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version "
                  "and try again");
}

Refusal Forbidden(const Resource& resource, const std::string& name, const std::string& why,
                  json causes) {
  json details = Details(resource, name, resource.plural);
  if (!causes.is_null()) details["causes"] = std::move(causes);
  return {403, "Forbidden", resource.qualified() + ' ' + Quoted(name) + " is forbidden: " + why,
          std::move(details)};
}

Refusal Invalid(const Resource& resource, const std::string& name, const Causes& causes) {
  json details = Details(resource, name, resource.kind);
  for (const auto& [reason, message, field] : causes) {
    details["causes"].push_back({{"reason", reason}, {"message", message}, {"field", field}});
  }
  const std::string kind =
      resource.group.empty() ? resource.kind : resource.kind + '.' + resource.group;
  return {422, "Invalid", kind + ' ' + Quoted(name) + " is invalid: " + InWords(causes),
          std::move(details)};
}

Refusal Expired(const std::string& message, json metadata) {
  return {410, "Expired", message, nullptr, std::move(metadata)};
}

Cause Required(std::string field, const std::string& detail) {
  return {"FieldValueRequired",
          detail.empty() ? std::string("Required value") : "Required value: " + detail,
          std::move(field)};
}

Cause InvalidValue(std::string field, const json& value, const std::string& detail) {
  return {"FieldValueInvalid", "Invalid value: " + Printed(value) + ": " + detail,
          std::move(field)};
}

Cause ForbiddenField(std::string field, const std::string& detail) {
  return {"FieldValueForbidden", "Forbidden: " + detail, std::move(field)};
}

Cause Duplicate(std::string field, const json& value) {
  return {"FieldValueDuplicate", "Duplicate value: " + Printed(value), std::move(field)};
}

Cause TooLong(std::string field, std::size_t max) {
  return {"FieldValueTooLong", "Too long: may not be more than " + std::to_string(max) + " bytes",
          std::move(field)};
}

Cause NotSupported(std::string field, const json& value,
                   const std::vector<std::string>& supported) {
  std::string values;
  for (const std::string& each : supported) values += (values.empty() ? "" : ", ") + Quoted(each);
  return {"FieldValueNotSupported",
          "Unsupported value: " + Printed(value) + ": supported values: " + values,
          std::move(field)};
}

}  // namespace kopp::apiserver
