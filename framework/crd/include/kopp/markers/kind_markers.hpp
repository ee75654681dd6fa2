#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <kopp/markers/field_markers.hpp>

// The markers of kinds. See <kopp/markers.hpp>.

namespace kopp {
namespace detail {

inline void ErrorAPathMustStartWithADot() {}
inline void ErrorTheTypeOfAPrintColumnMustBeIntegerNumberStringBooleanOrDate() {}

constexpr std::string_view PathWithDot(std::string_view path) {
  if (!path.starts_with('.')) ErrorAPathMustStartWithADot();
  return path;
}

struct KindMarker {
  template <typename Kind>
  static constexpr void CheckKind() {}
};

template <std::size_t kCount>
struct NamesMarker : KindMarker {
  template <typename... Names>
  constexpr explicit NamesMarker(Names... all) : names{NotEmpty(all)...} {}
  std::array<std::string_view, kCount> names;
};

}  // namespace detail

namespace markers {

/// Short names for kubectl: ShortNames("fo").
template <std::size_t kCount>
struct ShortNames : detail::NamesMarker<kCount> {
  static constexpr std::string_view kList = "shortNames";
  using detail::NamesMarker<kCount>::NamesMarker;
};
template <typename... Names>
ShortNames(Names...) -> ShortNames<sizeof...(Names)>;
/// Groups of kinds that the kind belongs to: `kubectl get all` for Categories("all").
template <std::size_t kCount>
struct Categories : detail::NamesMarker<kCount> {
  static constexpr std::string_view kList = "categories";
  using detail::NamesMarker<kCount>::NamesMarker;
};
template <typename... Names>
Categories(Names...) -> Categories<sizeof...(Names)>;

/// The singular name; without it, the kind in lower case.
struct Singular : detail::KindMarker {
  constexpr explicit Singular(std::string_view singular_name)
      : name(detail::NotEmpty(singular_name)) {}
  std::string_view name;
};
/// The kind of lists; without it, the kind with "List".
struct ListKind : detail::KindMarker {
  constexpr explicit ListKind(std::string_view list_kind) : name(detail::NotEmpty(list_kind)) {}
  std::string_view name;
};

/// The version in which the API server stores objects. Needed if a kind has several versions.
struct StorageVersion : detail::KindMarker {};
/// The API server does not serve this version.
struct NotServed : detail::KindMarker {};
/// The API server adds a warning to each response; without a text, the standard one.
struct Deprecated : detail::KindMarker {
  constexpr explicit Deprecated(std::string_view warning_text = {}) : warning(warning_text) {}
  std::string_view warning;
};

/// The status is written separately: changes of the spec and of the status cannot overwrite each
/// other, and metadata.generation counts the changes of the spec.
struct StatusSubresource : detail::KindMarker {
  template <typename Kind>
  static constexpr void CheckKind() {
    static_assert(
        requires(Kind kind) { kind.status; },
        "StatusSubresource: the struct has no member `status`: add one, or remove the "
        "marker");
  }
};
/// `kubectl scale` and HorizontalPodAutoscalers work:
/// ScaleSubresource(".spec.replicas", ".status.replicas", ".status.selector").
struct ScaleSubresource : detail::KindMarker {
  constexpr ScaleSubresource(std::string_view spec_replicas, std::string_view status_replicas,
                             std::string_view selector_path = {})
      : spec(detail::PathWithDot(spec_replicas)),
        status(detail::PathWithDot(status_replicas)),
        selector(selector_path.empty() ? selector_path : detail::PathWithDot(selector_path)) {}
  std::string_view spec;
  std::string_view status;
  std::string_view selector;
};
/// A field that field selectors may use: SelectableField(".spec.color").
struct SelectableField : detail::KindMarker {
  constexpr explicit SelectableField(std::string_view json_path)
      : path(detail::PathWithDot(json_path)) {}
  std::string_view path;
};

/// Options of PrintColumn.
struct PrintColumnOptions {
  std::string_view description = {};
  std::string_view format = {};
  int priority = 0;  ///< above 0: only with `kubectl get -o wide`
};
/// A column of `kubectl get`: PrintColumn("Replicas", "integer", ".spec.replicas"). The type is
/// integer, number, string, boolean or date.
struct PrintColumn : detail::KindMarker {
  constexpr PrintColumn(std::string_view column_name, std::string_view column_type,
                        std::string_view json_path, const PrintColumnOptions& column_options = {})
      : name(detail::NotEmpty(column_name)),
        type(column_type),
        path(detail::PathWithDot(json_path)),
        options(column_options) {
    if (type != "integer" && type != "number" && type != "string" && type != "boolean" &&
        type != "date") {
      detail::ErrorTheTypeOfAPrintColumnMustBeIntegerNumberStringBooleanOrDate();
    }
  }
  std::string_view name;
  std::string_view type;
  std::string_view path;
  PrintColumnOptions options;
};

/// An annotation or a label of the CustomResourceDefinition.
struct Annotation : detail::KindMarker {
  constexpr Annotation(std::string_view annotation_key, std::string_view annotation_value)
      : key(detail::NotEmpty(annotation_key)), value(annotation_value) {}
  std::string_view key;
  std::string_view value;
};
struct Label : detail::KindMarker {
  constexpr Label(std::string_view label_key, std::string_view label_value)
      : key(detail::NotEmpty(label_key)), value(label_value) {}
  std::string_view key;
  std::string_view value;
};

}  // namespace markers
}  // namespace kopp
