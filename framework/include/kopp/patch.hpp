#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace kopp {

/// Whether a patch fails if the object was changed meanwhile.
enum class OptimisticLock {
  kNo,   ///< the patch is applied to any version of the object
  kYes,  ///< if the object has another resourceVersion, the API server returns 409 Conflict
};

/// The body of a PATCH request, which changes only parts of an object.
struct Patch {
  enum class Type {
    kMerge,  ///< JSON merge patch (RFC 7386): the fields to set; null removes a field
    kJson,   ///< JSON patch (RFC 6902): a list of operations, such as "add" and "test"
    /// Strategic merge patch: a merge patch that merges lists by the keys of their items, for
    /// example containers by name. For built-in kinds only: the API server returns 415 Unsupported
    /// Media Type for custom resources.
    kStrategicMerge,
  };
  Type type = Type::kMerge;
  std::string text = {};  ///< JSON

  static Patch Merge(const nlohmann::json& object);
  static Patch Json(const nlohmann::json& operations);
  static Patch StrategicMerge(const nlohmann::json& object);

  /// Returns the merge patch that turns `original` into `changed`; "{}" if they are equal. Both are
  /// whole objects as JSON. They must not be encoded views: a list is replaced as a whole, so the
  /// fields of its items that the view does not have would be removed.
  ///
  /// A merge patch sets no field to null. A null in `changed` removes the field.
  ///
  /// With OptimisticLock::kYes, the patch contains metadata.resourceVersion of `original`. Use it
  /// if a list or a counter is changed that others change too. Throws std::invalid_argument if
  /// `original` has none. Go: client.MergeFrom and MergeFromWithOptimisticLock of
  /// controller-runtime.
  static Patch MergeFrom(const nlohmann::json& original, const nlohmann::json& changed,
                         OptimisticLock lock = OptimisticLock::kNo);
};

}  // namespace kopp
