#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>
#include <kopp/finalizer.hpp>

namespace kopp {
namespace {

using nlohmann::json;

constexpr const char* kFinalizersPath = "/metadata/finalizers";
constexpr int kMaxFinalizerPatches = 5;

json Operation(const char* op, const std::string& path, json value) {
  return {{"op", op}, {"path", path}, {"value", std::move(value)}};
}

/// Returns the operations that all patches start with: the object must be the same.
json TestsOf(const ObjectMeta& metadata) {
  json operations = json::array();
  if (!metadata.uid.empty()) operations.push_back(Operation("test", "/metadata/uid", metadata.uid));
  return operations;
}

/// Tests the whole list, because the API server would store the same finalizer twice.
json AddOperations(const ObjectMeta& metadata, std::string_view name) {
  json operations = TestsOf(metadata);
  if (metadata.finalizers.empty()) {  // the list does not exist
    operations.push_back(Operation("test", kFinalizersPath, nullptr));
    operations.push_back(Operation("add", kFinalizersPath, json::array({name})));
  } else {
    operations.push_back(Operation("test", kFinalizersPath, metadata.finalizers.get()));
    operations.push_back(Operation("add", std::string(kFinalizersPath) + "/-", name));
  }
  return operations;
}

/// Tests the one item only, so that changes of later items do not matter.
json RemoveOperations(const ObjectMeta& metadata, std::string_view name) {
  const auto& finalizers = metadata.finalizers.get();
  const auto index = std::ranges::find(finalizers, name) - finalizers.begin();
  const std::string path = std::string(kFinalizersPath) + '/' + std::to_string(index);
  json operations = TestsOf(metadata);
  operations.push_back(Operation("test", path, name));
  operations.push_back({{"op", "remove"}, {"path", path}});
  return operations;
}

/// Returns the metadata at the API server, or nullopt if the object does not exist, or was deleted
/// and created again.
std::optional<ObjectMeta> ReadAgain(const Client& client, const Kind& kind,
                                    const ObjectMeta& metadata) {
  auto object = client.Dynamic(kind).Get({metadata.ns, metadata.name});
  if (!object) return std::nullopt;
  if (!metadata.uid.empty() && object->metadata.uid != metadata.uid) return std::nullopt;
  return std::move(object->metadata);
}

/// Returns whether the API server rejected a patch because one of its tests failed (422), or
/// because there were too many concurrent writes (409).
bool IsConcurrentChange(const ApiError& error, const ObjectMeta& tested, const ObjectMeta& live) {
  if (error.IsConflict()) return true;
  return error.IsInvalid() && tested.finalizers != live.finalizers;
}

using OperationsOf = json (*)(const ObjectMeta& metadata, std::string_view name);

/// Sends the patch of `operations_of` until it is accepted, or until the object has the finalizer
/// or not, as `wanted` says. Returns whether a patch was accepted. Throws the last ApiError if the
/// object does not exist.
bool PatchFinalizers(const Client& client, const Kind& kind, ObjectMeta& metadata,
                     std::string_view name, bool wanted, OperationsOf operations_of) {
  for (int patches = 1; HasFinalizer(metadata, name) != wanted; ++patches) {
    try {
      const Patch patch = Patch::Json(operations_of(metadata, name));
      metadata = client.Dynamic(kind).Patch({metadata.ns, metadata.name}, patch).metadata;
      return true;
    } catch (const ApiError& error) {
      if (patches == kMaxFinalizerPatches || (!error.IsConflict() && !error.IsInvalid())) throw;
      auto live = ReadAgain(client, kind, metadata);
      if (!live || !IsConcurrentChange(error, metadata, *live)) throw;
      metadata = *std::move(live);
    }
  }
  return false;
}

/// Returns the finalizers of a whole object; an empty list if there are none.
json FinalizersOf(const json& object) {
  return object.value(json::json_pointer(kFinalizersPath), json::array());
}

}  // namespace

bool HasFinalizer(const ObjectMeta& metadata, std::string_view name) {
  return std::ranges::find(metadata.finalizers, name) != metadata.finalizers.end();
}

bool HasFinalizer(const json& object, std::string_view name) {
  const json finalizers = FinalizersOf(object);
  return std::ranges::find(finalizers, json(name)) != finalizers.end();
}

bool AddFinalizer(const Client& client, const Kind& kind, ObjectMeta& metadata,
                  std::string_view name) {
  return PatchFinalizers(client, kind, metadata, name, /*wanted=*/true, &AddOperations);
}

bool RemoveFinalizer(const Client& client, const Kind& kind, ObjectMeta& metadata,
                     std::string_view name) {
  try {
    return PatchFinalizers(client, kind, metadata, name, /*wanted=*/false, &RemoveOperations);
  } catch (const ApiError& error) {
    if (error.IsNotFound()) return false;
    if (error.IsInvalid() && !ReadAgain(client, kind, metadata)) return false;
    throw;
  }
}

bool AddFinalizer(json& object, std::string_view name) {
  if (HasFinalizer(object, name)) return false;
  object["metadata"]["finalizers"].push_back(name);
  return true;
}

bool RemoveFinalizer(json& object, std::string_view name) {
  if (!HasFinalizer(object, name)) return false;
  json& finalizers = object["metadata"]["finalizers"];
  finalizers.erase(std::ranges::find(finalizers, json(name)));
  return true;
}

}  // namespace kopp
