#pragma once

#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/response.hpp"
#include "api/status.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kopp/informer/detail/names.hpp>

namespace kopp::apiserver {

class ServerContext;

/// How the server handles writes to objects of a kind, beyond its schema: defaulting, fields that
/// the server sets, and validation. Corresponds to the registry strategies of kube-apiserver.
struct KindStrategy {
  /// How the server handles updates of a subresource other than status and scale.
  struct Subresource {
    /// Returns `live` with the fields of `object` that the subresource changes.
    std::function<nlohmann::json(const nlohmann::json& live, const nlohmann::json& object)> merge{};
    /// Validates the change of an update, in place of `validate` and `validate_update`.
    std::function<void(const nlohmann::json& before, const nlohmann::json& after, FieldErrors&)>
        validate_update{};
  };
  /// Which changes increment metadata.generation.
  enum class Generation {
    kNone,
    kSpec,               ///< changes outside metadata and status
    kSpecAndStatus,      ///< changes outside metadata
    kSpecOrAnnotations,  ///< as kSpec, and changes of annotations
    kSpecOrLabels,       ///< as kSpec, and changes of labels
  };
  /// Which metadata an update of the status changes.
  enum class StatusMetadata {
    kExceptLabels,
    kAll,
    kNone,
  };
  /// Whether the names of finalizers need a domain.
  enum class FinalizerDomain {
    kRequired,
    kPreferred,  ///< a name without a domain causes a warning
    kOptional,
  };
  /// What an update validates, in the order of the errors.
  enum class UpdateValidation {
    kObjectThenChange,
    kChangeThenObject,
    kChange,
  };
  /// The body of the response to DELETE if the object was removed at once.
  enum class DeleteResponse {
    kStatus,
    kObject,
    kObjectWithoutDeletionTime,
  };
  /// Validates metadata.name.
  NameError (*validate_name)(std::string_view) = &ValidateDnsSubdomain;
  Generation generation = Generation::kNone;
  StatusMetadata status_metadata = StatusMetadata::kExceptLabels;
  FinalizerDomain finalizer_domain = FinalizerDomain::kRequired;
  UpdateValidation update_validation = UpdateValidation::kObjectThenChange;
  bool validates_generate_name_on_update = false;
  bool allows_create_on_update = false;     ///< PUT creates a missing object
  bool allows_unconditional_update = true;  ///< PUT may omit resourceVersion
  bool keeps_status_on_create = false;      ///< POST does not reset the status
  bool has_managed_fields = true;           ///< stores metadata.managedFields
  bool deletes_gracefully = false;          ///< deletion waits for the grace period
  std::string default_propagation{};        ///< without DeleteOptions: "" or "Orphan"
  DeleteResponse delete_response = DeleteResponse::kStatus;
  /// Returns why the object `name` must not be deleted, or nullopt if it may. Null: all may be
  /// deleted.
  std::optional<std::string> (*deletion_error)(std::string_view name) = nullptr;
  /// A finalizer of new objects that a controller of a cluster removes on deletion. This server
  /// removes it itself.
  std::string protection_finalizer{};

  /// Sets the default values of omitted fields.
  std::function<void(nlohmann::json& object)> apply_defaults{};
  /// Sets the fields that the server itself decides on and that no field manager owns. Called after
  /// defaulting. `before` is null for a new object. Throws StatusError.
  std::function<void(ServerContext&, const nlohmann::json& before, nlohmann::json& object)>
      assign_fields{};
  /// Sets the fields that record who creates an object. Called before `assign_fields`.
  std::function<void(const User& user, nlohmann::json& object)> assign_creator{};
  /// Like `assign_fields`, for an update of the subresource "status" or "approval".
  std::function<void(ServerContext&, std::string_view subresource, const nlohmann::json& before,
                     nlohmann::json& object)>
      assign_status_fields{};
  /// Validates a new object or the new state of an object.
  std::function<void(const nlohmann::json& object, FieldErrors&)> validate{};
  /// Validates a new object, after `validate`.
  std::function<void(const nlohmann::json& object, FieldErrors&)> validate_create{};
  /// Replaces `validate` for updates of the subresources "status" and "approval".
  std::function<void(const nlohmann::json& object, FieldErrors&)> validate_status{};
  /// Validates the change of an update.
  std::function<void(const nlohmann::json& before, const nlohmann::json& after, FieldErrors&)>
      validate_update{};
  std::map<std::string, Subresource, std::less<>> subresources{};  ///< by name
  /// Adds warnings about a new object, before `warn`.
  std::function<void(const nlohmann::json& object, Warnings&)> warn_create{};
  /// Adds warnings about a valid object that may not do what its author expects. Called for a new
  /// object, and when the spec changes.
  std::function<void(const nlohmann::json& object, Warnings&)> warn{};
  bool warns_on_every_update = false;  ///< whether `warn` is called even if the spec is the same
  /// Replaces `warn` for updates of the subresource "status".
  std::function<void(const nlohmann::json& object, Warnings&)> warn_status{};
};

/// Returns the strategy of a resource, which lives as long as `resource`, or the default strategy.
/// Thread-safe.
[[nodiscard]] const KindStrategy& StrategyOf(const Resource& resource);

/// Strategies by GroupResource: "deployments.apps".
using StrategiesByKind = std::map<std::string, KindStrategy, std::less<>>;

}  // namespace kopp::apiserver
