#pragma once

#include "schema/schema.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
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
  std::string path{};  ///< of a CRD: the JSONPath of its cells; empty: a printer formats them
};

/// JSON pointers to the fields that the scale subresource shows.
struct ScalePaths {
  std::string spec = "/spec/replicas";
  std::string status = "/status/replicas";
  /// Of a CRD: a field with a selector in text form. Built-in kinds have a LabelSelector in
  /// /spec/selector.
  std::string selector{};
};

/// A served resource: one version of one kind.
struct Resource {
  std::string group{};  ///< empty: the core group
  std::string version{};
  std::string kind{};
  std::string list_kind{};
  std::string plural{};
  std::string singular{};
  bool namespaced = true;
  std::vector<std::string> short_names{};
  std::vector<std::string> categories{};
  std::vector<std::string> subresources{};
  std::vector<std::string> verbs{};
  std::vector<Column> columns{};
  const Schema* schema = nullptr;
  ScalePaths scale{};
  bool built_in = true;
  /// The name under which objects are stored: the same for all versions of a kind.
  std::string storage_resource{};
  // For resources of CRDs only:
  std::vector<std::string> selectable_fields{};    ///< such as "spec.color"; of all versions
  std::shared_ptr<const KindStrategy> strategy{};  ///< also owns `schema`
  std::string deprecation_warning{};               ///< sent with each response
  bool terminating = false;                        ///< whether the CRD is being deleted
  bool prune_on_read = false;  ///< objects may have been stored with an older schema

  /// "apps/v1", "v1".
  [[nodiscard]] std::string api_version() const {
    return group.empty() ? version : group + '/' + version;
  }
  /// "deployments.apps", "pods": the form in error messages.
  [[nodiscard]] std::string qualified() const {
    return group.empty() ? plural : plural + '.' + group;
  }
  [[nodiscard]] bool HasSubresource(std::string_view subresource) const;
  [[nodiscard]] bool Allows(std::string_view verb) const;
};

/// The served resources at one point in time. Copyable; entries are immutable and shared.
class Catalog {
 public:
  using Entry = std::shared_ptr<const Resource>;

  /// The built-in resources of data/resources.txt.
  static Catalog BuiltIn();

  /// In the order of discovery responses.
  [[nodiscard]] const std::vector<Entry>& all() const { return all_; }
  /// nullptr if there is none.
  [[nodiscard]] Entry Find(std::string_view group, std::string_view version,
                           std::string_view plural) const;
  /// Finds a resource by apiVersion and kind, as in owner references.
  [[nodiscard]] Entry FindKind(std::string_view api_version, std::string_view kind) const;
  /// Finds one version of the kind that is stored under this name.
  [[nodiscard]] Entry FindByStorageResource(std::string_view storage_resource) const;
  [[nodiscard]] bool HasGroup(std::string_view group) const;
  /// Whether the group has built-in kinds.
  [[nodiscard]] bool IsBuiltIn(std::string_view group) const;
  [[nodiscard]] bool HasVersion(std::string_view group, std::string_view version) const;

  /// Replaces the versions that are stored under `storage_resource` by `versions`.
  void Serve(const std::string& storage_resource, std::vector<Entry> versions);

 private:
  std::vector<Entry> all_;
};

/// Parses the format that resources.txt describes. Throws std::invalid_argument, with the line, on
/// a syntax error.
[[nodiscard]] std::vector<Resource> ReadResources(std::string_view text, const Schemas& schemas);

}  // namespace kopp::apiserver
