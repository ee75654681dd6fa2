#include "journal.hpp"

#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

// The text at `path`, "" where there is none.
std::string Text(const json& entry, const char* path) {
  const json::json_pointer pointer(path);
  if (!entry.contains(pointer)) return "";
  const json& value = entry.at(pointer);
  return value.is_string() ? value.get<std::string>() : "";
}

// "default/web". A create names its object in what is sent, or leaves that to the server.
std::string NameOf(const json& entry) {
  std::string name = Text(entry, "/objectRef/name");
  if (name.empty()) name = Text(entry, "/requestObject/metadata/name");
  if (name.empty()) name = Text(entry, "/responseObject/metadata/name");
  const std::string ns = Text(entry, "/objectRef/namespace");
  return ns.empty() ? name : ns + '/' + name;
}

std::string WhatOf(const json& entry) {
  const std::string subresource = Text(entry, "/objectRef/subresource");
  return Text(entry, "/verb") + ' ' + Text(entry, "/objectRef/resource") +
         (subresource.empty() ? "" : '/' + subresource) + ' ' + NameOf(entry);
}

std::string RefusalOf(const json& entry) {
  const int code = entry.at("responseStatus").at("code");
  if (code < 400) return "";
  return ": " + std::to_string(code) + ' ' + Text(entry, "/responseStatus/reason");
}

}  // namespace

Journal::Journal(const std::vector<json>& audit_log, const std::string& user) {
  for (const json& entry : audit_log) {
    const bool is_write = entry.at("level") == "RequestResponse";
    if (!is_write || Text(entry, "/user/username") != user) continue;
    const std::string resource = Text(entry, "/objectRef/resource");
    if (resource == "leases") continue;
    std::string refusal = RefusalOf(entry);
    if (resource != "events") {
      writes_.push_back({WhatOf(entry), std::move(refusal), entry.value("requestObject", json())});
    } else if (entry.at("verb") == "create" && refusal.empty()) {
      events_.push_back(Text(entry, "/requestObject/type") + ' ' +
                        Text(entry, "/requestObject/reason") + ": " +
                        Text(entry, "/requestObject/message"));
    }
  }
}

}  // namespace kopp::apiserver
