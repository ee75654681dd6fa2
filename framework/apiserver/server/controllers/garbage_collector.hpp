#pragma once

#include "api/resource.hpp"
#include "api/write_options.hpp"
#include "storage/server_context.hpp"

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Deletes objects, and does the work of the control plane's garbage collector and namespace
/// controller. It runs in the thread of the write that causes it, before the response. Thread-safe.
/// `context` must outlive it.
class GarbageCollector {
 public:
  explicit GarbageCollector(ServerContext& context) : context_(context) {}

  /// Reviews the deletion of an object in its stored state. Throws StatusError to reject it.
  using Review = std::function<void(const StoredObject& stored)>;

  /// Removes an object, or sets its deletionTimestamp if finalizers or a grace period delay the
  /// removal. Sets `removed` accordingly. Returns the last state of the object. Calls `review`
  /// first, unless it is empty, and again if another thread writes the object meanwhile. Throws
  /// StatusError if the object does not exist or the preconditions fail, and what `review` throws.
  nlohmann::json Delete(const Resource& resource, const ObjectKey& key,
                        const DeleteOptions& options, bool& removed, const Review& review = {});

  /// Deletes all objects of a resource in a namespace ("": in all), without a grace period. Ignores
  /// objects that cannot be deleted. An empty `propagation` is the default of the kind.
  void DeleteAll(const std::string& storage_resource, const std::string& ns,
                 const std::string& propagation);

  /// Runs garbage collection after a write of `object`, or, if `removed`, after its removal.
  void ProcessWrite(const Resource& resource, const ObjectKey& key, const nlohmann::json& object,
                    bool removed);
  /// Deletes the contents of a namespace if it is terminating or missing. Call it after a create
  /// that may have raced with the deletion of the namespace.
  void ProcessNamespace(const std::string& ns);

 private:
  /// An object that was written or removed, and that garbage collection must process.
  struct WrittenObject {
    ObjectLocation location{};
    nlohmann::json metadata{};
    bool removed = false;
  };
  // Uses a worklist: recursion could overflow the stack on long owner chains.
  using Worklist = std::deque<WrittenObject>;

  void ProcessWorklist(Worklist worklist);
  void ProcessChange(const WrittenObject& written, Worklist& worklist);
  void ProcessRemoval(const WrittenObject& written, Worklist& worklist);
  /// Deletes the dependents with this propagation policy. Removes only the owner reference if the
  /// policy is "Orphan" or the dependent has other owners.
  void ProcessDependents(const nlohmann::json& owner, const std::string& propagation,
                         Worklist& worklist);
  void UnblockOwners(const WrittenObject& written, Worklist& worklist);
  void RemoveAbsentOwners(const WrittenObject& written, Worklist& worklist);

  [[nodiscard]] bool IsNamespaceTerminating(const std::string& ns);
  void DeleteNamespaceContents(const std::string& ns);
  void FinalizeNamespace(const std::string& ns, Worklist& worklist);

  /// Does the work of Delete, and adds the object to the worklist.
  nlohmann::json DeleteOrMark(const Resource& resource, const ObjectKey& key,
                              const DeleteOptions& options, bool& removed, Worklist& worklist,
                              const Review& review = {});
  /// Same as DeleteOrMark with grace period 0, but ignores errors.
  void DeleteIfExists(const ObjectLocation& location, const std::string& propagation,
                      Worklist& worklist);
  void RemoveOwnerReference(const ObjectLocation& location, const std::string& uid,
                            Worklist& worklist);
  void RemoveFinalizer(const ObjectLocation& location, std::string_view name, Worklist& worklist);
  void UpdateObject(const ObjectLocation& location,
                    const std::function<bool(nlohmann::json& object)>& update, Worklist& worklist);

  ServerContext& context_;
};

}  // namespace kopp::apiserver
