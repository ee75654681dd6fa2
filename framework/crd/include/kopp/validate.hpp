#pragma once

#include <memory>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <kopp/crd.hpp>
#include <kopp/field_error.hpp>
#include <kopp/informer/fields.hpp>

namespace kopp {

namespace schema {
struct Schema;
}

/// Validates a JSON object against the schema of its apiVersion in `definition`, as the API server
/// does before it stores the object: unknown fields are ignored, defaults are set, then values are
/// checked. Returns the errors in the order of the server; none if the object is valid.
/// There is an error for each value of a wrong type in apiVersion, kind or metadata of an embedded
/// resource; the API server rejects the request at the first one, with another message.
///
/// CEL rules (the markers Validation and Immutable) are not evaluated: only the API server does.
/// Metadata is not validated, either. Throws std::invalid_argument if `object` is not a JSON object
/// or if the definition does not have its version.
[[nodiscard]] FieldErrors Validate(const nlohmann::json& object,
                                   const CustomResourceDefinition& definition);

namespace detail {

/// The schema of one version, ready for validation. Thread-safe.
class VersionSchema {
 public:
  /// Throws std::invalid_argument if the definition does not have the version.
  VersionSchema(const CustomResourceDefinition& definition, std::string_view api_version);
  [[nodiscard]] FieldErrors Validate(nlohmann::json object) const;
  [[nodiscard]] FieldErrors ValidateText(std::string_view object) const;

 private:
  std::shared_ptr<const schema::Schema> schema_;
};

}  // namespace detail

/// The same for an object of a kind with KOPP_CRD:
///
///     for (const auto& error : kopp::Validate(foo)) std::cerr << error.ToString() << '\n';
///
/// The first call for a kind builds its schema. Thread-safe. Throws nlohmann::json::exception if a
/// RawJson of the object is not JSON.
template <HasCrd T>
[[nodiscard]] FieldErrors Validate(const T& object) {
  static const detail::VersionSchema schema(CustomResourceDefinitionOf<T>(), T::kKind.api_version);
  return schema.ValidateText(Encode(object));
}

}  // namespace kopp
