#pragma once

#include "json/schema_names.hpp"
#include "schema/schema.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Returns the errors of strict decoding in the order of the text: `unknown field "spec.a"`,
/// `duplicate field "spec.b"`. If `text` is not valid JSON, returns the errors before the syntax
/// error.
[[nodiscard]] std::vector<std::string> FindStrictDecodingErrors(std::string_view text,
                                                                const Schema& schema);

/// Decodes an object of a built-in kind. Throws std::invalid_argument, with the same message as
/// kube-apiserver, if a value has the wrong type. The result has metadata, but no apiVersion and
/// kind.
[[nodiscard]] nlohmann::json DecodeBuiltIn(nlohmann::json object, const Schema& schema);

/// An object of a kind: with metadata, and without apiVersion and kind.
struct DecodedObject {
  nlohmann::json object{};
  std::vector<std::string> errors{};  ///< of strict decoding
};

/// Decodes an object with the JSON text `text`, in which fields may be duplicated. Sets the
/// defaults of a custom resource, and lists its unknown fields in the order of their paths. Throws
/// std::invalid_argument, with the same message as kube-apiserver, if a value has the wrong type.
[[nodiscard]] DecodedObject DecodeStrictly(nlohmann::json object, std::string_view text,
                                           const Schema& schema, bool built_in);

/// Converts the numbers in `value` to the types of `schema`: an integer that does not fit wraps
/// around, as in kube-apiserver. Throws std::invalid_argument if a value has the wrong type, with
/// the message of the conversion that kube-apiserver uses for the results of applies and of
/// strategic merge patches. Other decoding errors are left to DecodeTyped().
void ConvertUnstructured(nlohmann::json& value, const Schema& schema);

}  // namespace kopp::apiserver
