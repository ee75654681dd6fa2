#include "list_options.hpp"

#include "base64.hpp"
#include "objects.hpp"
#include "status.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Match = ListOptions::Match;

constexpr const char* kMatch = "resourceVersionMatch";
constexpr std::int64_t kLongestWatch = 365L * 24 * 3600;  // seconds: no clock overflows

void CheckVersions(const Query& query, const ListOptions& options, Causes& causes) {
  const std::string match = query.Get(kMatch);
  if (options.watch && options.initial_events) {
    if (match != "NotOlderThan") {
      causes.push_back(ForbiddenField(
          kMatch, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
    }
  } else if (!match.empty() && options.watch) {
    causes.push_back(ForbiddenField(
        kMatch,
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  } else if (!match.empty() && !options.token.empty()) {
    causes.push_back(
        ForbiddenField(kMatch, "resourceVersionMatch is forbidden when continue is provided"));
    return;
  } else if (!match.empty() && options.version.empty()) {
    causes.push_back(ForbiddenField(
        kMatch, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
  } else if (match == "Exact" && options.version == "0") {
    causes.push_back(ForbiddenField(
        kMatch, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
  }
  if (options.watch && !match.empty() && match != "NotOlderThan") {
    causes.push_back(NotSupported(kMatch, match, {"NotOlderThan"}));
  } else if (!match.empty() && match != "Exact" && match != "NotOlderThan") {
    causes.push_back(NotSupported(kMatch, match, {"Exact", "NotOlderThan", ""}));
  }
  if (!options.watch && options.initial_events) {
    causes.push_back(
        ForbiddenField("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  if (options.watch && !options.token.empty()) {
    causes.push_back(
        ForbiddenField(kMatch, "resourceVersionMatch is forbidden when continue is provided"));
  }
}

/// Which words a kind has for a field that selectors may not name is a matter of its age.
Refusal NoSuchField(const Resource& resource, const std::string& name,
                    const std::vector<std::string>& selectable) {
  constexpr std::string_view kOld[] = {
      "pods", "secrets", "services", "nodes", "namespaces", "events", "replicationcontrollers"};
  if (!resource.selectable.empty() ||
      std::find(std::begin(kOld), std::end(kOld), resource.kept_as) != std::end(kOld)) {
    return BadRequest("field label not supported: " + name);
  }
  if (resource.kept_as == "jobs.batch") {
    return BadRequest("field label \"" + name + "\" not supported for Job");
  }
  std::string known;
  for (const std::string& each : selectable) known += (known.empty() ? "\"" : ", \"") + each + '"';
  return BadRequest('"' + name + "\" is not a known field selector: only " + known);
}

void CheckFields(const ListOptions& options, const Resource& resource) {
  const auto selectable = SelectableFields(resource);
  for (const std::string& name : options.fields.Names()) {
    if (std::find(selectable.begin(), selectable.end(), name) == selectable.end()) {
      throw NoSuchField(resource, name, selectable);
    }
  }
}

}  // namespace

Version ReadVersion(const std::string& text) {
  Version version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error == std::errc() && end == text.data() + text.size()) return version;
  throw std::invalid_argument("resourceVersion: Invalid value: \"" + text +
                              "\": strconv.ParseUint: parsing \"" + text + "\": invalid syntax");
}

bool ListOptions::Selects(const ObjectKey& key, const Attributes& attributes) const {
  if (!labels.Matches(attributes.labels)) return false;
  if (fields.empty()) return true;
  return fields.Matches([&](const std::string& name) -> const std::string* {
    if (name == "metadata.name") return &key.name;
    if (name == "metadata.namespace") return &key.ns;
    const auto found = attributes.fields.find(name);
    return found == attributes.fields.end() ? nullptr : &found->second;
  });
}

ListOptions ReadListOptions(const Ask& ask, const Resource& resource) {
  const Query& query = ask.target.query;
  ListOptions options;
  options.watch = query.IsTrue("watch") || ask.target.watch_prefix;
  if (query.Has("limit")) options.limit = query.Integer("limit");
  if (query.Has("timeoutSeconds"))
    options.timeout = std::min(query.Integer("timeoutSeconds"), kLongestWatch);
  options.token = query.Get("continue");
  options.version = query.Get("resourceVersion");
  options.bookmarks = query.IsTrue("allowWatchBookmarks");
  if (query.Has("sendInitialEvents")) options.initial_events = query.IsTrue("sendInitialEvents");
  const std::string match = query.Get(kMatch);
  if (match == "Exact") options.match = Match::kExact;
  if (match == "NotOlderThan") options.match = Match::kNotOlderThan;
  try {
    options.labels = Selector::OfLabels(query.Get("labelSelector"));
    const bool of_one = ask.target.watch_prefix && !ask.target.name.empty();
    options.fields = Selector::OfFields(of_one ? "metadata.name=" + ask.target.name
                                               : query.Get("fieldSelector"));
  } catch (const std::invalid_argument& error) {
    throw BadRequest(error.what());
  }
  CheckFields(options, resource);
  Causes causes;
  CheckVersions(query, options, causes);
  if (!causes.empty()) {
    Resource list_options;
    list_options.group = "meta.k8s.io";
    list_options.kind = "ListOptions";
    throw Invalid(list_options, "", causes);
  }
  try {
    if (!options.version.empty()) options.at = ReadVersion(options.version);
  } catch (const std::invalid_argument& error) {
    if (options.watch) throw Refusal(500, "", error.what());
    throw BadRequest(std::string("invalid resource version: ") + error.what());
  }
  return options;
}

std::string PageToken::ToText() const {
  return EncodedForUrl(json{{"v", "meta.k8s.io/v1"}, {"rv", version}, {"start", after}}.dump());
}

PageToken ReadPageToken(const std::string& text) {
  const std::string problem = "continue key is not valid: ";
  std::string decoded;
  try {
    decoded = DecodedFromUrl(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(problem + error.what());
  }
  const json token = json::parse(decoded, nullptr, false);
  if (!token.is_object() || !token.value("start", json()).is_string()) {
    throw std::invalid_argument(problem + "it is none that this server made");
  }
  if (const json version = token.value("v", json()); version != "meta.k8s.io/v1") {
    throw std::invalid_argument(problem + "server does not recognize this encoded version " +
                                version.dump());
  }
  const std::string start = token["start"];
  if (const auto slash = start.find('/'); slash != start.rfind('/') || slash + 1 == start.size()) {
    throw std::invalid_argument(problem + "it is none that this server made");
  }
  const json version = token.value("rv", json());
  return {version.is_number_integer() && version > 0 ? version.get<Version>() : 0, start};
}

}  // namespace kopp::apiserver
