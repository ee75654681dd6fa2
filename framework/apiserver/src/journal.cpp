#include "journal.hpp"

#include "at.hpp"

#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

// "default/web". A create names its object in what is sent, or leaves that to the server.
std::string NameOf(const json& entry) {
  std::string name = TextAt(entry, "/objectRef/name");
  if (name.empty()) name = TextAt(entry, "/requestObject/metadata/name");
  if (name.empty()) name = TextAt(entry, "/responseObject/metadata/name");
  const std::string ns = TextAt(entry, "/objectRef/namespace");
  return ns.empty() ? name : ns + '/' + name;
}

std::string WhatOf(const json& entry) {
  const std::string subresource = TextAt(entry, "/objectRef/subresource");
  return TextAt(entry, "/verb") + ' ' + TextAt(entry, "/objectRef/resource") +
         (subresource.empty() ? "" : '/' + subresource) + ' ' + NameOf(entry);
}

std::string RefusalOf(const json& entry) {
  const int code = entry.at("responseStatus").at("code");
  if (code < 400) return "";
  return ": " + std::to_string(code) + ' ' + TextAt(entry, "/responseStatus/reason");
}

}  // namespace

Journal::Journal(const std::vector<json>& audit_log, const std::string& user) {
  for (const json& entry : audit_log) {
    const bool is_write = entry.at("level") == "RequestResponse";
    if (!is_write || TextAt(entry, "/user/username") != user) continue;
    const std::string resource = TextAt(entry, "/objectRef/resource");
    if (resource == "leases") continue;
    std::string refusal = RefusalOf(entry);
    if (resource != "events") {
      writes_.push_back({WhatOf(entry), std::move(refusal), entry.value("requestObject", json())});
    } else if (entry.at("verb") == "create" && refusal.empty()) {
      events_.push_back(TextAt(entry, "/requestObject/type") + ' ' +
                        TextAt(entry, "/requestObject/reason") + ": " +
                        TextAt(entry, "/requestObject/message"));
    }
  }
}

}  // namespace kopp::apiserver
