#include "explore/final_state.hpp"

#include "schema/accessors.hpp"
#include "storage/object_responses.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace kopp::apiserver::explore {
namespace {

using nlohmann::json;

constexpr const char* kTime = "<time>";

/// An object, the name of its resource, and its key in the state.
struct StateObject {
  std::string key;
  json object;
};

bool IsIgnored(const std::string& resource) {
  static const std::set<std::string> ignored{
      "events", "events.events.k8s.io", "leases.coordination.k8s.io",
      "customresourcedefinitions.apiextensions.k8s.io", "apiservices.apiregistration.k8s.io"};
  return ignored.contains(resource);
}

/// Returns whether `text` begins as "2026-01-02T03:04:05" and ends with 'Z'.
bool IsTime(std::string_view text) {
  constexpr std::string_view kPattern = "0000-00-00T00:00:00";
  if (text.size() <= kPattern.size() || text.back() != 'Z') return false;
  return std::ranges::equal(kPattern, text.substr(0, kPattern.size()), [](char pattern, char c) {
    return pattern == '0' ? std::isdigit(static_cast<unsigned char>(c)) != 0 : pattern == c;
  });
}

/// Replaces uids, generated names and times in all strings.
void ReplaceStrings(json& value, const std::map<std::string, std::string>& replacements) {
  if (value.is_structured()) {
    for (json& member : value) ReplaceStrings(member, replacements);
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (const auto found = replacements.find(text); found != replacements.end()) {
      value = found->second;
    } else if (IsTime(text)) {
      value = kTime;
    }
  }
}

/// Replaces each observedGeneration by whether it is that of the object: writes that change nothing
/// in the end may have incremented both.
void ReplaceGenerations(json& value, const json& generation) {
  if (!value.is_structured()) return;
  if (const auto observed = value.find("observedGeneration");
      value.is_object() && observed != value.end()) {
    *observed = *observed == generation ? "current" : "outdated";
  }
  for (json& member : value) ReplaceGenerations(member, generation);
}

void RemoveServerFields(json& object) {
  json& metadata = object["metadata"];
  const json generation = Field(metadata, "generation");
  for (const char* field : {"managedFields", "resourceVersion", "generation"}) {
    metadata.erase(field);
  }
  ReplaceGenerations(object, generation);
}

/// Returns the name of an object, without the random part of a generated name.
std::string StableName(const json& metadata) {
  const std::string prefix = StringField(metadata, "generateName");
  const std::string name = StringField(metadata, "name");
  return prefix.empty() || !name.starts_with(prefix) ? name : prefix + '*';
}

std::vector<StateObject> ReadObjects(ServerContext& context,
                                     std::map<std::string, std::string>& replacements) {
  std::vector<StateObject> objects;
  std::set<std::string> seen;
  for (const ResourcePtr& resource : context.catalog()->all()) {
    const std::string& stored = resource->storage_resource;
    if (IsIgnored(stored) || !seen.insert(stored).second) continue;
    for (const auto& [key, state] : context.store().List(stored, "").objects) {
      json object = ParseStoredObject(state->text, *resource);
      const json& metadata = Field(object, "metadata");
      const std::string name = StableName(metadata);
      const std::string path = stored + ' ' + (key.ns.empty() ? name : key.ns + '/' + name);
      replacements.emplace(StringField(metadata, "uid"), "<uid of " + path + '>');
      if (name != key.name) replacements.emplace(key.name, name);
      objects.push_back({path, std::move(object)});
    }
  }
  return objects;
}

/// Returns whether the values at this path of an object are secret, also those below it.
bool IsSecret(const std::string& key, const std::string& path) {
  return key.starts_with("secrets ") &&
         (path.starts_with("/data") || path.starts_with("/stringData") ||
          path == "/metadata/annotations" ||
          path.find("last-applied-configuration") != std::string::npos);
}

std::string DescribeChange(const std::string& key, const json& before, const json& after) {
  std::string text;
  for (const json& operation : json::diff(before, after)) {
    const auto path = operation.at("path").get<std::string>();
    // An item that is appended to a list has the path "…/-".
    const bool is_added = operation.at("op") == "add";
    const json old_value = is_added ? json() : ValueAt(before, path);
    const bool is_replaced = operation.at("op") == "replace";
    const json new_value = is_added ? operation.at("value") : ValueAt(after, path);
    const auto describe = [&](const json& value) {
      if (value.is_null()) return std::string("unset");
      return IsSecret(key, path) ? "<redacted>" : value.dump();
    };
    text += "  " + key + " " + path + ": " + describe(old_value) + " in the undisturbed run, " +
            (is_replaced && IsSecret(key, path) ? "another value" : describe(new_value)) +
            " in this run\n";
  }
  return text;
}

}  // namespace

json FinalState(ServerContext& context, const std::function<void(json&)>& normalize) {
  std::map<std::string, std::string> replacements;
  std::vector<StateObject> objects = ReadObjects(context, replacements);
  std::map<std::string, std::vector<json>> by_key;
  for (auto& [key, object] : objects) {
    RemoveServerFields(object);
    ReplaceStrings(object, replacements);
    if (normalize) normalize(object);
    by_key[key].push_back(std::move(object));
  }
  json state = json::object();
  for (auto& [key, same] : by_key) {
    std::ranges::sort(same, {}, [](const json& object) { return object.dump(); });
    for (std::size_t i = 0; i < same.size(); ++i) {
      state[i == 0 ? key : key + " (" + std::to_string(i + 1) + ')'] = std::move(same[i]);
    }
  }
  return state;
}

std::string DescribeDifference(const json& undisturbed, const json& disturbed) {
  std::string text;
  for (const auto& [key, object] : undisturbed.items()) {
    const auto other = disturbed.find(key);
    if (other == disturbed.end()) {
      text += "  " + key + " exists only in the undisturbed run\n";
    } else if (*other != object) {
      text += DescribeChange(key, object, *other);
    }
  }
  for (const auto& [key, object] : disturbed.items()) {
    if (!undisturbed.contains(key)) text += "  " + key + " exists only in this run\n";
  }
  return text;
}

}  // namespace kopp::apiserver::explore
