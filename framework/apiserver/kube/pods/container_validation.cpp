#include "pods/container_validation.hpp"

#include "fields/field_rules.hpp"
#include "pods/container_env_validation.hpp"
#include "pods/container_handler_validation.hpp"
#include "pods/container_mount_validation.hpp"
#include "pods/container_resources_validation.hpp"
#include "pods/pod_context.hpp"
#include "pods/pod_volume_validation.hpp"
#include "pods/security_context_validation.hpp"
#include "schema/accessors.hpp"
#include "schema/field_validation.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace kopp::apiserver {
namespace {

void ValidateContainerPorts(const FieldRef& ports, FieldErrors& errors) {
  std::set<std::string> names;
  for (const FieldRef& port : ports.items()) {
    const FieldRef name = port["name"];
    if (!name.text().empty() && ValidatePortName(name, errors)) ValidateUnique(name, names, errors);
    const FieldRef number = port["containerPort"];
    if (number.number() == 0) {
      errors.push_back(Required(number.path(), ""));
    } else {
      ValidatePort(number, errors);
    }
    if (port["hostPort"].number() != 0) ValidatePort(port["hostPort"], errors);
    ValidateEnum(port["protocol"], {"SCTP", "TCP", "UDP"}, errors);
  }
}

/// Requires that the ports of a container in the network of its node are those of the node. A Pod
/// template may omit them.
void ValidateHostNetworkPorts(const FieldRef& container, bool is_pod, FieldErrors& errors) {
  for (const FieldRef& port : container["ports"].items()) {
    const std::int64_t number = port["hostPort"].number();
    if (number == port["containerPort"].number() || (number == 0 && !is_pod)) continue;
    errors.push_back(InvalidValue(port["hostPort"].path(), number,
                                  "must match `containerPort` when `hostNetwork` is true"));
  }
}

/// Adds the node's ports of a container to `seen`. Requires that they are not in it yet. Reports
/// errors at `path`, the path of the container.
void ValidateHostPorts(const FieldRef& container, const std::string& path,
                       std::set<std::string>& seen, FieldErrors& errors) {
  for (const FieldRef& port : At(container, path)["ports"].items()) {
    const FieldRef number = port["hostPort"];
    if (number.number() == 0) continue;
    const std::string key = port["protocol"].text() + '/' + port["hostIP"].text() + '/' +
                            std::to_string(number.number());
    if (!seen.insert(key).second) errors.push_back(Duplicate(number.path(), key));
  }
}

/// Validates what containers, init containers and ephemeral containers have in common.
void ValidateContainer(const FieldRef& container, const PodContext& context, FieldErrors& errors) {
  const FieldRef name = container["name"];
  if (ValidateRequired(name, errors)) ValidateName(name, &ValidateDnsLabel, errors);
  ValidateNotEmpty(container["image"], errors);
  ValidateEnum(container["terminationMessagePolicy"], {"File", "FallbackToLogsOnError"}, errors);
  ValidateContainerPorts(container["ports"], errors);
  ValidateContainerEnv(container, errors);
  ValidateContainerMounts(container, context, errors);
  ValidateEnum(container["imagePullPolicy"], {"Always", "IfNotPresent", "Never"}, errors);
  ValidateContainerResources(container["resources"], context, errors);
  ValidateResizePolicies(container["resizePolicy"], context, errors);
  ValidateContainerSecurityContext(container["securityContext"], context.spec, errors);
}

/// Validates a container that runs as long as the Pod, and its name.
void ValidateMainContainer(const FieldRef& container, const PodContext& context,
                           std::set<std::string>& names, FieldErrors& errors) {
  ValidateContainer(container, context, errors);
  ValidateUnique(container["name"], names, errors);
  ValidateLifecycle(container["lifecycle"], context, errors);
  ValidateContainerProbes(container, context, errors);
  if (!container["restartPolicy"].exists()) return;
  errors.push_back(
      ForbiddenField(container["restartPolicy"].path(), "may not be set for non-init containers"));
}

/// Rejects the fields of a container that runs before the others.
void ForbidMainContainerFields(const FieldRef& container, FieldErrors& errors) {
  for (const char* field : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
    if (!container[field].exists()) continue;
    errors.push_back(
        ForbiddenField(container[field].path(),
                       "may not be set for init containers without restartPolicy=Always"));
  }
}

void ValidateInitContainer(const FieldRef& container, const PodContext& context,
                           std::set<std::string>& names, FieldErrors& errors) {
  const FieldRef policy = container["restartPolicy"];
  ValidateContainer(container, context, errors);
  const FieldRef name = container["name"];
  if (!IsUnset(name)) ValidateUnique(name, names, errors);
  // kube-apiserver reports these errors as if there was one init container.
  std::set<std::string> ports;
  ValidateHostPorts(container, context.spec["initContainers"].path() + "[0]", ports, errors);
  if (policy.is("Always")) {
    ValidateLifecycle(container["lifecycle"], context, errors);
    ValidateContainerProbes(container, context, errors);
  } else {
    ForbidMainContainerFields(container, errors);
  }
}

/// Rejects the fields that ephemeral containers do not have.
void ForbidEphemeralContainerFields(const FieldRef& container, FieldErrors& errors) {
  const auto forbid = [&](const FieldRef& field) {
    if (IsUnset(field)) return;
    errors.push_back(ForbiddenField(field.path(), "cannot be set for an Ephemeral Container"));
  };
  for (const char* field : {"ports", "resources", "resizePolicy", "livenessProbe", "readinessProbe",
                            "startupProbe", "lifecycle"}) {
    forbid(container[field]);
  }
  for (const FieldRef& mount : container["volumeMounts"].items()) {
    forbid(mount["subPath"]);
    forbid(mount["subPathExpr"]);
  }
}

/// Validates an ephemeral container. `targets` are the names of the other containers.
void ValidateEphemeralContainer(const FieldRef& container, const PodContext& context,
                                const std::set<std::string>& targets, std::set<std::string>& names,
                                FieldErrors& errors) {
  ValidateContainer(container, context, errors);
  ValidateImagePadding(container, errors);
  ValidateUnique(container["name"], names, errors);
  const FieldRef target = container["targetContainerName"];
  if (!IsUnset(target) && !targets.contains(target.text())) errors.push_back(NotFound(target));
  ForbidEphemeralContainerFields(container, errors);
}

void AddNames(const FieldRef& containers, std::set<std::string>& names) {
  for (const FieldRef& container : containers.items()) names.insert(container["name"].text());
}

using nlohmann::json;

constexpr const char* kEphemeral = "/spec/ephemeralContainers";

json WithEphemeralContainers(const json& live, const json& object) {
  json merged = live;
  const json& containers = ValueAt(object, kEphemeral);
  merged["spec"].erase("ephemeralContainers");
  if (!containers.empty()) merged["spec"]["ephemeralContainers"] = containers;
  return merged;
}

/// Allows a client to add ephemeral containers, but not to change or to remove them.
void ValidateEphemeralContainersUpdate(const json& before, const json& after, FieldErrors& errors) {
  PodContext context{.spec = FieldRef(after)["spec"], .is_pod = true};
  FieldErrors volume_errors;
  ValidatePodVolumes(context, volume_errors);
  ValidateEphemeralContainers(context, errors);
  const json& containers = ValueAt(after, kEphemeral);
  for (const json& old_container : ValueAt(before, kEphemeral)) {
    const std::string name = StringField(old_container, "name");
    const auto container =
        std::find_if(containers.begin(), containers.end(),
                     [&](const json& each) { return StringField(each, "name") == name; });
    const bool is_removed = container == containers.end();
    if (!is_removed && *container == old_container) continue;
    errors.push_back(ForbiddenField("spec.ephemeralContainers",
                                    "existing ephemeral containers \"" + name + "\" may not be " +
                                        (is_removed ? "removed\n" : "changed\n")));
  }
}

}  // namespace

