#include "environment/audit_reader.hpp"

#include "json/schema_names.hpp"
#include "schema/accessors.hpp"

#include <algorithm>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

// Returns the name of the object: "default/web". The URL of a create has no name: it is in the
// request, or, for generateName, in the response.
std::string NameOf(const json& entry) {
  std::string name = StringAt(entry, "/objectRef/name");
  if (name.empty()) name = StringAt(entry, "/requestObject/metadata/name");
  if (name.empty()) name = StringAt(entry, "/responseObject/metadata/name");
  const std::string ns = StringAt(entry, "/objectRef/namespace");
  return ns.empty() ? name : ns + '/' + name;
}

std::string OperationOf(const json& entry) {
  const std::string subresource = StringAt(entry, "/objectRef/subresource");
  const std::string name = NameOf(entry);
  return StringAt(entry, "/verb") + ' ' + StringAt(entry, "/objectRef/resource") +
         (subresource.empty() ? "" : '/' + subresource) + (name.empty() ? "" : ' ' + name);
}

/// Returns the message of a core/v1 Event, or the note of an events.k8s.io/v1 Event.
std::string MessageOf(const json& entry) {
  const std::string message = StringAt(entry, "/requestObject/message");
  return message.empty() ? StringAt(entry, "/requestObject/note") : message;
}

std::string ErrorSuffix(const json& entry) {
  const int code = entry.at("responseStatus").at("code");
  if (code < 400) return "";
  return ": " + std::to_string(code) + ' ' + StringAt(entry, "/responseStatus/reason");
}

}  // namespace

AuditReader::AuditReader(const std::vector<json>& audit_log, const std::string& user) {
  for (auto entry = audit_log.rbegin();
       entry != audit_log.rend() && last_requests_.size() < kMaxLastRequests; ++entry) {
    if (StringAt(*entry, "/user/username") != user) continue;
    const bool is_resource = !StringAt(*entry, "/objectRef/resource").empty();
    last_requests_.push_back(
        (is_resource ? OperationOf(*entry) : "get " + StringAt(*entry, "/requestURI")) +
        ErrorSuffix(*entry));
  }
  std::reverse(last_requests_.begin(), last_requests_.end());
  for (const json& entry : audit_log) {
    const bool is_write = entry.at("level") == "RequestResponse";
    if (!is_write || StringAt(entry, "/user/username") != user) continue;
    const std::string resource = StringAt(entry, "/objectRef/resource");
    if (resource == "leases") continue;
    std::string error = ErrorSuffix(entry);
    if (resource != "events") {
      writes_.push_back(
          {OperationOf(entry), std::move(error), entry.value("requestObject", json())});
    } else if (entry.at("verb") == "create" && error.empty()) {
      events_.push_back(StringAt(entry, "/requestObject/type") + ' ' +
                        StringAt(entry, "/requestObject/reason") + ": " + MessageOf(entry));
    }
  }
}

}  // namespace kopp::apiserver
