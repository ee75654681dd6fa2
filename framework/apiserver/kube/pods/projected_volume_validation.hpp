#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

#include <string>

namespace kopp::apiserver {

void ValidateProjectedVolume(const FieldRef& projected, FieldErrors& errors);
/// Validates a file of the downward API. Its errors are reported at `path`.
void ValidateDownwardApiFile(const FieldRef& file, const std::string& path, FieldErrors& errors);
/// Validates a key of a ConfigMap or Secret and the path of its file.
void ValidateKeyToPath(const FieldRef& item, FieldErrors& errors);
/// Requires the permissions of a file: at most 0777.
void ValidateFileMode(const FieldRef& mode, FieldErrors& errors);

}  // namespace kopp::apiserver
