#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

/// Declares which members of a struct are JSON fields:
/// `KOPP_FIELDS(Foo::Spec, deploymentName, replicas)`. Write it in the namespace of the struct,
/// after the struct. It enables
///
/// - decoding from JSON text: `kopp::Decode<Foo>(text)`. Fields that are not listed are skipped
///   without parsing or allocating them. A null or missing field leaves the member unchanged;
/// - encoding: `kopp::Encode(foo)`. Empty strings, lists, maps and optionals are omitted; numbers
///   and booleans are always written. To write an empty string, make the member a
///   std::optional<std::string>;
/// - to_json and from_json for nlohmann::json.
///
/// A member may be bool, any integer or floating-point type, std::string, std::optional,
/// std::vector (not of bool) or std::map<std::string, …> of these, kopp::StringMap,
/// kopp::StringList, kopp::RawJson, or a struct that has its own KOPP_FIELDS above. The member has
/// the name of the JSON field. If C++ reserves that name, write `KOPP_FIELD(ns, "namespace")` in
/// the list. A list has at most 256 fields.
#define KOPP_FIELDS(Type, ...)                                                             \
  inline std::span<const kopp::detail::Field> KoppFields(const Type*) {                    \
    using KoppType = Type;                                                                 \
    static constexpr kopp::detail::Field kFields[] = {                                     \
        KOPP_FOR_EACH(KOPP_FIELD_ENTRY, __VA_ARGS__)};                                     \
    return kFields;                                                                        \
  }                                                                                        \
  [[maybe_unused]] inline void to_json(nlohmann::json& kopp_to, const Type& kopp_from) {   \
    kopp::detail::ToJson(kopp_to, &kopp_from, KoppFields(&kopp_from));                     \
  }                                                                                        \
  [[maybe_unused]] inline void from_json(const nlohmann::json& kopp_from, Type& kopp_to) { \
    kopp::detail::FromJson(kopp_from, &kopp_to, KoppFields(&kopp_to));                     \
  }

/// An entry of KOPP_FIELDS whose JSON name differs from the name of the member.
#define KOPP_FIELD(member, json_name) (member, json_name)

namespace kopp {

class JsonObject;

/// Thrown if JSON text cannot be decoded. what() has the path of the field, if known:
/// `spec.replicas: expected an integer, found a string`.
class DecodeError : public std::runtime_error {
 public:
  /// The kind of error.
  enum class Kind {
    kMalformed,     ///< the text is not valid JSON
    kTypeMismatch,  ///< valid JSON, but a field has an unexpected type or is out of range
  };

  /// `path` is the path of the field, for example "spec.replicas"; it may be empty.
  DecodeError(Kind kind, std::string path, std::string problem);
  [[nodiscard]] Kind kind() const { return kind_; }

  /// Returns the same error with `prefix` in front of the path: "replicas" with the prefix "spec"
  /// becomes "spec.replicas".
  [[nodiscard]] DecodeError WithPathPrefix(std::string_view prefix) const;

 private:
  Kind kind_;
  std::string path_;
  std::string problem_;
};

/// A member that holds any JSON value as unparsed text. When it is encoded, the text is copied
/// without a check; empty text omits the field.
struct RawJson {
  std::string text;
  friend bool operator==(const RawJson&, const RawJson&) = default;
};

namespace detail {

struct Field;
using Fields = std::span<const Field>;

/// A forward-only position in JSON text. Each function reads the value at the position; call one of
/// them at most once. All throw DecodeError. The class hides simdjson from this header; fields.cpp
/// implements it.
class Cursor {
 public:
  bool ReadBool();
  /// Throws if the number is outside [min, max].
  std::int64_t ReadInt(std::int64_t min, std::int64_t max);
  /// Throws if the number is greater than `max`.
  std::uint64_t ReadUnsigned(std::uint64_t max);
  /// Throws if the absolute value of the number is greater than `max`.
  double ReadDouble(double max);
  std::string ReadString();
  /// Returns the JSON text of a value of any type.
  std::string ReadRaw();
  /// Calls `append` for each element, with `list` and a cursor at the element.
  void ReadArray(void* list, void (*append)(void* list, Cursor&));
  /// Calls `insert` for each entry of an object whose value is not null.
  void ReadMap(void* map, void (*insert)(void* map, std::string key, Cursor&));
  /// Decodes the given fields into the struct at `object` and skips all others.
  void ReadObject(void* object, Fields fields);

  struct Value;
  explicit Cursor(Value& value) : value_(value) {}

