#pragma once

#include "schema.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kopp::apiserver {

struct KindRules;

/// A column of a kind's tables.
struct Column {
  std::string name{};
  std::string type{};
  std::string format{};
  int priority = 0;  ///< above 0: only where a wide table is asked for
  std::string description{};
  std::string path{};  ///< of a CRD: the JSONPath of its cells; empty: table.cpp makes them
};

/// Where a kind keeps what its subresource "scale" shows, as JSON pointers.
struct ScalePaths {
  std::string spec = "/spec/replicas";
  std::string status = "/status/replicas";
  std::string
      selector{};  ///< of a CRD: text; built-in kinds have a LabelSelector in /spec/selector
};

/// One version of one kind that the server serves, and how.
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
  std::string kept_as{};  ///< what its objects are kept under: one name for all versions of a kind
  // Of a CRD alone:
  std::vector<std::string> selectable{};     ///< fields: "spec.color"; those of all its versions
  std::shared_ptr<const KindRules> rules{};  ///< these keep `schema` too
  std::string warning{};                     ///< what all who ask for this version are told
  bool terminating = false;                  ///< its definition is being deleted
  bool refits = false;                       ///< objects may have been written under another schema

  /// "apps/v1", "v1".
  [[nodiscard]] std::string api_version() const {
    return group.empty() ? version : group + '/' + version;
  }
  /// "deployments.apps", "pods": as messages name it.
  [[nodiscard]] std::string qualified() const {
    return group.empty() ? plural : plural + '.' + group;
  }
  [[nodiscard]] bool Has(std::string_view subresource) const;
  [[nodiscard]] bool Allows(std::string_view verb) const;
};

/// All that is served at one moment.
class Catalog {
 public:
  using Entry = std::shared_ptr<const Resource>;

  /// The built-in kinds, as resources.txt has them.
  static Catalog BuiltIn();

  /// In the order in which discovery names them.
  [[nodiscard]] const std::vector<Entry>& all() const { return all_; }
  /// nullptr where there is none.
  [[nodiscard]] Entry Find(std::string_view group, std::string_view version,
                           std::string_view plural) const;
  /// By apiVersion and kind, as owner references name them.
  [[nodiscard]] Entry FindKind(std::string_view api_version, std::string_view kind) const;
  /// One of those whose objects are kept so.
  [[nodiscard]] Entry FindKept(std::string_view kept_as) const;
  [[nodiscard]] bool HasGroup(std::string_view group) const;
  /// Whether the group has kinds that no CRD defines.
  [[nodiscard]] bool IsBuiltIn(std::string_view group) const;
  [[nodiscard]] bool HasVersion(std::string_view group, std::string_view version) const;

  /// Serves these too, in the place of what was kept under the same name.
  void Serve(const std::string& kept_as, std::vector<Entry> versions);

 private:
  std::vector<Entry> all_;
};

/// Reads the format that resources.txt describes. Throws std::invalid_argument, with the line.
[[nodiscard]] std::vector<Resource> ReadResources(std::string_view text, const Schemas& schemas);

}  // namespace kopp::apiserver
