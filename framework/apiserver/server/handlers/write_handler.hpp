#pragma once

#include "api/response.hpp"
#include "api/write_request.hpp"
#include "controllers/garbage_collector.hpp"
#include "fieldmanager/managed_fields.hpp"
#include "handlers/new_object.hpp"
#include "storage/server_context.hpp"
#include "strategy/kind_strategy.hpp"

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Handles create, update, patch, delete and deletecollection. All functions throw StatusError.
/// Thread-safe: if another thread has written the object in the meantime, an update starts again
/// with the new state. `context` must outlive it.
class WriteHandler {
 public:
  explicit WriteHandler(ServerContext& context) : context_(context), collector_(context) {}

  ServerResponse Create(const ServerRequest& request, const Resource& resource, Warnings& warnings);
  ServerResponse Update(const ServerRequest& request, const Resource& resource, Warnings& warnings);
  ServerResponse Patch(const ServerRequest& request, const Resource& resource, Warnings& warnings);
  ServerResponse Delete(const ServerRequest& request, const Resource& resource);
  ServerResponse DeleteCollection(const ServerRequest& request, const Resource& resource);

 private:
  /// Returns the new state of an object from its current state.
  using UpdateFunction = std::function<nlohmann::json(const nlohmann::json& live)>;
  enum class WriteKind { kPut, kPatch, kApply };
  /// The parameters of an update of an existing object.
  struct UpdateParams {
    const WriteRequest& write;
    WriteKind kind = WriteKind::kPut;
    UpdateFunction update{};
  };

  nlohmann::json CreateObject(const WriteRequest& write, nlohmann::json object, Warnings& warnings,
                              WriteKind kind);
  /// Same as CreateObject, for a PUT or an apply of an object that does not exist: requires the
  /// permission to create it, too.
  nlohmann::json CreateByUpdate(const WriteRequest& write, nlohmann::json object,
                                Warnings& warnings, WriteKind kind);
  /// Stores a new object and returns its stored state. Throws StatusError (409) if it exists.
  [[nodiscard]] nlohmann::json StoreNewObject(const WriteRequest& write, const NewObject& created,
                                              nlohmann::json object);
  /// Updates an existing object, and retries if another thread has written it. Returns its new
  /// state.
  nlohmann::json UpdateObject(const UpdateParams& params, Warnings& warnings);
  /// Computes and validates the new state of an object.
  [[nodiscard]] nlohmann::json PrepareUpdate(const UpdateParams& params, const nlohmann::json& live,
                                             Warnings& warnings);
  ServerResponse Apply(const ServerRequest& request, const Resource& resource, Warnings& warnings);
  ServerResponse WriteScale(const ServerRequest& request, const Resource& resource,
                            Warnings& warnings);

  ServerContext& context_;
  GarbageCollector collector_;
};

}  // namespace kopp::apiserver