 private:
  Value& value_;
};

/// Appends JSON text to a string.
class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}
  void WriteBool(bool value);
  void WriteInt(std::int64_t value);
  void WriteUnsigned(std::uint64_t value);
  void WriteDouble(double value);
  void WriteString(std::string_view value);
  void WriteRaw(std::string_view value);
  void OpenBracket(char bracket);
  void CloseBracket(char bracket);
  void WriteKey(std::string_view key);  ///< call before each value in an object
  void StartElement();                  ///< call before each value in a list

 private:
  void WriteCommaIfNeeded();
  std::string& out_;
};

/// One field of a struct, type-erased: functions that decode and encode it, given the struct.
struct Field {
  std::string_view name;
  void (*decode)(void* object, Cursor& cursor);
  void (*encode)(const void* object, std::string_view name, Encoder& encoder);
};

void EncodeFields(Encoder& encoder, const void* object, Fields fields);
void DecodeText(std::string_view text, void* object, Fields fields);
void ToJson(nlohmann::json& json, const void* object, Fields fields);
void FromJson(const nlohmann::json& json, void* object, Fields fields);

/// A struct with KOPP_FIELDS.
template <typename T>
concept HasFieldList = requires(const T* object) {
  { KoppFields(object) } -> std::same_as<Fields>;
};

/// A type with a decoder of its own instead of KOPP_FIELDS, such as Whole.
template <typename T>
concept DecodesItself = requires(const JsonObject& json) {
  { T::FromJson(json) } -> std::same_as<T>;
};

template <typename T>
constexpr bool kIsOptional = false;
template <typename T>
constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
constexpr bool kIsVector = false;
template <typename T>
constexpr bool kIsVector<std::vector<T>> = true;
template <typename T>
constexpr bool kIsMap = false;
template <typename T>
constexpr bool kIsMap<std::map<std::string, T>> = true;

/// An Interned container: see interned.hpp.
template <typename M>
concept IsInterned = requires(typename M::container_type value) {
  { M::Intern(std::move(value)) } -> std::same_as<M>;
};

template <typename M>
void DecodeMember(M& member, Cursor& cursor) {
  if constexpr (std::same_as<M, bool>) {
    member = cursor.ReadBool();
  } else if constexpr (std::signed_integral<M>) {
    using Limits = std::numeric_limits<M>;
    member = static_cast<M>(cursor.ReadInt(Limits::min(), Limits::max()));
  } else if constexpr (std::unsigned_integral<M>) {
    member = static_cast<M>(cursor.ReadUnsigned(std::numeric_limits<M>::max()));
  } else if constexpr (std::floating_point<M>) {
    using Limits = std::numeric_limits<std::conditional_t<std::same_as<M, float>, float, double>>;
    member = static_cast<M>(cursor.ReadDouble(Limits::max()));
  } else if constexpr (std::same_as<M, std::string>) {
    member = cursor.ReadString();
  } else if constexpr (std::same_as<M, RawJson>) {
    member.text = cursor.ReadRaw();
  } else if constexpr (IsInterned<M>) {
    typename M::container_type value;
    DecodeMember(value, cursor);
    member = M::Intern(std::move(value));
  } else if constexpr (kIsOptional<M>) {
    DecodeMember(member.emplace(), cursor);
  } else if constexpr (kIsVector<M>) {
    static_assert(!std::same_as<M, std::vector<bool>>, "std::vector<bool> is not supported");
    member.clear();
    cursor.ReadArray(&member, [](void* list, Cursor& element) {
      DecodeMember(static_cast<M*>(list)->emplace_back(), element);
    });
  } else if constexpr (kIsMap<M>) {
    member.clear();
    cursor.ReadMap(&member, [](void* map, std::string key, Cursor& value) {
      DecodeMember((*static_cast<M*>(map))[std::move(key)], value);
    });
  } else {
    static_assert(HasFieldList<M>, "list the fields of this struct with KOPP_FIELDS first");
    cursor.ReadObject(&member, KoppFields(&member));
  }
}

template <typename M>
void EncodeMember(const M& member, Encoder& encoder) {
  if constexpr (std::same_as<M, bool>) {
    encoder.WriteBool(member);
  } else if constexpr (std::signed_integral<M>) {
    encoder.WriteInt(member);
  } else if constexpr (std::unsigned_integral<M>) {
    encoder.WriteUnsigned(member);
  } else if constexpr (std::floating_point<M>) {
    encoder.WriteDouble(static_cast<double>(member));
  } else if constexpr (std::same_as<M, std::string>) {
    encoder.WriteString(member);
  } else if constexpr (std::same_as<M, RawJson>) {
    encoder.WriteRaw(member.text);
  } else if constexpr (IsInterned<M>) {
    EncodeMember(member.get(), encoder);
  } else if constexpr (kIsOptional<M>) {
    EncodeMember(*member, encoder);
  } else if constexpr (kIsVector<M>) {
    encoder.OpenBracket('[');
    for (const auto& element : member) {
      encoder.StartElement();
      EncodeMember(element, encoder);
    }
    encoder.CloseBracket(']');
  } else if constexpr (kIsMap<M>) {
    encoder.OpenBracket('{');
    for (const auto& [key, value] : member) {
      encoder.WriteKey(key);
      EncodeMember(value, encoder);
    }
    encoder.CloseBracket('}');
  } else {
    EncodeFields(encoder, &member, KoppFields(&member));
  }
}

