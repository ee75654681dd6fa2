#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <kopp/crd/schema_node.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/markers.hpp>

// Describes types as schemas. The templates only call SchemaNode: see <kopp/crd.hpp>.

namespace kopp::detail {

/// A visitor that does nothing, for concepts.
struct NoFieldVisitor {
  template <typename Class, auto kMember, typename... Markers>
  constexpr void Visit(std::string_view, const Markers&...) const {}
};

/// A struct whose KOPP_FIELDS are visible, so that its fields have a schema.
template <typename T>
concept HasVisibleFields =
    requires(const T* object, const NoFieldVisitor& visitor) { KoppVisitFields(object, visitor); };
/// A type that gives its own schema: `constexpr std::string_view KoppSchema(const T*)`, found by
/// argument-dependent lookup, returns the JSON text of an openAPIV3Schema.
template <typename T>
concept HasSchemaText = requires(const T* object) {
  { KoppSchema(object) } -> std::convertible_to<std::string_view>;
};

/// Identifies a type at run time.
template <typename T>
inline constexpr char kTypeId = 0;

template <typename T>
constexpr bool kIsRequiredByDefault =
    !(kIsOptional<T> || IsList<T> || IsMap<T> || IsInterned<T> || std::same_as<T, RawJson>);

template <typename T, typename... Markers>
constexpr bool kHasMarker = (std::same_as<Markers, T> || ...);
template <typename T>
constexpr bool kIsDefault = false;
template <typename T>
constexpr bool kIsDefault<markers::Default<T>> = true;

template <typename T>
void DescribeType(SchemaNode node);

template <typename T>
void DescribeInteger(const SchemaNode& node) {
  using Limits = std::numeric_limits<T>;
  constexpr bool kFitsInt32 = Limits::max() <= std::numeric_limits<std::int32_t>::max();
  node.SetType("integer", kFitsInt32 ? "int32" : "int64");
  if constexpr (std::unsigned_integral<T> || sizeof(T) < sizeof(std::int32_t)) {
    node.Set("minimum", Limits::min());
  }
  if constexpr (sizeof(T) < sizeof(std::int32_t) || std::same_as<T, std::uint32_t>) {
    node.Set("maximum", Limits::max());
  }
}

template <typename M, typename Marker>
void ApplyMarker(const SchemaNode& node, const Marker& marker) {
  using T = MarkedType<M>;
  if constexpr (std::derived_from<Marker, markers::Validation>) {
    node.AppendRule(marker);
  } else if constexpr (std::derived_from<Marker, KeywordMarker>) {
    node.Set(marker);
  }
  if constexpr (requires { marker.names; }) {
    for (const std::string_view name : marker.names) {
      node.Append("x-kubernetes-list-map-keys", name);
    }
  } else if constexpr (requires { marker.values; }) {
    for (const Literal& value : marker.values) node.Append("enum", value);
  } else if constexpr (kIsDefault<Marker>) {
    node.SetDefault(marker.value);
  } else if constexpr (std::same_as<Marker, markers::EmbeddedResource>) {
    if constexpr (std::same_as<T, RawJson>) node.Set("x-kubernetes-preserve-unknown-fields", true);
  } else if constexpr (requires { marker.markers; }) {
    const SchemaNode child = node.Child(IsList<T> ? "items" : "additionalProperties");
    std::apply(
        [&](const auto&... item) { (ApplyMarker<typename ElementOf<T>::Type>(child, item), ...); },
        marker.markers);
  }
}

/// Adds the fields of a struct to its schema. KoppVisitFields calls it.
class FieldDescriber {
 public:
  enum class Place {
    kNested,
    kRoot,  ///< of an object: metadata and status are not described as other fields are
  };
  FieldDescriber(const SchemaNode& node, Place place) : node_(&node), place_(place) {}

  template <typename Class, auto kMember, typename... Markers>
  void Visit(std::string_view name, const Markers&... all) const {
    using M = std::remove_cvref_t<decltype(std::declval<Class&>().*kMember)>;
    if (name == kOtherFields) {
      node_->Set("x-kubernetes-preserve-unknown-fields", true);
      return;
    }
    const SchemaNode field = node_->Property(name);
    if constexpr (kHasMarker<markers::IntOrString, Markers...>) {
      field.Replace(R"({"anyOf":[{"type":"integer"},{"type":"string"}]})");
    } else if constexpr (!kHasMarker<markers::Schemaless, Markers...>) {
      DescribeType<M>(field);
    }
    (ApplyMarker<M>(field, all), ...);
    if constexpr (kHasMarker<markers::PreserveUnknownFields, Markers...> &&
                  !kHasMarker<markers::Schemaless, Markers...> && !IsList<MarkedType<M>>) {
      field.Set("type", "object");
    }
    constexpr bool kRequired =
        kHasMarker<markers::Required, Markers...> ||
        (kIsRequiredByDefault<M> && !kHasMarker<markers::Optional, Markers...> &&
         !(kIsDefault<Markers> || ...));
    if (kRequired && !IsExempt(name)) node_->Require(name);
  }

 private:
  [[nodiscard]] bool IsExempt(std::string_view name) const {
    return place_ == Place::kRoot && (name == "metadata" || name == "status");
  }

  const SchemaNode* node_;
  Place place_;
};

/// Describes the type of a field. See the page docs/crds.md for the schema of each type.
// NOLINTBEGIN(bugprone-branch-clone): one branch for each kind of type
template <typename M>
void DescribeType(SchemaNode node) {
  using T = MarkedType<M>;
  if constexpr (HasSchemaText<T>) {
    node.Replace(KoppSchema(static_cast<const T*>(nullptr)));
  } else if constexpr (std::same_as<T, bool>) {
    node.SetType("boolean");
  } else if constexpr (std::integral<T>) {
    DescribeInteger<T>(node);
  } else if constexpr (std::floating_point<T>) {
    node.SetType("number");
  } else if constexpr (std::same_as<T, std::string>) {
    node.SetType("string");
  } else if constexpr (HasEnumNames<T>) {
    node.SetType("string");
    for (const auto& entry : KoppEnumNames(static_cast<const T*>(nullptr))) {
      if (!entry.name.empty()) node.Append("enum", entry.name);  // "" omits the field
    }
  } else if constexpr (IsList<T>) {
    node.SetType("array");
    DescribeType<typename T::value_type>(node.Child("items"));
  } else if constexpr (IsMap<T>) {
    node.SetType("object");
    DescribeType<typename T::mapped_type>(node.Child("additionalProperties"));
  } else if constexpr (std::same_as<T, ObjectMeta>) {
    node.SetType("object");
  } else if constexpr (HasVisibleFields<T>) {
    node.SetType("object");
    node.Enter(&kTypeId<T>);
    KoppVisitFields(static_cast<const T*>(nullptr),
                    FieldDescriber(node, FieldDescriber::Place::kNested));
  } else {
    if constexpr (HasFieldList<T>) node.SetType("object");
    node.Set("x-kubernetes-preserve-unknown-fields", true);
  }
}
// NOLINTEND(bugprone-branch-clone)

}  // namespace kopp::detail
