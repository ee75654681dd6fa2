#pragma once

#include "json/schema_names.hpp"
#include "schema/schema.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kopp::apiserver {

struct KindStrategy;

/// A column of a kind's Table, as in additionalPrinterColumns.
struct Column {
  std::string name{};
  std::string type{};
  std::string format{};
  int priority = 0;  ///< above 0: shown only with --output=wide
  std::string description{};
  /// The JSONPath of the cells in a CRD. Empty for built-in kinds, which have a printer.
  std::string json_path{};
};

/// JSON pointers to the fields that the scale subresource shows.
struct ScalePaths {
  std::string spec = "/spec/replicas";
  std::string status = "/status/replicas";
  /// The field of a custom resource that contains the selector as a string ("app=web"). Empty for
  /// built-in kinds, which have a LabelSelector in /spec/selector.
  std::string selector{};
};

/// A served resource: one version of one kind.
struct Resource {
  std::string group{};  ///< empty for the core group
  std::string version{};
  std::string kind{};
  std::string list_kind{};
  std::string plural{};
  std::string singular{};
  bool namespaced = true;
  std::vector<std::string> short_names{};
  std::vector<std::string> categories{};
  std::vector<std::string> subresources{};
  /// The kinds of those subresources whose objects are not stored, such as Eviction.
  std::map<std::string, std::shared_ptr<const Resource>, std::less<>> virtual_subresources{};
  std::vector<std::string> verbs{};
  std::vector<Column> columns{};
  /// Not null in a Catalog. Owned by Schemas::BuiltIn() or by `strategy`.
  const Schema* schema = nullptr;
  ScalePaths scale{};
  bool built_in = true;
  /// The name under which objects are stored: the same for all versions of a kind.
  std::string storage_resource{};
  /// Handles writes beyond the schema. Null: there are no rules beyond it. That of a custom
  /// resource also owns `schema`.
  std::shared_ptr<const KindStrategy> strategy{};
  // For resources of CRDs only:
  std::vector<std::string> selectable_fields{};  ///< paths ("spec.color") of all versions
  std::string deprecation_warning{};             ///< sent with each response
  bool terminating = false;                      ///< whether the CRD is being deleted
  /// The schema of the stored version. Objects are pruned and defaulted with it when they are read,
  /// because they may have been stored with another schema. Null if that would not change them.
  /// Owned by `strategy`.
  const Schema* stored_schema = nullptr;

  /// Returns the apiVersion of the objects: "apps/v1", or "v1" in the core group.
  [[nodiscard]] std::string api_version() const {
    return group.empty() ? version : group + '/' + version;
  }
  /// Returns the GroupResource as in error messages: "deployments.apps", or "pods" in the core
  /// group.
  [[nodiscard]] std::string group_resource() const {
    return group.empty() ? plural : plural + '.' + group;
  }
  [[nodiscard]] bool HasSubresource(std::string_view subresource) const;
  /// Returns whether `verbs` contains `verb`.
  [[nodiscard]] bool SupportsVerb(std::string_view verb) const;
};

using ResourcePtr = std::shared_ptr<const Resource>;

/// The served resources. Copies share the immutable resources. Const functions are thread-safe.
class Catalog {
 public:
  /// Returns the built-in resources of data/resources.txt.
  static Catalog BuiltIn();
  Catalog() = default;
  explicit Catalog(std::vector<ResourcePtr> all) : all_(std::move(all)) {}

  /// Returns all resources, in the order of discovery responses.
  [[nodiscard]] const std::vector<ResourcePtr>& all() const { return all_; }
  /// Returns nullptr if no resource matches, as do the next two functions.
  [[nodiscard]] ResourcePtr Find(std::string_view group, std::string_view version,
                                 std::string_view plural) const;
  /// Finds a resource by apiVersion and kind, as in owner references.
  [[nodiscard]] ResourcePtr FindKind(std::string_view api_version, std::string_view kind) const;
  /// Returns the first version, in the order of all(), that is stored under `storage_resource`.
  [[nodiscard]] ResourcePtr FindByStorageResource(std::string_view storage_resource) const;
  [[nodiscard]] bool HasGroup(std::string_view group) const;
  /// Returns whether `group` contains built-in kinds.
  [[nodiscard]] bool HasBuiltInKinds(std::string_view group) const;
  [[nodiscard]] bool HasVersion(std::string_view group, std::string_view version) const;

  /// Replaces the served versions of `storage_resource` with `versions`. An empty list stops
  /// serving it.
  void SetServedVersions(const std::string& storage_resource, std::vector<ResourcePtr> versions);

 private:
  std::vector<ResourcePtr> all_;
};

/// Parses `text` in the format that the head of data/resources.txt describes. `schemas` must
/// outlive the resources. Throws std::invalid_argument, with the line or the kind, if a line has
/// too few fields or a kind has no schema.
[[nodiscard]] std::vector<Resource> ParseResources(std::string_view text, const Schemas& schemas);

}  // namespace kopp::apiserver