template <typename M>
bool IsOmitted(const M& member) {
  if constexpr (kIsOptional<M>) {
    return !member.has_value();
  } else if constexpr (std::same_as<M, RawJson>) {
    return member.text.empty();
  } else if constexpr (std::same_as<M, std::string> || kIsVector<M> || kIsMap<M> || IsInterned<M>) {
    return member.empty();
  } else {
    return false;
  }
}

// `Class` could be deduced from `kMember`, but must stay a type argument. g++ gives the instances
// for a class in an unnamed namespace internal linkage only if the class is a type argument.
// Without it, the linker would merge the instances of two equally named classes in two files.
template <typename Class, auto kMember>
constexpr Field MakeField(std::string_view name) {
  return {name,
          [](void* object, Cursor& cursor) {
            DecodeMember(static_cast<Class*>(object)->*kMember, cursor);
          },
          [](const void* object, std::string_view key, Encoder& encoder) {
            const auto& member = static_cast<const Class*>(object)->*kMember;
            if (IsOmitted(member)) return;
            encoder.WriteKey(key);
            EncodeMember(member, encoder);
          }};
}

}  // namespace detail

/// Decodes an object from JSON text. Throws DecodeError. Values of fields that are not listed are
/// skipped without full validation.
template <detail::HasFieldList T>
[[nodiscard]] T Decode(std::string_view text) {
  T object{};
  detail::DecodeText(text, &object, KoppFields(&object));
  return object;
}

/// Returns the listed fields of `object` as JSON text. Invalid UTF-8 is replaced by U+FFFD; numbers
/// that are not finite become null.
template <detail::HasFieldList T>
[[nodiscard]] std::string Encode(const T& object) {
  std::string text;
  detail::Encoder encoder{text};
  detail::EncodeFields(encoder, &object, KoppFields(&object));
  return text;
}

}  // namespace kopp

// Implementation of KOPP_FIELDS. KOPP_FOR_EACH(m, a, b) expands to m(a) m(b), for up to 256
// arguments. A parenthesised argument comes from KOPP_FIELD.
#define KOPP_PARENS ()
#define KOPP_EXPAND(...) KOPP_EXPAND3(KOPP_EXPAND3(KOPP_EXPAND3(KOPP_EXPAND3(__VA_ARGS__))))
#define KOPP_EXPAND3(...) KOPP_EXPAND2(KOPP_EXPAND2(KOPP_EXPAND2(KOPP_EXPAND2(__VA_ARGS__))))
#define KOPP_EXPAND2(...) KOPP_EXPAND1(KOPP_EXPAND1(KOPP_EXPAND1(KOPP_EXPAND1(__VA_ARGS__))))
#define KOPP_EXPAND1(...) __VA_ARGS__
#define KOPP_FOR_EACH(macro, ...) __VA_OPT__(KOPP_EXPAND(KOPP_FOR_EACH_STEP(macro, __VA_ARGS__)))
#define KOPP_FOR_EACH_STEP(macro, first, ...) \
  macro(first) __VA_OPT__(KOPP_FOR_EACH_AGAIN KOPP_PARENS(macro, __VA_ARGS__))
#define KOPP_FOR_EACH_AGAIN() KOPP_FOR_EACH_STEP

#define KOPP_SECOND(first, second, ...) second
#define KOPP_IS_PAREN_PROBE(...) ~, 1
#define KOPP_IS_PAREN_OF(...) KOPP_SECOND(__VA_ARGS__)
#define KOPP_IS_PAREN(x) KOPP_IS_PAREN_OF(KOPP_IS_PAREN_PROBE x, 0, ~)
#define KOPP_JOIN(a, b) KOPP_JOIN_NOW(a, b)
#define KOPP_JOIN_NOW(a, b) a##b
#define KOPP_FIELD_ENTRY(x) KOPP_JOIN(KOPP_FIELD_ENTRY_, KOPP_IS_PAREN(x))(x)
#define KOPP_FIELD_ENTRY_0(member) kopp::detail::MakeField<KoppType, &KoppType::member>(#member),
#define KOPP_FIELD_ENTRY_1(pair) KOPP_FIELD_ENTRY_NAMED pair
#define KOPP_FIELD_ENTRY_NAMED(member, json_name) \
  kopp::detail::MakeField<KoppType, &KoppType::member>(json_name),
