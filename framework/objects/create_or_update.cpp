#include <optional>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/create_or_update.hpp>
#include <kopp/dynamic_client.hpp>

namespace kopp {
namespace {

using nlohmann::json;

/// Returns an object of this kind and name without any state.
json EmptyObject(const Kind& kind, const ObjectKey& key) {
  json object{
      {"apiVersion", kind.api_version}, {"kind", kind.kind}, {"metadata", {{"name", key.name}}}};
  if (!key.ns.empty()) object["metadata"]["namespace"] = key.ns;
  return object;
}

/// Returns a copy of `object` that `mutate` has changed.
json Mutated(const json& object, const Mutate& mutate) {
  json changed = object;
  mutate(changed);
  for (const char* const field : {"/metadata/name", "/metadata/namespace"}) {
    const json::json_pointer pointer(field);
    if (changed.value(pointer, json()) == object.value(pointer, json())) continue;
    throw std::invalid_argument(std::string("mutate must not change ") + (field + 1) +
                                ", which identifies the object");
  }
  return changed;
}

/// Writes the desired state of an existing object; `change` is what differs.
using WriteChange = std::function<Unstructured(const json& desired, const Patch& change)>;

OperationOutcome<json> CreateOrWrite(const DynamicClient& client, const ObjectKey& key,
                                     const Mutate& mutate, const WriteOptions& options,
                                     const WriteChange& write) {
  if (!options.subresource.empty()) {
    throw std::invalid_argument(
        "CreateOrUpdate and CreateOrPatch write whole objects: use Update or Patch for the "
        "subresource \"" +
        options.subresource + '"');
  }
  const std::optional<Unstructured> stored = client.Get(key);
  if (!stored) {
    const json desired = Mutated(EmptyObject(client.kind(), key), mutate);
    return {OperationResult::kCreated, client.Create(desired, options).Json()};
  }
  json current = stored->Json();
  const json desired = Mutated(current, mutate);
  const Patch change = Patch::MergeFrom(current, desired);
  if (change.text == "{}") return {OperationResult::kUnchanged, std::move(current)};
  return {OperationResult::kUpdated, write(desired, change).Json()};
}

}  // namespace

OperationOutcome<json> CreateOrUpdate(const Client& client, const Kind& kind, const ObjectKey& key,
                                      const Mutate& mutate, const WriteOptions& options) {
  const DynamicClient dynamic = client.Dynamic(kind);
  return CreateOrWrite(dynamic, key, mutate, options, [&](const json& desired, const Patch&) {
    return dynamic.Update(desired, options);
  });
}

OperationOutcome<json> CreateOrPatch(const Client& client, const Kind& kind, const ObjectKey& key,
                                     const Mutate& mutate, const WriteOptions& options) {
  const DynamicClient dynamic = client.Dynamic(kind);
  return CreateOrWrite(dynamic, key, mutate, options, [&](const json&, const Patch& change) {
    return dynamic.Patch(key, change, options);
  });
}

}  // namespace kopp
