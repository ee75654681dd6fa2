#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::schema {

struct SchemaConstraints;

/// The type of a value, and how server-side apply merges two values of it. The schemas of built-in
/// kinds come from schemas.txt, those of custom resources from their CustomResourceDefinition.
///
/// Schemas point to each other, and may form cycles: the schema of JSON schemas contains itself.
/// Their owner (Schemas, or the result of StructuralSchema()) must outlive all uses and must not
/// move them. Immutable once built, and then thread-safe.
struct Schema {
  enum class Type {
    kAny,     ///< any JSON value
    kObject,  ///< with `fields`
    kMap,     ///< from names to `items`
    kList,    ///< of `items`
    kString,
    kInteger,
    kNumber,
    kBoolean,
    kIntOrString,
  };
  /// The granularity of ownership in server-side apply.
  enum class Merge {
    kAtomic,    ///< the value as a whole
    kGranular,  ///< each field of an object or a map
    kSet,       ///< each item of a list of unique values
    kMap,       ///< each item of a list, identified by `keys`
  };
  /// How a strategic merge patch changes a field.
  enum class PatchStrategy {
    kDefault,  ///< merges objects, replaces lists
    kMerge,
    kReplace,
  };
  struct Field {
    const Schema* schema = nullptr;
    bool required = false;
    /// Whether an optional string or list can be empty. Otherwise Go omits it.
    bool keeps_empty = false;
    PatchStrategy patch_strategy = PatchStrategy::kDefault;
    std::string patch_merge_key{};   ///< identifies the items of a list with strategy kMerge
    bool always_present = false;     ///< an object that Go encodes even if it is empty
    nlohmann::json default_value{};  ///< null if there is no default
  };

  Type type = Type::kAny;
  std::string name{};  ///< of a built-in type, such as "PodSpec"
  /// "int32", "int64", "bytes", "time", "micro-time", "quantity", or the format in a CRD.
  std::string format{};
  Merge merge = Merge::kGranular;
  std::vector<std::string> keys{};
  std::map<std::string, Field, std::less<>> fields{};
  const Schema* items = nullptr;
  bool preserve_unknown_fields = false;  ///< does not prune unknown fields
  bool nullable = false;                 ///< null is a valid value
  bool embedded_resource = false;        ///< has apiVersion, kind and metadata
  /// The constraints beyond the type. Null except in the schema of a CRD.
  std::shared_ptr<const SchemaConstraints> constraints{};

  [[nodiscard]] const Field* Find(std::string_view field_name) const {
    const auto found = fields.find(field_name);
    return found == fields.end() ? nullptr : &found->second;
  }
  /// Returns the schema of a field of an object or of a map entry, or nullptr if it is not
  /// specified.
  [[nodiscard]] const Schema* FieldSchema(std::string_view field_name) const {
    if (const Field* field = Find(field_name)) return field->schema;
    return type == Type::kMap ? items : nullptr;
  }
  /// Returns an object with only the nested objects that are always present.
  [[nodiscard]] static nlohmann::json EmptyObject(const Schema& schema);
  [[nodiscard]] bool IsGranular() const {
    return (type == Type::kObject || type == Type::kMap) && merge != Merge::kAtomic;
  }
  [[nodiscard]] bool IsKeyed() const { return type == Type::kList && merge == Merge::kMap; }
  [[nodiscard]] bool IsSet() const { return type == Type::kList && merge == Merge::kSet; }
};

/// The schemas of the built-in types. Thread-safe after construction.
class Schemas {
 public:
  /// Parses `text` in the format that schemas.txt describes. Throws std::invalid_argument, with the
  /// line, on a syntax error.
  explicit Schemas(std::string_view text);
  Schemas(const Schemas&) = delete;
  Schemas& operator=(const Schemas&) = delete;

  /// Finds a type by name, such as "PodSpec" or "events.Event". Returns nullptr if there is none.
  [[nodiscard]] const Schema* Find(std::string_view name) const;

  /// Returns the schemas in schemas.txt.
  static const Schemas& BuiltIn();

 private:
  Schema& FindOrAdd(std::string_view name);
  void DefineGranularTypes();
  const Schema* ParseType(std::string_view& text);
  Schema::Field ParseField(std::string_view text);

  std::map<std::string, Schema, std::less<>> named_;
  std::deque<Schema> unnamed_;  // lists and maps
};

}  // namespace kopp::schema
