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
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

/// Lists the fields of a struct, once: `KOPP_FIELDS(Foo::Spec, deploymentName, replicas)`, in the
/// namespace of the struct and outside of it. From the list come
///
/// - decoding straight from JSON text: `kopp::Decode<Foo>(text)`. Fields that are not listed are
///   skipped without being looked at or allocated; null and missing fields leave the member as it
///   is;
/// - encoding: `kopp::Encode(foo)`. Empty strings, lists, maps and optionals are left out, numbers
///   and booleans are always written. Who has to write an empty string makes it a std::optional;
/// - to_json and from_json for nlohmann::json.
///
/// A member may be bool, any integer or floating-point type, std::string, std::optional,
/// std::vector (not of bool) or std::map<std::string, …> of these, kopp::RawJson, or a struct whose
/// own fields are listed before. It bears the name of the JSON field; where C++ reserves that name,
/// write `KOPP_FIELD(ns, "namespace")` in the list.
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

#define KOPP_FIELD(member, json_name) (member, json_name)

namespace kopp {

/// JSON text that is not what it should be. what() names the field: `spec.replicas: expected an
/// integer, found a string`.
class DecodeError : public std::runtime_error {
 public:
  enum class Kind {
    kMalformed,  ///< not JSON at all
    kMisfit,     ///< JSON, but a field has another type or does not fit
  };
  DecodeError(Kind kind, std::string path, std::string problem);
  [[nodiscard]] Kind kind() const { return kind_; }

  /// The same error, seen from the object that holds the field.
  [[nodiscard]] DecodeError Within(std::string_view field) const;

 private:
  Kind kind_;
  std::string path_;
  std::string problem_;
};

/// A member whose JSON is kept as text, of whatever shape, and parsed when asked.
struct RawJson {
  std::string text;
  friend bool operator==(const RawJson&, const RawJson&) = default;
};

namespace detail {

struct Field;
using Fields = std::span<const Field>;

/// A place in JSON text that is being decoded; goes forward only. fields.cpp knows how.
class Cursor {
 public:
  bool Bool();
  std::int64_t Int(std::int64_t least, std::int64_t most);
  std::uint64_t Unsigned(std::uint64_t most);
  double Double();
  std::string String();
  std::string Raw();
  void Elements(void* list, void (*append)(void* list, Cursor&));
  void Entries(void* map, void (*insert)(void* map, std::string key, Cursor&));
  void Members(void* object, Fields fields);

  struct Value;
  explicit Cursor(Value& value) : value_(value) {}

 private:
  Value& value_;
};

/// Appends JSON text to a string.
class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}
  void Bool(bool value);
  void Int(std::int64_t value);
  void Unsigned(std::uint64_t value);
  void Double(double value);
  void String(std::string_view value);
  void Raw(std::string_view value);
  void Open(char bracket);
  void Close(char bracket);
  void Key(std::string_view key);  ///< of the next value in an object
  void Element();                  ///< the next value in a list follows

 private:
  void Comma();
  std::string& out_;
};

/// One listed field of a struct, without its types: what keeps simdjson out of this header.
struct Field {
  std::string_view name;
  void (*decode)(void* object, Cursor& from);
  void (*encode)(const void* object, std::string_view name, Encoder& to);
};

void EncodeFields(Encoder& to, const void* object, Fields fields);
void DecodeText(std::string_view text, void* object, Fields fields);
void ToJson(nlohmann::json& json, const void* object, Fields fields);
void FromJson(const nlohmann::json& json, void* object, Fields fields);

