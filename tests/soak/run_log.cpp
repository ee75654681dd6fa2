#include "run_log.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp::soak {
namespace {

using nlohmann::json;

ObjectVersion ObjectFrom(const json& object) {
  return {{object.at(0), object.at(1)}, object.at(2), std::stoull(object.at(3).get<std::string>())};
}

std::vector<ObjectVersion> ObjectsFrom(const json& list) {
  std::vector<ObjectVersion> objects;
  for (const json& object : list) objects.push_back(ObjectFrom(object));
  return objects;
}

Objects ByKey(const json& list) {
  Objects objects;
  for (ObjectVersion& object : ObjectsFrom(list)) objects.emplace(object.key, object);
  return objects;
}

/// Calls `read` for each line.
void ForEachLine(std::istream& in, const std::function<void(const json&, std::size_t)>& read) {
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    try {
      read(json::parse(line), number);
    } catch (const std::exception& error) {
      throw std::runtime_error("line " + std::to_string(number) + ": " + error.what());
    }
  }
}

}  // namespace

std::string ObjectVersion::ToString() const {
  return key.ToString() + " uid " + uid + " version " + std::to_string(version);
}

void Apply(const Change& change, Objects& objects) {
  if (change.type == "DELETED" || change.type == "delete") {
    objects.erase(change.object.key);
  } else {
    objects.insert_or_assign(change.object.key, change.object);
  }
}

std::size_t Truth::FirstAfter(std::uint64_t version) const {
  const auto first =
      std::upper_bound(changes.begin(), changes.end(), version,
                       [](std::uint64_t v, const Change& each) { return v < each.object.version; });
  return static_cast<std::size_t>(first - changes.begin());
}

Truth ReadTruth(std::istream& in) {
  Truth truth;
  ForEachLine(in, [&](const json& line, std::size_t) {
    if (line.contains("initial")) {
      truth.initial = ByKey(line.at("initial"));
      truth.initial_version = std::stoull(line.at("version").get<std::string>());
    } else if (line.contains("final")) {
      truth.final = ByKey(line.at("final"));
    } else if (line.contains("write")) {
      truth.writes.push_back({line.at("write"), ObjectFrom(line.at("object"))});
    } else {
      truth.changes.push_back({line.at("type"), ObjectFrom(line.at("object"))});
    }
  });
  return truth;
}

void ForEachCacheLogLine(std::istream& in, const std::function<void(const CacheLogLine&)>& visit) {
  ForEachLine(in, [&](const json& line, std::size_t number) {
    CacheLogLine entry{
        .number = number, .informer = line.at("informer"), .entry = line.at("entry")};
    if (line.contains("version")) {
      entry.version = std::stoull(line.at("version").get<std::string>());
    }
    if (line.contains("handler")) entry.handler = line.at("handler");
    if (line.contains("object")) {
      entry.change = {line.at("type"), ObjectFrom(line.at("object"))};
    }
    if (line.contains("objects")) entry.objects = ObjectsFrom(line.at("objects"));
    visit(entry);
  });
}

}  // namespace kopp::soak
