#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/patch.hpp>

namespace kopp {
namespace {

using nlohmann::json;

/// Returns the members of a merge patch (RFC 7386) that turns one JSON object into another.
json DiffObjects(const json& original, const json& changed) {
  const json absent;
  json patch = json::object();
  for (const auto& [name, value] : original.items()) {
    if (!value.is_null() && !changed.contains(name)) patch[name] = nullptr;
  }
  for (const auto& [name, value] : changed.items()) {
    const auto found = original.find(name);
    const json& before = found == original.end() ? absent : *found;
    if (value == before) continue;
    if (!value.is_object() || !before.is_object()) {
      patch[name] = value;
    } else if (json nested = DiffObjects(before, value); !nested.empty()) {
      patch[name] = std::move(nested);
    }
  }
  return patch;
}

}  // namespace

Patch Patch::Merge(const json& object) { return {Type::kMerge, object.dump()}; }
Patch Patch::Json(const json& operations) { return {Type::kJson, operations.dump()}; }
Patch Patch::StrategicMerge(const json& object) { return {Type::kStrategicMerge, object.dump()}; }

Patch Patch::MergeFrom(const json& original, const json& changed, OptimisticLock lock) {
  if (!original.is_object() || !changed.is_object()) {
    throw std::invalid_argument("MergeFrom needs whole objects, as JSON objects");
  }
  json patch = DiffObjects(original, changed);
  if (lock == OptimisticLock::kYes) {
    const json::json_pointer version("/metadata/resourceVersion");
    if (!original.contains(version)) {
      throw std::invalid_argument(
          "MergeFrom with an optimistic lock needs metadata.resourceVersion of the original "
          "object");
    }
    patch[version] = original.at(version);
  }
  return Merge(patch);
}

JsonPatch& JsonPatch::Append(std::string_view operation, std::string_view path,
                             const std::string& value) {
  if (!operations_.empty()) operations_ += ',';
  operations_ += "{\"op\":" + detail::EncodeString(operation);
  operations_ += ",\"path\":" + detail::EncodeString(path);
  if (!value.empty()) operations_ += ",\"value\":" + value;
  operations_ += '}';
  return *this;
}

}  // namespace kopp
