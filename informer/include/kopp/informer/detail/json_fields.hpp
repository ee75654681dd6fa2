#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/informer/detail/enum_names.hpp>

namespace kopp {

class JsonObject;

/// A member that holds any JSON value as unparsed text. When it is encoded, the text is copied
/// without a check; empty text omits the field.
struct RawJson {
  std::string text;
  friend bool operator==(const RawJson&, const RawJson&) = default;
};

/// The JSON name of a member for the fields of an object that no other member has:
///
///     KOPP_FIELD(others, kopp::kOtherFields)
///
/// The member is a std::map<std::string, RawJson>, and the last one in the list. A key that another
/// member has would be written twice. No field of an object has this name: it is not valid UTF-8.
inline constexpr const char* kOtherFields = "\xff";

namespace detail {

struct Field;
using Fields = std::span<const Field>;

/// A forward-only position in JSON text. Each function reads the value at the position; call one of
/// them at most once. All throw DecodeError. The class hides simdjson from this header; fields.cpp
/// implements it.
class Cursor {
 public:
  /// Unlike the other functions, leaves the value to be read.
  bool IsNull();
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
  /// Calls `insert` for each entry of an object.
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

/// One field of a struct, type-erased: functions that decode and encode it, given the address of
/// the struct plus `offset`. Tables of generated structs use the offset of the member, so that
/// members of one type share their functions; other tables use 0.
struct Field {
  std::string_view name;
  void (*decode)(void* object, Cursor& cursor);
  void (*encode)(const void* object, std::string_view name, Encoder& encoder);
  std::size_t offset = 0;
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

/// A type with a form of its own in JSON, for example a quantity. The functions are found by
/// argument-dependent lookup:
///
/// - `void KoppDecode(std::string_view json, T& value)` gets one JSON value as text, a string with
///   its quotes; DecodeString decodes it. Throws DecodeError with an empty path;
/// - `std::string KoppEncode(const T& value)` returns JSON text;
/// - `bool KoppIsEmpty(const T& value)` returns whether the field is omitted.
template <typename T>
concept HasJsonForm = requires(std::string_view json, T& value, const T& constant) {
  KoppDecode(json, value);
  { KoppEncode(constant) } -> std::same_as<std::string>;
  { KoppIsEmpty(constant) } -> std::same_as<bool>;
};

/// Returns the string that `json` is. Throws DecodeError (kTypeMismatch) for another value.
std::string DecodeString(std::string_view json);
/// Returns `value` as a JSON string with quotes.
std::string EncodeString(std::string_view value);

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
/// Whether an entry of a map may be null. Other types skip such an entry.
template <typename T>
constexpr bool kHoldsNull = kIsOptional<T> || std::same_as<T, RawJson>;

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
  } else if constexpr (HasJsonForm<M>) {
    KoppDecode(cursor.ReadRaw(), member);
  } else if constexpr (HasEnumNames<M>) {
    member = static_cast<M>(FindEnumValue(KoppEnumNames(&member), cursor.ReadString()));
  } else if constexpr (IsInterned<M>) {
    typename M::container_type value;
    DecodeMember(value, cursor);
    member = M::Intern(std::move(value));
  } else if constexpr (kIsOptional<M>) {
    if (cursor.IsNull()) {  // only in a list or a map: a field with null is skipped
      member.reset();
    } else {
      DecodeMember(member.emplace(), cursor);
    }
  } else if constexpr (kIsVector<M>) {
    member.clear();
    cursor.ReadArray(&member, [](void* list, Cursor& element) {
      DecodeMember(static_cast<M*>(list)->emplace_back(), element);
    });
  } else if constexpr (kIsMap<M>) {
    member.clear();
    cursor.ReadMap(&member, [](void* map, std::string key, Cursor& value) {
      if constexpr (!kHoldsNull<typename M::mapped_type>) {
        if (value.IsNull()) return;
      }
      DecodeMember((*static_cast<M*>(map))[std::move(key)], value);
    });
  } else {
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
    encoder.WriteRaw(member.text.empty() ? "null" : std::string_view(member.text));
  } else if constexpr (HasJsonForm<M>) {
    encoder.WriteRaw(KoppEncode(member));
  } else if constexpr (HasEnumNames<M>) {
    encoder.WriteString(FindEnumName(KoppEnumNames(&member), static_cast<std::int64_t>(member)));
  } else if constexpr (IsInterned<M>) {
    EncodeMember(member.get(), encoder);
  } else if constexpr (kIsOptional<M>) {
    if (member.has_value()) {
      EncodeMember(*member, encoder);
    } else {
      encoder.WriteRaw("null");
    }
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
  } else if constexpr (HasJsonForm<M>) {
    return KoppIsEmpty(member);
  } else if constexpr (HasEnumNames<M>) {
    return FindEnumName(KoppEnumNames(&member), static_cast<std::int64_t>(member)).empty();
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

}  // namespace kopp
