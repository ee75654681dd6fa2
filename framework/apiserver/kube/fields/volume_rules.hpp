#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

#include <string>

// Rules of PersistentVolumeClaims, PersistentVolumes, and the claims and volumes in Pods.

namespace kopp::apiserver {

/// Validates the spec of a PersistentVolumeClaim. If `is_new`, also validates the API groups of
/// data sources.
void ValidateClaimSpec(const FieldRef& spec, bool is_new, FieldErrors& errors);
/// Validates access modes, whose errors kube-apiserver reports at the list.
void ValidateAccessModes(const FieldRef& modes, FieldErrors& errors);
/// Validates a volume in the file system of the node.
void ValidateHostPath(const FieldRef& source, FieldErrors& errors);
/// Validates the name of a CSI driver, which may have upper-case letters.
void ValidateDriverName(const FieldRef& driver, FieldErrors& errors);
void ValidateVolumeMode(const FieldRef& mode, FieldErrors& errors);
/// Requires an amount above zero. `path` is the path that kube-apiserver reports.
void ValidatePositive(const FieldRef& amount, const std::string& path, FieldErrors& errors);

}  // namespace kopp::apiserver
