#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <kopp/informer/fields.hpp>

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
  /// The same for a struct: sets the fields that Encode() writes, which are plain numbers and
  /// booleans, and other fields that are not empty. It removes no field.
  template <detail::HasFieldList T>
  static Patch Merge(const T& object) {
    return {Type::kMerge, Encode(object)};
  }
  template <detail::HasFieldList T>
  static Patch StrategicMerge(const T& object) {
    return {Type::kStrategicMerge, Encode(object)};
  }

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

/// A JSON patch (RFC 6902) with typed values. The API server applies all operations in their order,
/// or none of them:
///
///     client.PatchStatus<Foo>(key, kopp::JsonPatch()
///                                      .Test("/metadata/uid", foo.metadata.uid)
///                                      .Add("/status", Foo::Status{.ready = true}));
///
/// A path is a JSON pointer (RFC 6901): "/spec/containers/0/image". Write "~1" for a slash in a
/// name, and "~0" for a tilde. A value may have any type that a member with KOPP_FIELDS may have.
class JsonPatch {
 public:
  /// The patch fails if the value at `path` is another one.
  template <typename T>
  JsonPatch& Test(std::string_view path, const T& value) {
    return Append("test", path, Text(value));
  }
  /// Sets a field, whether it exists or not. Inserts an item into a list; "/list/-" is its end.
  template <typename T>
  JsonPatch& Add(std::string_view path, const T& value) {
    return Append("add", path, Text(value));
  }
  /// Sets a field or an item that exists.
  template <typename T>
  JsonPatch& Replace(std::string_view path, const T& value) {
    return Append("replace", path, Text(value));
  }
  /// Removes a field or an item that exists.
  JsonPatch& Remove(std::string_view path) { return Append("remove", path, {}); }

  operator Patch() const {  // NOLINT(google-explicit-constructor): it is a patch
    return {Patch::Type::kJson, '[' + operations_ + ']'};
  }

 private:
  template <typename T>
  static std::string Text(const T& value) {
    if constexpr (std::same_as<T, std::nullptr_t>) {
      return "null";
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
      return detail::EncodeString(value);
    } else {
      std::string text;
      detail::Encoder encoder{text};
      detail::EncodeMember(value, encoder);
      return text;
    }
  }
  /// Adds an operation; without a value if `value` is empty.
  JsonPatch& Append(std::string_view operation, std::string_view path, const std::string& value);

  std::string operations_;  // separated by commas
};

}  // namespace kopp
