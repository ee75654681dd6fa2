#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

struct Rules;

/// What a value may be, and how two of them merge. A built-in kind's comes from schemas.txt, that
/// of a custom resource from its definition; all that looks at objects is told by a Schema alone.
///
/// Schemas point at each other, in circles too (a JSON schema has parts that are JSON schemas): who
/// makes them keeps them, never moved, for as long as anybody looks.
struct Schema {
  enum class Type {
    kAny,     ///< whatever JSON has
    kObject,  ///< with `fields`
    kMap,     ///< of `items` by name
    kList,    ///< of `items`
    kString,
    kInteger,
    kNumber,
    kBoolean,
    kIntOrString,
  };
  /// Server-side apply: what has one owner, the whole or each part.
  enum class Merge {
    kAtomic,    ///< the whole
    kGranular,  ///< each field of an object or a map
    kSet,       ///< each value of a list
    kMap,       ///< each item of a list, told apart by `keys`
  };
  struct Field {
    const Schema* schema = nullptr;
    bool required = false;
    bool always = false;  ///< an object that the real server's types hold even where it is empty
    nlohmann::json fallback{};  ///< what a field that is left out gets; null: stays out
  };

  Type type = Type::kAny;
  std::string name{};  ///< of a built-in type: "PodSpec"
  std::string
      format{};  ///< "int32", "int64", "bytes", "time", "micro-time", "quantity" or a CRD's own
  Merge merge = Merge::kGranular;
  std::vector<std::string> keys{};
  std::map<std::string, Field, std::less<>> fields{};
  const Schema* items = nullptr;
  bool open = false;      ///< unknown fields stay
  bool nullable = false;  ///< null is a value, and not the same as left out
  bool embedded = false;  ///< an object of some kind, with apiVersion, kind and metadata
  std::shared_ptr<const Rules> rules{};  ///< of a CRD: what a value has to meet beyond its type

  [[nodiscard]] const Field* Find(std::string_view part) const {
    const auto found = fields.find(part);
    return found == fields.end() ? nullptr : &found->second;
  }
  /// Of a part of an object or a map; nullptr where nothing is known of it.
  [[nodiscard]] const Schema* Of(std::string_view part) const {
    if (const Field* field = Find(part)) return field->schema;
    return type == Type::kMap ? items : nullptr;
  }
  /// The parts that are there even in an empty object.
  [[nodiscard]] static nlohmann::json Skeleton(const Schema& schema);
  [[nodiscard]] bool IsGranular() const {
    return (type == Type::kObject || type == Type::kMap) && merge != Merge::kAtomic;
  }
  [[nodiscard]] bool IsKeyed() const { return type == Type::kList && merge == Merge::kMap; }
  [[nodiscard]] bool IsSet() const { return type == Type::kList && merge == Merge::kSet; }
};

/// The schemas of the built-in kinds, and those that every kind shares.
class Schemas {
 public:
  /// Reads the format that schemas.txt describes. Throws std::invalid_argument, with the line, for
  /// what it does not understand.
  explicit Schemas(std::string_view text);
  Schemas(const Schemas&) = delete;
  Schemas& operator=(const Schemas&) = delete;

  /// The type "PodSpec", "events.Event"; nullptr where there is none.
  [[nodiscard]] const Schema* Find(std::string_view name) const;

  /// Those of this project's server.
  static const Schemas& BuiltIn();

 private:
  Schema& Named(std::string_view name);
  const Schema* Spelled(std::string_view& text);
  Schema::Field ReadField(std::string_view words);

  std::map<std::string, Schema, std::less<>> named_;
  std::deque<Schema> others_;  // of lists and maps
};

}  // namespace kopp::apiserver
