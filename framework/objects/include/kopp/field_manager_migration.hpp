#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/client.hpp>

namespace kopp {

/// Which fields of an object MigrateFieldManager moves to another field manager.
struct FieldManagerMigration {
  /// The former field managers. The fields that they own by updates (Create, Update, Patch) are
  /// moved and, unless it is `to`, those that they have applied.
  std::vector<std::string> from = {};
  /// The field manager that applies from now on. MigrateFieldManager with a client: empty means
  /// that of the client.
  std::string to = {};
  std::string subresource = {};  ///< such as "status"; empty: the object itself
};

/// Changes metadata.managedFields of `object`, so that `migration.to` has applied what the former
/// managers own: their entries are removed, and their fields are added to its entry. Its next apply
/// then removes those that it does not apply. Returns whether anything has changed.
///
/// If there is no Apply entry of `migration.to`, the first entry of a former manager becomes it.
/// Only fields of the same apiVersion are added to an entry; the other ones lose this manager, and
/// remain in the object. Throws std::invalid_argument if `migration.to` is empty.
///
/// Go: csaupgrade.UpgradeManagedFields of client-go, which moves only the fields of updates.
bool MigrateFieldManager(nlohmann::json& object, const FieldManagerMigration& migration);

/// Returns a JSON patch that changes a stored object as MigrateFieldManager does, or nullopt if
/// nothing has to change. The patch is for the object itself, also if a subresource is migrated. It
/// causes an ApiError with IsConflict() if the object has another resourceVersion meanwhile. Throws
/// std::invalid_argument if `migration.to` is empty or if `object` has no resourceVersion. Go:
/// csaupgrade.UpgradeManagedFieldsPatch.
[[nodiscard]] std::optional<Patch> FieldManagerMigrationPatch(
    const nlohmann::json& object, const FieldManagerMigration& migration);

/// Reads the object and sends this patch. Sends one request if nothing has to change, and two
/// otherwise. Returns whether the object was changed; false if it does not exist. Call it before
/// the first apply of a program that wrote with Create, Update or Patch, or under another name:
///
///     kopp::MigrateFieldManager<ConfigMap>(client, {"shop", "settings"}, {.from = {"shop-cli"}});
///     client.Apply(settings);
///
/// Throws what Client throws. Not necessary for what a controller of kopp 0.1 has applied: see
/// Client::WithFieldManager.
bool MigrateFieldManager(const Client& client, const Kind& kind, const ObjectKey& key,
                         FieldManagerMigration migration);
/// The same for a kind that is known at compile time.
template <ApiObject T>
bool MigrateFieldManager(const Client& client, const ObjectKey& key,
                         FieldManagerMigration migration) {
  return MigrateFieldManager(client, T::kKind, key, std::move(migration));
}

}  // namespace kopp
