#include "faults/audit_log.hpp"

#include "api/request.hpp"
#include "json/parse.hpp"

#include <stdexcept>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

bool IsWrite(const std::string& verb) {
  return verb == "create" || verb == "update" || verb == "patch" || verb.starts_with("delete");
}

json MakeObjectRef(const RequestInfo& target) {
  json reference{{"resource", target.plural}, {"apiVersion", target.version}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) reference[name] = value;
  };
  add("apiGroup", target.group);
  add("namespace", target.ns);
  add("name", target.name);
  add("subresource", target.subresource);
  return reference;
}

/// Sets the name in the objectRef of a create request: the URL does not contain it.
void SetCreatedName(const json& created, json& reference) {
  const json::json_pointer name("/metadata/name");
  if (reference.contains("name") || !created.contains(name)) return;
  if (created[name].is_string()) reference["name"] = created[name];
}

/// Returns the value without metadata.managedFields, or null if it is not an object or list.
json WithoutManagedFields(json object) {
  if (!object.is_structured()) return nullptr;  // a JSON patch is an array
  if (const auto metadata = object.find("metadata"); metadata != object.end()) {
    if (metadata->is_object()) metadata->erase("managedFields");
  }
  return object;
}

/// Parses a body. Returns the result as WithoutManagedFields() does; null if it is not valid or
/// nested too deeply.
json ParseBody(const std::string& text, const std::string& content_type) {
  try {
    return WithoutManagedFields(ParseJsonOrYaml(text, content_type));
  } catch (const std::invalid_argument&) {
    return nullptr;
  }
}

json ResponseObjectOf(const ServerResponse& response) {
  const json* value = response.body.value();
  return value != nullptr ? WithoutManagedFields(*value)
                          : ParseBody(response.body.text(), response.content_type);
}

json MakeResponseStatus(const ServerResponse& response, const json& response_object) {
  json status{{"metadata", json::object()}, {"code", response.status}};
  if (response.status < 400) return status;
  for (const char* name : {"status", "message", "reason", "details"}) {
    if (response_object.is_object() && response_object.contains(name)) {
      status[name] = response_object[name];
    }
  }
  return status;
}

}  // namespace

ServerResponse AuditLog::Handle(const ServerRequest& request) {
  const std::string received = context_.NowInMicroseconds();
  ServerResponse response = server_.Handle(request);
  if (!response.injected_fault.refuse) Log(request, response, received);
  return response;
}

void AuditLog::Log(const ServerRequest& request, const ServerResponse& response,
                   const std::string& received) {
  const std::string verb = VerbOf(request);
  const bool is_write = IsWrite(verb);
  const bool needs_response = is_write || response.status >= 400;
  const json response_object = needs_response ? ResponseObjectOf(response) : json();
  json entry{{"kind", "Event"},
             {"apiVersion", "audit.k8s.io/v1"},
             {"level", is_write ? "RequestResponse" : "Metadata"},
             {"auditID", request.audit_id.empty() ? context_.NewUid() : request.audit_id},
             {"stage", response.watch == nullptr ? "ResponseComplete" : "ResponseStarted"},
             {"requestURI", request.target.raw},
             {"verb", verb},
             {"user", UserToJson(request.user)},
             {"sourceIPs", {"127.0.0.1"}},
             {"userAgent", request.user_agent},
             {"responseStatus", MakeResponseStatus(response, response_object)},
             {"requestReceivedTimestamp", received},
             {"stageTimestamp", context_.NowInMicroseconds()}};
  if (response.impersonated_user) {
    entry["impersonatedUser"] = UserToJson(*response.impersonated_user);
  }
  if (request.target.is_resource) entry["objectRef"] = MakeObjectRef(request.target);
  if (is_write) {
    if (const json sent = ParseBody(request.body, request.content_type); !sent.is_null()) {
      if (verb == "create") SetCreatedName(sent, entry["objectRef"]);
      entry["requestObject"] = sent;
    }
    if (!response_object.is_null()) entry["responseObject"] = response_object;
  }
  // Replaces invalid UTF-8, which methods and user agents may contain.
  const std::string text = entry.dump(-1, ' ', false, json::error_handler_t::replace);
  Append(text);
  if (listener_) listener_(text);  // without the lock: the listener may call Entries
}

void AuditLog::Append(const std::string& entry) {
  auto buffer = buffer_.Lock();
  buffer->entries.push_back(entry);
  buffer->bytes += entry.size();
  while (buffer->bytes > max_bytes_) {
    buffer->bytes -= buffer->entries.front().size();
    buffer->entries.pop_front();
  }
}

std::vector<json> AuditLog::Entries() {
  const std::deque<std::string> texts = buffer_.Lock()->entries;
  std::vector<json> entries;
  entries.reserve(texts.size());
  for (const std::string& text : texts) entries.push_back(json::parse(text));
  return entries;
}

}  // namespace kopp::apiserver
