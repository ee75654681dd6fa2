#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include <kopp/informer/json_object.hpp>
#include <kopp/informer/object.hpp>

namespace kopp {

/// A whole object: its decoded metadata, and all fields as JSON text, which is parsed on demand.
/// Caches do not keep metadata.managedFields, because it is often the largest part of an object and
/// only the API server uses it. Use it for a kind that is only known at run time; see also Whole.
///
///     const auto web = context.cache.Get(kind, {"shop", "web"});  // kind: a kopp::OwningKind
///     const int replicas = web->At("/spec/replicas").get<int>();
///
/// Keep it const and share it: each call of Json, At and As parses the text. Several threads may
/// use a const object at the same time. Go: unstructured.Unstructured.
class Unstructured {
 public:
  /// Without an object: no metadata, and the text "{}".
  Unstructured() = default;
  /// Decodes one object of any kind, without metadata.managedFields. If the text has neither
  /// `apiVersion` nor `kind`, as in the items of a list, adds those of `kind`. Throws DecodeError.
  /// Only the metadata is validated.
  static Unstructured FromJson(const JsonObject& parsed, const Kind& kind = {});
  static Unstructured FromJson(std::string_view text, const Kind& kind = {});
  /// Like FromJson, with metadata.managedFields, as the API server sends it.
  static Unstructured FromResponse(std::string text, const Kind& kind = {});

  ObjectMeta metadata = {};

  /// Returns the JSON text of the object. It is valid as long as this object.
  [[nodiscard]] std::string_view text() const { return text_; }
  /// Returns the object as JSON, for example to change it and to write it with an Update.
  /// Throws DecodeError if the text is not valid JSON.
  [[nodiscard]] nlohmann::json Json() const;
  /// Returns the value at a JSON pointer (RFC 6901), such as "/spec/replicas"; null if there is
  /// none. Parses only this value. Throws DecodeError if it is not valid JSON, and
  /// std::invalid_argument if `pointer` is neither empty nor starts with "/".
  [[nodiscard]] nlohmann::json At(std::string_view pointer) const;
  /// Decodes the fields that the struct `View` lists with KOPP_FIELDS. Throws DecodeError.
  template <detail::HasFieldList View>
  [[nodiscard]] View As() const {
    return Decode<View>(text_);
  }

 private:
  std::string text_ = "{}";
};

/// A view that keeps the whole object: an Unstructured of the kind of the view `T`. Use it if the
/// fields that a program reads are not known when it is compiled.
///
///     const auto pod = context.cache.Get<kopp::Whole<kopp::Pod>>(key);
///     pod->At("/spec/containers/0/image");   // any field, as JSON
///     pod->As<kopp::Pod>().status.phase;     // the fields of a view
///
/// It cannot be encoded, so it cannot be written back by mistake: pass Json() to Client::Update.
template <ApiObject T>
class Whole : public Unstructured {
 public:
  static constexpr Kind kKind = T::kKind;

  Whole() = default;
  /// Decodes one object. Throws DecodeError.
  static Whole FromJson(const JsonObject& parsed) {
    return Whole(Unstructured::FromJson(parsed, T::kKind));
  }

 private:
  explicit Whole(Unstructured object) : Unstructured(std::move(object)) {}
};

}  // namespace kopp