void ValidateImagePadding(const FieldRef& container, FieldErrors& errors) {
  constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
  const std::string image = container["image"].text();
  if (image.empty() || (kWhiteSpace.find(image.front()) == std::string_view::npos &&
                        kWhiteSpace.find(image.back()) == std::string_view::npos)) {
    return;
  }
  errors.push_back(InvalidValue(container["image"].path(), image,
                                "must not have leading or trailing whitespace"));
}

void ValidateContainers(const PodContext& context, FieldErrors& errors) {
  const FieldRef containers = context.spec["containers"];
  ValidateNotEmpty(containers, errors);
  std::set<std::string> names;
  for (const FieldRef& container : containers.items())
    ValidateMainContainer(container, context, names, errors);
  std::set<std::string> ports;
  for (const FieldRef& container : containers.items())
    ValidateHostPorts(container, container.path(), ports, errors);
  for (const FieldRef& container : context.spec["initContainers"].items())
    ValidateInitContainer(container, context, names, errors);
}

void ValidateHostNetwork(const PodContext& context, FieldErrors& errors) {
  if (!context.spec["hostNetwork"].is(true)) return;
  for (const FieldRef& container : context.spec["containers"].items())
    ValidateHostNetworkPorts(container, context.is_pod, errors);
}

void ValidateEphemeralContainers(const PodContext& context, FieldErrors& errors) {
  std::set<std::string> targets;
  AddNames(context.spec["containers"], targets);
  AddNames(context.spec["initContainers"], targets);
  std::set<std::string> names = targets;
  for (const FieldRef& container : context.spec["ephemeralContainers"].items())
    ValidateEphemeralContainer(container, context, targets, names, errors);
}

void AddPodSubresourceStrategies(StrategiesByKind& strategies) {
  strategies["pods"].subresources["ephemeralcontainers"] = {
      .merge = &WithEphemeralContainers, .validate_update = &ValidateEphemeralContainersUpdate};
}

}  // namespace kopp::apiserver
