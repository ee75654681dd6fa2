#pragma once

#include "api/write_request.hpp"
#include "json/schema_names.hpp"
#include "schema/field_set.hpp"
#include "schema/schema.hpp"

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// The field manager of a write, as recorded in metadata.managedFields.
struct FieldManager {
  std::string name{};
  std::string api_version{};  ///< of the object in the request
  std::string subresource{};  ///< "status", "scale", or empty for the object itself
  std::string time{};         ///< the time of the write, in RFC 3339
  bool has_status = false;    ///< the kind has a status subresource
};

/// Returns the field manager of a write at the time `now`.
[[nodiscard]] FieldManager FieldManagerOf(const WriteRequest& write, const std::string& now);

/// Thrown if an apply without `force` would change fields that other managers own.
class ApplyConflict : public std::runtime_error {
 public:
  struct Conflict {
    std::string field{};    ///< ".spec.replicas"
    std::string manager{};  ///< as in the message: "kubectl" using apps/v1
  };
  explicit ApplyConflict(std::vector<Conflict> conflicts)
      : std::runtime_error("other field managers own applied fields"),
        conflicts_(std::move(conflicts)) {}
  [[nodiscard]] const std::vector<Conflict>& conflicts() const { return conflicts_; }

 private:
  std::vector<Conflict> conflicts_;
};

/// Sets metadata.managedFields of a new object: `manager` owns all its fields, except the status if
/// the kind has a status subresource. Removes it if fields of the object cannot be tracked.
void SetFirstManager(nlohmann::json& object, const Schema& schema, const FieldManager& manager);

/// Returns `after` with updated metadata.managedFields: `manager` owns the fields that changed
/// since `before`, and no other manager owns them. If `after` has one empty entry, managedFields is
/// removed.
[[nodiscard]] nlohmann::json UpdateManagedFields(const nlohmann::json& before, nlohmann::json after,
                                                 const Schema& schema, const FieldManager& manager);

/// Converts a merged object to its kind: decodes, prunes and defaults it.
using FitToKind = std::function<nlohmann::json(nlohmann::json merged)>;

/// Returns `live` after a server-side apply of `config` by `manager`. Fields that the manager
/// applied earlier and that `config` omits are removed unless other managers own them. The entries
/// keep their times if nothing changes. `force` takes over the fields of other managers; without
/// it, throws ApplyConflict. Throws std::invalid_argument if the fields of `live` cannot be
/// tracked, because a value has a wrong type.
[[nodiscard]] nlohmann::json ServerSideApply(const nlohmann::json& live,
                                             const nlohmann::json& config, const Schema& schema,
                                             const FitToKind& fit_to_kind,
                                             const FieldManager& manager, bool force);

}  // namespace kopp::apiserver
