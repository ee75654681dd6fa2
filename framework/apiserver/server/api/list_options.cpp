#include "api/list_options.hpp"

#include "api/status.hpp"
#include "json/base64.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Match = ListOptions::Match;

constexpr const char* kVersionMatch = "resourceVersionMatch";
constexpr std::int64_t kMaxWatchSeconds = 365L * 24 * 3600;  // prevents overflow of clocks

/// Adds an error for each invalid combination of resourceVersion, resourceVersionMatch, continue
/// and sendInitialEvents.
void CheckVersions(const Query& query, const ListOptions& options, FieldErrors& errors) {
  const std::string match = query.Get(kVersionMatch);
  if (options.watch && options.send_initial_events) {
    if (match != "NotOlderThan") {
      errors.push_back(ForbiddenField(
          kVersionMatch,
          "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
    }
  } else if (!match.empty() && options.watch) {
    errors.push_back(ForbiddenField(
        kVersionMatch,
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  } else if (!match.empty() && !options.continue_token.empty()) {
    errors.push_back(ForbiddenField(kVersionMatch,
                                    "resourceVersionMatch is forbidden when continue is provided"));
    return;
  } else if (!match.empty() && options.resource_version_text.empty()) {
    errors.push_back(ForbiddenField(
        kVersionMatch, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
  } else if (match == "Exact" && options.resource_version_text == "0") {
    errors.push_back(ForbiddenField(
        kVersionMatch, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
  }
  if (options.watch && !match.empty() && match != "NotOlderThan") {
    errors.push_back(NotSupported(kVersionMatch, match, {"NotOlderThan"}));
  } else if (!match.empty() && match != "Exact" && match != "NotOlderThan") {
    errors.push_back(NotSupported(kVersionMatch, match, {"Exact", "NotOlderThan", ""}));
  }
  if (!options.watch && options.send_initial_events) {
    errors.push_back(
        ForbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (options.watch && !options.continue_token.empty()) {
    errors.push_back(ForbiddenField(kVersionMatch,
                                    "resourceVersionMatch is forbidden when continue is provided"));
  }
}

/// Returns the error for a field that is not selectable. Its text differs between old and new
/// kinds.
StatusError FieldNotSelectable(const Resource& resource, const std::string& name,
                               const std::vector<std::string>& selectable) {
  constexpr std::string_view kOldResources[] = {"pods",
                                                "secrets",
                                                "services",
                                                "nodes",
                                                "namespaces",
                                                "events",
                                                "replicationcontrollers",
                                                "certificatesigningrequests.certificates.k8s.io"};
  if (!resource.selectable_fields.empty() ||
      std::find(std::begin(kOldResources), std::end(kOldResources), resource.storage_resource) !=
          std::end(kOldResources)) {
    return BadRequest("field label not supported: " + name);
  }
  if (resource.storage_resource == "jobs.batch") {
    return BadRequest("field label \"" + name + "\" not supported for Job");
  }
  std::string names;
  for (const std::string& field : selectable)
    names += (names.empty() ? "\"" : ", \"") + field + '"';
  return BadRequest(fmt::format(R"("{}" is not a known field selector: only {})", name, names));
}

void CheckFields(const ListOptions& options, const Resource& resource) {
  const auto selectable = SelectableFields(resource);
  for (const auto& [field, equals, value] : options.field_selector.requirements()) {
    if (std::find(selectable.begin(), selectable.end(), field) == selectable.end()) {
      throw FieldNotSelectable(resource, field, selectable);
    }
  }
}

}  // namespace

ResourceVersion ParseResourceVersion(const std::string& text) {
  ResourceVersion version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error == std::errc() && end == text.data() + text.size()) return version;
  throw std::invalid_argument(fmt::format(
      R"(resourceVersion: Invalid value: "{}": strconv.ParseUint: parsing "{}": invalid syntax)",
      text, text));
}

bool ListOptions::SelectorMatches(const ObjectKey& key, const ObjectAttributes& attributes) const {
  if (!label_selector.Matches(attributes.labels)) return false;
  if (field_selector.empty()) return true;
  return field_selector.Matches([&](const std::string& name) -> const std::string* {
    if (name == "metadata.name") return &key.name;
    if (name == "metadata.namespace") return &key.ns;
    const auto found = attributes.fields.find(name);
    return found == attributes.fields.end() ? nullptr : &found->second;
  });
}

ListOptions ReadListOptions(const ServerRequest& request, const Resource& resource) {
  const Query& query = request.target.query;
  ListOptions options;
  options.watch = query.IsTrue("watch") || request.target.watch_prefix;
  if (query.Has("limit")) options.limit = query.Integer("limit");
  if (query.Has("timeoutSeconds"))
    options.timeout = std::min(query.Integer("timeoutSeconds"), kMaxWatchSeconds);
  options.continue_token = query.Get("continue");
  options.resource_version_text = query.Get("resourceVersion");
  options.allow_bookmarks = query.IsTrue("allowWatchBookmarks");
  if (query.Has("sendInitialEvents"))
    options.send_initial_events = query.IsTrue("sendInitialEvents");
  const std::string match = query.Get(kVersionMatch);
  if (match == "Exact") options.match = Match::kExact;
  if (match == "NotOlderThan") options.match = Match::kNotOlderThan;
  try {
    options.label_selector = LabelSelector::Parse(query.Get("labelSelector"));
    const bool is_single_object = request.target.watch_prefix && !request.target.name.empty();
    options.field_selector = FieldSelector::Parse(
        is_single_object ? "metadata.name=" + request.target.name : query.Get("fieldSelector"));
  } catch (const std::invalid_argument& error) {
    throw BadRequest(error.what());
  }
  CheckFields(options, resource);
  FieldErrors errors;
  CheckVersions(query, options, errors);
  if (!errors.empty()) {
    Resource list_options;
    list_options.group = "meta.k8s.io";
    list_options.kind = "ListOptions";
    throw Invalid(list_options, "", errors);
  }
  try {
    if (!options.resource_version_text.empty())
      options.resource_version = ParseResourceVersion(options.resource_version_text);
  } catch (const std::invalid_argument& error) {
    if (options.watch) throw StatusError(500, "", error.what());
    throw BadRequest(std::string("invalid resource version: ") + error.what());
  }
  return options;
}

std::string ContinueToken::Encode() const {
  return Base64UrlEncode(json{{"v", "meta.k8s.io/v1"}, {"rv", version}, {"start", after}}.dump());
}

ContinueToken DecodeContinueToken(const std::string& text) {
  const std::string error_prefix = "continue key is not valid: ";
  std::string decoded;
  try {
    decoded = Base64UrlDecode(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(error_prefix + error.what());
  }
  const json token = json::parse(decoded, nullptr, false);
  if (!token.is_object() || !token.value("start", json()).is_string()) {
    throw std::invalid_argument(error_prefix + "the token was not issued by this server");
  }
  if (const json version = token.value("v", json()); version != "meta.k8s.io/v1") {
    throw std::invalid_argument(error_prefix + "server does not recognize this encoded version " +
                                version.dump());
  }
  const std::string start = token["start"];
  if (const auto slash = start.find('/'); slash != start.rfind('/') || slash + 1 == start.size()) {
    throw std::invalid_argument(error_prefix + "the token was not issued by this server");
  }
  const json version = token.value("rv", json());
  return {version.is_number_integer() && version > 0 ? version.get<ResourceVersion>() : 0, start};
}

}  // namespace kopp::apiserver
