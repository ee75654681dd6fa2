#pragma once

#include "json/schema_names.hpp"
#include "schema/field_error.hpp"
#include "schema/field_ref.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

// The parts of the validation of a Pod spec, in a Pod or in a Pod template. Each function adds the
// errors that it finds to `errors`, in the order of kube-apiserver.

namespace kopp::apiserver {

/// What the validation of the parts of a Pod spec needs to know about the whole.
struct PodContext {
  FieldRef spec;
  bool is_pod = false;                        ///< a Pod, not a Pod template
  std::string pod_name{};                     ///< "" in a Pod template
  std::map<std::string, FieldRef> volumes{};  ///< the valid volumes by name
};

void ValidatePodSpec(PodContext context, FieldErrors& errors);
/// Validates the change of an update of a Pod.
void ValidatePodUpdate(const nlohmann::json& before, const nlohmann::json& after,
                       FieldErrors& errors);

// Rules of the fields of many parts.

/// Returns whether a field is null, "", or an empty list or object.
[[nodiscard]] bool IsUnset(const FieldRef& field);
/// Requires a value that is not empty: see IsUnset.
void ValidateNotEmpty(const FieldRef& field, FieldErrors& errors);
/// Requires a number from `min` to `max`.
void ValidateRange(const FieldRef& field, std::int64_t min, std::int64_t max, FieldErrors& errors);
/// Requires a qualified name, such as "example.com/name". Reports errors at `path`.
void ValidateQualifiedField(const std::string& name, const std::string& path, FieldErrors& errors);
/// Requires a path without the element "..".
void ValidateNoBacksteps(const FieldRef& path, FieldErrors& errors);
/// Requires a relative path without the element "..".
void ValidateDescendingPath(const FieldRef& path, FieldErrors& errors);
/// Validates a volume in the file system of the node.
void ValidateHostPath(const FieldRef& source, FieldErrors& errors);
/// Requires a relative path that does not start with "..".
void ValidateNonReservedPath(const FieldRef& path, FieldErrors& errors);
/// Returns whether an amount has a fraction. Like kube-apiserver, does not find it in amounts of
/// 2^63/1000 or more.
[[nodiscard]] bool HasFraction(const std::string& amount);
/// Returns the error of a name that nothing has.
[[nodiscard]] FieldError NotFound(const FieldRef& name);
/// Returns `field` as it appears in the errors of kube-apiserver, at another path.
[[nodiscard]] FieldRef At(const FieldRef& field, const std::string& path);

/// Calls `visit` for the init containers, containers and ephemeral containers.
void ForEachContainer(const FieldRef& spec, const std::function<void(const FieldRef&)>& visit);

// Volumes.

/// Validates the volumes and adds the valid ones to `context`.
void ValidatePodVolumes(PodContext& context, FieldErrors& errors);
void ValidateProjectedVolume(const FieldRef& projected, FieldErrors& errors);
/// Validates a file of the downward API. Its errors are reported at `path`.
void ValidateDownwardApiFile(const FieldRef& file, const std::string& path, FieldErrors& errors);
/// Validates the name of a CSI driver, which may have upper-case letters.
void ValidateDriverName(const FieldRef& driver, FieldErrors& errors);
/// Validates a key of a ConfigMap or Secret and the path of its file.
void ValidateKeyToPath(const FieldRef& item, FieldErrors& errors);
/// Requires the permissions of a file: at most 0777.
void ValidateFileMode(const FieldRef& mode, FieldErrors& errors);

// Containers.

/// Validates the containers and init containers.
void ValidateContainers(const PodContext& context, FieldErrors& errors);
void ValidateEphemeralContainers(const PodContext& context, FieldErrors& errors);
/// Validates the ports of containers in the network of their node.
void ValidateHostNetwork(const PodContext& context, FieldErrors& errors);
/// Requires an image without white space around it.
void ValidateImagePadding(const FieldRef& container, FieldErrors& errors);
void ValidateContainerEnv(const FieldRef& container, FieldErrors& errors);
/// Validates a reference to a field of the Pod. `supported` are the fields without a subscript.
void ValidateObjectFieldRef(const FieldRef& reference, const std::vector<std::string>& supported,
                            FieldErrors& errors);
/// Validates a reference to a limit or request of a container.
void ValidateResourceFieldRef(const FieldRef& reference, bool needs_container, FieldErrors& errors);
void ValidateContainerMounts(const FieldRef& container, const PodContext& context,
                             FieldErrors& errors);
void ValidateContainerProbes(const FieldRef& container, const PodContext& context,
                             FieldErrors& errors);
void ValidateLifecycle(const FieldRef& lifecycle, const PodContext& context, FieldErrors& errors);
/// Validates the limits, requests and claims of a container.
/// Validates the name of a resource of containers: "cpu", "example.com/gpu".
void ValidateContainerResourceName(const std::string& name, const std::string& path,
                                   FieldErrors& errors);
void ValidateContainerResources(const FieldRef& resources, const PodContext& context,
                                FieldErrors& errors);
/// Validates the limits and requests of the whole Pod.
void ValidatePodResources(const PodContext& context, FieldErrors& errors);
void ValidateResizePolicies(const FieldRef& policies, const PodContext& context,
                            FieldErrors& errors);

// Security.

void ValidatePodSecurityContext(const FieldRef& spec, FieldErrors& errors);
void ValidateContainerSecurityContext(const FieldRef& security, const FieldRef& spec,
                                      FieldErrors& errors);
void ValidateWindowsOptions(const FieldRef& options, FieldErrors& errors);
/// Validates the HostProcess containers of Windows.
void ValidateHostProcessContainers(const FieldRef& spec, FieldErrors& errors);
/// Validates spec.os, and that no field is set that only another operating system has.
void ValidateOs(const FieldRef& spec, FieldErrors& errors);
/// Returns the AppArmor profile that an annotation of a container selects, or null if it is
/// invalid.
[[nodiscard]] nlohmann::json AppArmorProfileOf(const std::string& annotation);
/// Validates annotations that have a meaning in Pods.
void ValidatePodAnnotations(const FieldRef& annotations, const FieldRef& spec, FieldErrors& errors);
/// Requires that the annotations of seccomp and AppArmor profiles are equal to their fields.
void ValidateProfileAnnotations(const FieldRef& annotations, const FieldRef& spec,
                                FieldErrors& errors);

// Scheduling.

/// Validates the terms of which one selects a node.
void ValidateNodeSelector(const FieldRef& selector, FieldErrors& errors);
void ValidateAffinity(const FieldRef& affinity, FieldErrors& errors);
void ValidateTopologySpreadConstraints(const FieldRef& constraints, FieldErrors& errors);
void ValidateTolerations(const FieldRef& tolerations, FieldErrors& errors);
/// Validates the labels that a selector takes from the Pod.
void ValidateMatchLabelKeys(const FieldRef& owner, FieldErrors& errors);

}  // namespace kopp::apiserver
