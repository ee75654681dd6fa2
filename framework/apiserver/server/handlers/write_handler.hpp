#pragma once

#include "admission/admission_webhooks.hpp"
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
/// with the new state. `context` and `webhooks` must outlive it.
class WriteHandler {
 public:
  /// Without `webhooks`, none are called.
  explicit WriteHandler(ServerContext& context, AdmissionWebhooks* webhooks = nullptr)
      : context_(context), collector_(context), webhooks_(webhooks) {}

  ServerResponse Create(const ServerRequest& request, const Resource& resource, Warnings& warnings);
  ServerResponse Update(const ServerRequest& request, const Resource& resource, Warnings& warnings);
  ServerResponse Patch(const ServerRequest& request, const Resource& resource, Warnings& warnings);
  ServerResponse Delete(const ServerRequest& request, const Resource& resource, Warnings& warnings);
  ServerResponse DeleteCollection(const ServerRequest& request, const Resource& resource,
                                  Warnings& warnings);

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
  /// Calls the mutating webhooks for a new object. If it returns true, managedFields is set,
  /// without the fields that webhooks have changed.
  [[nodiscard]] bool MutateNewObject(const WriteRequest& write, nlohmann::json& object,
                                     Warnings& warnings, WriteKind kind);
  /// Stores a new object and returns its stored state. Throws StatusError (409) if it exists.
  [[nodiscard]] nlohmann::json StoreNewObject(const WriteRequest& write, const NewObject& created,
                                              nlohmann::json object);
  /// Updates an existing object, and retries if another thread has written it. Returns its new
  /// state.
  nlohmann::json UpdateObject(const UpdateParams& params, Warnings& warnings);
  /// Same as MutateNewObject, for an update.
  [[nodiscard]] bool MutateUpdate(const UpdateParams& params, const nlohmann::json& live,
                                  nlohmann::json& object, Warnings& warnings);
  /// Returns the Scale of an object after the mutating webhooks.
  [[nodiscard]] nlohmann::json MutateScale(const WriteRequest& write, const nlohmann::json& live,
                                           nlohmann::json scale, Warnings& warnings);
  /// Calls the validating webhooks for an update.
  void ReviewUpdate(const WriteRequest& write, const nlohmann::json& live,
                    const nlohmann::json& object, Warnings& warnings);
  /// Returns the review of a deletion; empty without webhooks. The parameters must outlive it.
  [[nodiscard]] GarbageCollector::Review DeletionReview(const ServerRequest& request,
                                                        const Resource& resource,
                                                        const DeleteOptions& options,
                                                        Warnings& warnings);
  /// Computes and validates the new state of an object.
  [[nodiscard]] nlohmann::json PrepareUpdate(const UpdateParams& params, const nlohmann::json& live,
                                             Warnings& warnings);
  ServerResponse Apply(const ServerRequest& request, const Resource& resource, Warnings& warnings);
  ServerResponse WriteScale(const ServerRequest& request, const Resource& resource,
                            Warnings& warnings);

  ServerContext& context_;
  GarbageCollector collector_;
  AdmissionWebhooks* const webhooks_;  // null: none are called
};

}  // namespace kopp::apiserver
