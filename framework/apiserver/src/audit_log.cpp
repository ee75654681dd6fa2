#include "audit_log.hpp"

#include "decode.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

bool IsWrite(const std::string& verb) {
  return verb == "create" || verb == "update" || verb == "patch" || verb.starts_with("delete");
}

json ReferenceTo(const Target& target) {
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

/// The name of what is created stands in no path.
void NameIn(const json& created, json& reference) {
  const json::json_pointer name("/metadata/name");
  if (reference.contains("name") || !created.contains(name)) return;
  if (created[name].is_string()) reference["name"] = created[name];
}

/// null where it is none, or too deep to look at.
json Object(const std::string& text, const std::string& content_type) {
  json object;
  try {
    object = Parse(text, content_type);
  } catch (const std::invalid_argument&) {
    return nullptr;
  }
  if (!object.is_structured()) return nullptr;  // a JSON patch is a list
  if (const auto metadata = object.find("metadata"); metadata != object.end()) {
    if (metadata->is_object()) metadata->erase("managedFields");
  }
  return object;
}

json StatusOf(const Reply& reply, const json& answered) {
  json status{{"metadata", json::object()}, {"code", reply.status}};
  if (reply.status < 400) return status;
  for (const char* name : {"status", "message", "reason", "details"}) {
    if (answered.is_object() && answered.contains(name)) status[name] = answered[name];
  }
  return status;
}

}  // namespace

std::string VerbOf(const Ask& ask) {
  const Target& target = ask.target;
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  };
  if (!target.is_resource) return lower(ask.method);
  const bool of_one = !target.name.empty();
  if (ask.method == "GET") {
    if (target.watch_prefix || (target.query.IsTrue("watch") && !of_one)) return "watch";
    return of_one ? "get" : "list";
  }
  if (ask.method == "POST") return "create";
  if (ask.method == "PUT") return "update";
  if (ask.method == "DELETE") return of_one ? "delete" : "deletecollection";
  return lower(ask.method);
}

Reply AuditLog::Answer(const Ask& ask) {
  const std::string received = world_.NowInMicroseconds();
  Reply reply = server_.Answer(ask);
  if (!reply.mishap.refused) Write(ask, reply, received);
  return reply;
}

void AuditLog::Write(const Ask& ask, const Reply& reply, const std::string& received) {
  const std::string verb = VerbOf(ask);
  const bool whole = IsWrite(verb);
  const bool needs_answer = whole || reply.status >= 400;
  const json answered = needs_answer ? Object(reply.body, reply.content_type) : json();
  json entry{{"kind", "Event"},
             {"apiVersion", "audit.k8s.io/v1"},
             {"level", whole ? "RequestResponse" : "Metadata"},
             {"auditID", ask.audit_id.empty() ? world_.NewUid() : ask.audit_id},
             {"stage", reply.feed == nullptr ? "ResponseComplete" : "ResponseStarted"},
             {"requestURI", ask.target.text},
             {"verb", verb},
             {"user", {{"username", ask.user.name}, {"groups", ask.user.groups}}},
             {"sourceIPs", {"127.0.0.1"}},
             {"userAgent", ask.user_agent},
             {"responseStatus", StatusOf(reply, answered)},
             {"requestReceivedTimestamp", received},
             {"stageTimestamp", world_.NowInMicroseconds()}};
  if (ask.target.is_resource) entry["objectRef"] = ReferenceTo(ask.target);
  if (whole) {
    if (const json sent = Object(ask.body, ask.content_type); !sent.is_null()) {
      if (verb == "create") NameIn(sent, entry["objectRef"]);
      entry["requestObject"] = sent;
    }
    if (!answered.is_null()) entry["responseObject"] = answered;
  }
  // Methods and names of programs may be anything.
  const std::string text = entry.dump(-1, ' ', false, json::error_handler_t::replace);
  Keep(text);
  if (listener_) listener_(text);  // who is told may look at the entries
}

void AuditLog::Keep(const std::string& entry) {
  auto kept = kept_.Lock();
  kept->entries.push_back(entry);
  kept->bytes += entry.size();
  while (kept->bytes > most_bytes_) {
    kept->bytes -= kept->entries.front().size();
    kept->entries.pop_front();
  }
}

std::vector<json> AuditLog::Entries() {
  const std::deque<std::string> texts = kept_.Lock()->entries;
  std::vector<json> entries;
  entries.reserve(texts.size());
  for (const std::string& text : texts) entries.push_back(json::parse(text));
  return entries;
}

}  // namespace kopp::apiserver