template <typename T>
concept Listed = requires(const T* object) {
  { KoppFields(object) } -> std::same_as<Fields>;
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

template <typename M>
void DecodeMember(M& member, Cursor& from) {
  if constexpr (std::same_as<M, bool>) {
    member = from.Bool();
  } else if constexpr (std::signed_integral<M>) {
    using Limits = std::numeric_limits<M>;
    member = static_cast<M>(from.Int(Limits::min(), Limits::max()));
  } else if constexpr (std::unsigned_integral<M>) {
    member = static_cast<M>(from.Unsigned(std::numeric_limits<M>::max()));
  } else if constexpr (std::floating_point<M>) {
    member = static_cast<M>(from.Double());
  } else if constexpr (std::same_as<M, std::string>) {
    member = from.String();
  } else if constexpr (std::same_as<M, RawJson>) {
    member.text = from.Raw();
  } else if constexpr (kIsOptional<M>) {
    DecodeMember(member.emplace(), from);
  } else if constexpr (kIsVector<M>) {
    static_assert(!std::same_as<M, std::vector<bool>>, "its elements have no addresses");
    member.clear();
    from.Elements(&member, [](void* list, Cursor& element) {
      DecodeMember(static_cast<M*>(list)->emplace_back(), element);
    });
  } else if constexpr (kIsMap<M>) {
    member.clear();
    from.Entries(&member, [](void* map, std::string key, Cursor& value) {
      DecodeMember((*static_cast<M*>(map))[std::move(key)], value);
    });
  } else {
    static_assert(Listed<M>, "list the fields of this struct with KOPP_FIELDS first");
    from.Members(&member, KoppFields(&member));
  }
}

template <typename M>
void EncodeMember(const M& member, Encoder& to) {
  if constexpr (std::same_as<M, bool>) {
    to.Bool(member);
  } else if constexpr (std::signed_integral<M>) {
    to.Int(member);
  } else if constexpr (std::unsigned_integral<M>) {
    to.Unsigned(member);
  } else if constexpr (std::floating_point<M>) {
    to.Double(static_cast<double>(member));
  } else if constexpr (std::same_as<M, std::string>) {
    to.String(member);
  } else if constexpr (std::same_as<M, RawJson>) {
    to.Raw(member.text);
  } else if constexpr (kIsOptional<M>) {
    EncodeMember(*member, to);
  } else if constexpr (kIsVector<M>) {
    to.Open('[');
    for (const auto& element : member) {
      to.Element();
      EncodeMember(element, to);
    }
    to.Close(']');
  } else if constexpr (kIsMap<M>) {
    to.Open('{');
    for (const auto& [key, value] : member) {
      to.Key(key);
      EncodeMember(value, to);
    }
    to.Close('}');
  } else {
    EncodeFields(to, &member, KoppFields(&member));
  }
}

template <typename M>
bool IsLeftOut(const M& member) {
  if constexpr (kIsOptional<M>) {
    return !member.has_value();
  } else if constexpr (std::same_as<M, RawJson>) {
    return member.text.empty();
  } else if constexpr (std::same_as<M, std::string> || kIsVector<M> || kIsMap<M>) {
    return member.empty();
  } else {
    return false;
  }
}

// `Class` is deducible from `kMember`, and named all the same: g++ gives the functions of a class
// in an unnamed namespace a linkage of their own only for a type argument, and would merge those of
// two files else.
template <typename Class, auto kMember>
constexpr Field MakeField(std::string_view name) {
  return {
      name,
      [](void* object, Cursor& from) { DecodeMember(static_cast<Class*>(object)->*kMember, from); },
      [](const void* object, std::string_view key, Encoder& to) {
        const auto& member = static_cast<const Class*>(object)->*kMember;
        if (IsLeftOut(member)) return;
        to.Key(key);
        EncodeMember(member, to);
      }};
}

}  // namespace detail

/// The object that `text` holds. Throws DecodeError; text in fields that are not listed is not
/// looked at closely.
template <detail::Listed T>
[[nodiscard]] T Decode(std::string_view text) {
  T object{};
  detail::DecodeText(text, &object, KoppFields(&object));
  return object;
}

/// The listed fields of `object` as JSON text.
template <detail::Listed T>
[[nodiscard]] std::string Encode(const T& object) {
  std::string text;
  detail::Encoder encoder{text};
  detail::EncodeFields(encoder, &object, KoppFields(&object));
  return text;
}

}  // namespace kopp

// How KOPP_FIELDS walks its arguments: KOPP_FOR_EACH(m, a, b) is m(a) m(b), up to 256 of them, and
// a parenthesised argument is one of KOPP_FIELD.
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
