#include "pods/container_mount_validation.hpp"

#include "fields/field_rules.hpp"
#include "pods/pod_context.hpp"
#include "schema/field_validation.hpp"

#include <map>
#include <set>
#include <string>

namespace kopp::apiserver {
namespace {

/// The names and paths of the mounts or devices of a container. Of mounts with the same name, the
/// last one counts, as in kube-apiserver.
class MountedPaths {
 public:
  MountedPaths(const FieldRef& list, const char* path) {
    for (const FieldRef& item : list.items()) by_name_[item["name"].text()] = item[path].text();
  }

  [[nodiscard]] bool HasName(const FieldRef& name) const { return by_name_.contains(name.text()); }
  [[nodiscard]] bool HasPath(const FieldRef& path) const {
    for (const auto& [name, other] : by_name_) {
      if (other == path.text()) return true;
    }
    return false;
  }

 private:
  std::map<std::string, std::string> by_name_{};
};

void AddInvalidMount(const FieldRef& field, const char* detail, FieldErrors& errors) {
  errors.push_back(InvalidValue(field.path(), field.text(), detail));
}

/// Validates the path inside of the volume. kube-apiserver reports errors without the index of the
/// mount.
void ValidateSubPaths(const FieldRef& mount, const FieldRef& mounts, FieldErrors& errors) {
  const FieldRef sub_path = mount["subPath"];
  const FieldRef expression = mount["subPathExpr"];
  if (!IsUnset(sub_path)) ValidateDescendingPath(At(sub_path, mounts["subPath"].path()), errors);
  if (IsUnset(expression)) return;
  if (!IsUnset(sub_path))
    AddInvalidMount(expression, "subPathExpr and subPath are mutually exclusive", errors);
  ValidateDescendingPath(At(expression, mounts["subPathExpr"].path()), errors);
}

/// Validates how mounts propagate.
void ValidatePropagation(const FieldRef& propagation, const FieldRef& container,
                         FieldErrors& errors) {
  if (!propagation.exists()) return;
  ValidateEnum(propagation, {"Bidirectional", "HostToContainer", "None"}, errors);
  if (!propagation.is("Bidirectional") || container["securityContext"]["privileged"].is(true))
    return;
  errors.push_back(
      ForbiddenField(propagation.path(),
                     "Bidirectional mount propagation is available only to privileged containers"));
}

void ValidateRecursiveReadOnly(const FieldRef& mount, const FieldRef& mounts, FieldErrors& errors) {
  const FieldRef recursive = At(mount["recursiveReadOnly"], mounts["recursiveReadOnly"].path());
  if (!recursive.exists() || recursive.is("Disabled")) return;
  if (!recursive.is("Enabled") && !recursive.is("IfPossible")) {
    ValidateEnum(recursive, {"Disabled", "Enabled", "IfPossible"}, errors);
    return;
  }
  if (!mount["readOnly"].is(true)) {
    errors.push_back(
        ForbiddenField(recursive.path(), "may only be specified when readOnly is true"));
  }
  const FieldRef propagation = mount["mountPropagation"];
  if (propagation.exists() && !propagation.is("None")) {
    errors.push_back(ForbiddenField(
        recursive.path(), "may only be specified when mountPropagation is None or not specified"));
  }
}

void ValidateMountNameAndPath(const FieldRef& mount, const PodContext& context,
                              const MountedPaths& devices, std::set<std::string>& paths,
                              FieldErrors& errors) {
  const FieldRef name = mount["name"];
  const FieldRef path = mount["mountPath"];
  ValidateNotEmpty(name, errors);
  if (!context.volumes.contains(name.text())) errors.push_back(NotFound(name));
  ValidateNotEmpty(path, errors);
  if (!paths.insert(path.text()).second) AddInvalidMount(path, "must be unique", errors);
  if (devices.HasName(name))
    AddInvalidMount(name, "must not already exist in volumeDevices", errors);
  if (devices.HasPath(path))
    AddInvalidMount(path, "must not already exist as a path in volumeDevices", errors);
}

void ValidateMounts(const FieldRef& container, const PodContext& context, FieldErrors& errors) {
  const FieldRef mounts = container["volumeMounts"];
  const MountedPaths devices(container["volumeDevices"], "devicePath");
  std::set<std::string> paths;
  for (const FieldRef& mount : mounts.items()) {
    ValidateMountNameAndPath(mount, context, devices, paths, errors);
    ValidateSubPaths(mount, mounts, errors);
    ValidatePropagation(At(mount["mountPropagation"], mounts["mountPropagation"].path()), container,
                        errors);
    ValidateRecursiveReadOnly(mount, mounts, errors);
  }
}

/// Requires the name of a volume that can be a block device.
void ValidateDeviceVolume(const FieldRef& name, const PodContext& context, FieldErrors& errors) {
  const auto volume = context.volumes.find(name.text());
  if (volume == context.volumes.end()) {
    errors.push_back(NotFound(name));
  } else if (!volume->second["persistentVolumeClaim"].exists() &&
             !volume->second["ephemeral"].exists()) {
    AddInvalidMount(
        name,
        "can only use volume source type of PersistentVolumeClaim or Ephemeral for block "
        "mode",
        errors);
  }
}

/// Validates a device path, and adds it to `paths`.
void ValidateDevicePath(const FieldRef& path, std::set<std::string>& paths, FieldErrors& errors) {
  ValidateNotEmpty(path, errors);
  if (paths.contains(path.text())) AddInvalidMount(path, "must be unique", errors);
  FieldErrors backsteps;
  ValidateNoBacksteps(path, backsteps);
  if (backsteps.empty()) {
    paths.insert(path.text());
  } else {
    AddInvalidMount(path, "can not contain backsteps ('..')", errors);
  }
}

void ValidateDevices(const FieldRef& container, const PodContext& context, FieldErrors& errors) {
  const MountedPaths mounts(container["volumeMounts"], "mountPath");
  std::set<std::string> names;
  std::set<std::string> paths;
  for (const FieldRef& device : container["volumeDevices"].items()) {
    const FieldRef name = device["name"];
    const FieldRef path = device["devicePath"];
    ValidateNotEmpty(name, errors);
    if (names.contains(name.text())) AddInvalidMount(name, "must be unique", errors);
    ValidateDeviceVolume(name, context, errors);
    ValidateDevicePath(path, paths, errors);
    if (mounts.HasName(name))
      AddInvalidMount(name, "must not already exist in volumeMounts", errors);
    if (mounts.HasPath(path))
      AddInvalidMount(path, "must not already exist as a path in volumeMounts", errors);
    if (!IsUnset(name)) names.insert(name.text());
  }
}

}  // namespace

void ValidateContainerMounts(const FieldRef& container, const PodContext& context,
                             FieldErrors& errors) {
  ValidateMounts(container, context, errors);
  ValidateDevices(container, context, errors);
}

}  // namespace kopp::apiserver
