#pragma once

#include "json/schema_names.hpp"
#include "pods/pod_context.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

namespace kopp::apiserver {

/// Validates a volume in the file system of the node.
void ValidateHostPath(const FieldRef& source, FieldErrors& errors);
/// Validates the volumes and adds the valid ones to `context`.
void ValidatePodVolumes(PodContext& context, FieldErrors& errors);
/// Validates the name of a CSI driver, which may have upper-case letters.
void ValidateDriverName(const FieldRef& driver, FieldErrors& errors);

}  // namespace kopp::apiserver
