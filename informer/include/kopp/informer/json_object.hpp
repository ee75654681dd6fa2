#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <kopp/informer/detail/padded_text.hpp>
#include <kopp/informer/fields.hpp>
#include <kopp/informer/object.hpp>

namespace kopp {

/// A JSON object in a text that has been parsed, before it is decoded. ParseObject and
/// ParseWatchEvent create it; it is valid during their callback. Not thread-safe.
///
/// All functions may be called several times and in any order. They throw DecodeError; after one
/// with kMalformed, call none of them again.
class JsonObject {
 public:
  /// Decodes the listed fields of the view `T`, as kopp::Decode does. The first call reads the
  /// parsed text in place. A further call parses the text of the object again.
  template <detail::HasFieldList T>
  [[nodiscard]] T Decode() const {
    T object{};
    DecodeInto(&object, KoppFields(&object));
    return object;
  }

  /// The same for a type with a decoder of its own, such as Whole.
  template <detail::DecodesItself T>
  [[nodiscard]] T Decode() const {
    return T::FromJson(*this);
  }

  /// Returns whether `apiVersion` and `kind` of the object are those of `kind`.
  [[nodiscard]] bool IsOfKind(const Kind& kind) const;

  /// Returns the JSON text of the object as the server sent it. It is valid as long as the object.
  [[nodiscard]] std::string_view text() const;

  /// Returns a copy of the text without `metadata.managedFields`, which is often a third of it.
  /// `first_members` is inserted after the opening brace; it ends with a comma unless the object is
  /// empty. The result has no spare capacity.
  [[nodiscard]] std::string TextWithoutManagedFields(std::string_view first_members = {}) const;

  struct State;
  explicit JsonObject(State& state) : state_(state) {}

 private:
  void DecodeInto(void* object, detail::Fields fields) const;

  State& state_;
};

/// Parses `text`, which must be one JSON object (see JsonSplitter), and calls `use`. Throws
/// DecodeError (kMalformed) if it is not valid JSON; exceptions of `use` pass through. Values that
/// `use` does not read are not fully validated.
void ParseObject(PaddedText text, const std::function<void(const JsonObject& object)>& use);
/// Copies `text` to add the padding.
void ParseObject(std::string_view text, const std::function<void(const JsonObject& object)>& use);

/// Parses an event of a watch (metav1.WatchEvent), and calls `use` with the members `type` and
/// `object`. Throws like ParseObject, and if a member is missing or has an unexpected type.
void ParseWatchEvent(
    PaddedText text,
    const std::function<void(std::string_view type, const JsonObject& object)>& use);

/// kopp::Decode for a type with a decoder of its own.
template <detail::DecodesItself T>
[[nodiscard]] T Decode(std::string_view text) {
  T object{};
  ParseObject(text, [&](const JsonObject& json) { object = json.Decode<T>(); });
  return object;
}

}  // namespace kopp
