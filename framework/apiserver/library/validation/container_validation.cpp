#include "base/ascii.hpp"
#include "schema/accessors.hpp"
#include "schema/field_validation.hpp"
#include "validation/kind_strategy.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <kopp/k8s/quantity.hpp>

namespace kopp::apiserver {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

/// Validates the name of a port (IANA service name). Returns whether it is valid.
bool ValidatePortName(const FieldRef& name, FieldErrors& errors) {
  const std::string text = name.text();
  const std::size_t error_count = errors.size();
  const auto add_invalid = [&](const char* detail) {
    errors.push_back(InvalidValue(name.path(), text, detail));
  };
  if (text.size() > 15) add_invalid("must be no more than 15 characters");
  if (!std::all_of(text.begin(), text.end(),
                   [](char c) { return IsLower(c) || detail::IsDigit(c) || c == '-'; })) {
    add_invalid("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (std::none_of(text.begin(), text.end(), IsLower)) {
    add_invalid("must contain at least one letter (a-z)");
  }
  if (text.find("--") != std::string::npos) add_invalid("must not contain consecutive hyphens");
  if (text.starts_with('-') || text.ends_with('-')) {
    add_invalid("must not begin or end with a hyphen");
  }
  return errors.size() == error_count;
}

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
    if (port["hostPort"].exists()) ValidatePort(port["hostPort"], errors);
    ValidateEnum(port["protocol"], {"SCTP", "TCP", "UDP"}, errors);
  }
}

/// Validates the fieldPath of a downward API reference: a field of the Pod.
void ValidateFieldPath(const FieldRef& path, FieldErrors& errors) {
  static const std::set<std::string, std::less<>> supported = {
      "metadata.name", "metadata.namespace",      "metadata.uid",
      "spec.nodeName", "spec.serviceAccountName", "status.hostIP",
      "status.podIP",  "status.hostIPs",          "status.podIPs"};
  const std::string text = path.text();
  if (!ValidateRequired(path, errors)) return;
  const bool subscripted =
      text.starts_with("metadata.labels['") || text.starts_with("metadata.annotations['");
  if (supported.contains(text) || (subscripted && text.ends_with("']"))) return;
  errors.push_back(InvalidValue(path.path(), text,
                                "error converting fieldPath: field label not supported: " + text));
}

void ValidateEnvVarSource(const FieldRef& variable, FieldErrors& errors) {
  const FieldRef source = variable["valueFrom"];
  if (!source.exists()) return;
  const auto add_invalid = [&](const char* detail) {
    errors.push_back(InvalidValue(source.path(), "", detail));
  };
  if (source["fieldRef"].exists()) ValidateFieldPath(source["fieldRef"]["fieldPath"], errors);
  for (const char* kind : {"configMapKeyRef", "secretKeyRef"}) {
    if (source[kind].exists()) ValidateRequired(source[kind]["key"], errors);
  }
  if (source.size() == 0) {
    add_invalid(
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
        "`secretKeyRef`");
  } else if (!variable["value"].text().empty()) {
    add_invalid("may not be specified when `value` is not empty");
  } else if (source.size() > 1) {
    add_invalid("may not have more than one field specified at a time");
  }
}

void ValidateEnv(const FieldRef& variables, FieldErrors& errors) {
  for (const FieldRef& variable : variables.items()) {
    const FieldRef name = variable["name"];
    const std::string text = name.text();
    if (ValidateRequired(name, errors) && !std::all_of(text.begin(), text.end(), [](char c) {
          return c >= ' ' && c <= '~' && c != '=';
        })) {
      errors.push_back(InvalidValue(name.path(), text,
                                    "a valid environment variable name must consist only of "
                                    "printable ASCII characters other than '='"));
    }
    ValidateEnvVarSource(variable, errors);
  }
}

/// Validates how mounts propagate. kube-apiserver reports the errors without the index of the
/// mount.
void ValidateMountPropagation(const FieldRef& container, FieldErrors& errors) {
  const FieldRef mounts = container["volumeMounts"];
  for (const FieldRef& mount : mounts.items()) {
    const FieldRef propagation(mount["mountPropagation"].value(),
                               mounts["mountPropagation"].path());
    if (!propagation.exists()) continue;
    ValidateEnum(propagation, {"Bidirectional", "HostToContainer", "None"}, errors);
    if (propagation.is("Bidirectional") && !container["securityContext"]["privileged"].is(true)) {
      errors.push_back(ForbiddenField(
          propagation.path(),
          "Bidirectional mount propagation is available only to privileged containers"));
    }
  }
}

/// Requires the name of one of `volumes`.
void ValidateVolumeName(const FieldRef& name, const std::set<std::string>& volumes,
                        FieldErrors& errors) {
  ValidateRequired(name, errors);
  if (volumes.contains(name.text())) return;
  errors.push_back({"FieldValueNotFound", "Not found: " + name.value().dump(), name.path()});
}

void ValidateVolumeDevices(const FieldRef& devices, const std::set<std::string>& volumes,
                           FieldErrors& errors) {
  for (const FieldRef& device : devices.items()) {
    ValidateVolumeName(device["name"], volumes, errors);
    ValidateRequired(device["devicePath"], errors);
  }
}

/// Requires that the ports of a container in the network of its node are those of the node.
void ValidateHostNetworkPorts(const FieldRef& ports, FieldErrors& errors) {
  for (const FieldRef& port : ports.items()) {
    if (port["hostPort"].number() == port["containerPort"].number()) continue;
    errors.push_back(InvalidValue(port["hostPort"].path(), port["hostPort"].number(),
                                  "must match `containerPort` when `hostNetwork` is true"));
  }
}

/// Requires that no two containers use the same port of the node.
void ValidateHostPortsAreUnique(const FieldRef& containers, FieldErrors& errors) {
  std::set<std::string> seen;
  for (const FieldRef& container : containers.items()) {
    for (const FieldRef& port : container["ports"].items()) {
      const FieldRef number = port["hostPort"];
      if (number.number() == 0) continue;
      const std::string key = port["protocol"].text() + '/' + port["hostIP"].text() + '/' +
                              std::to_string(number.number());
      if (seen.insert(key).second) continue;
      errors.push_back({"FieldValueDuplicate", "Duplicate value: \"" + key + '"', number.path()});
    }
  }
}

void ValidateVolumeMounts(const FieldRef& mounts, const std::set<std::string>& volumes,
                          FieldErrors& errors) {
  std::set<std::string> paths;
  for (const FieldRef& mount : mounts.items()) {
    ValidateVolumeName(mount["name"], volumes, errors);
    const FieldRef path = mount["mountPath"];
    ValidateRequired(path, errors);
    if (!paths.insert(path.text()).second) {
      errors.push_back(InvalidValue(path.path(), path.value(), "must be unique"));
    }
  }
}

void ValidateResourceRequirements(const FieldRef& resources, FieldErrors& errors) {
  for (const char* list : {"limits", "requests"}) {
    for (const std::string& name : resources[list].keys()) {
      const FieldRef amount = resources[list].Key(name);
      const k8s::Quantity quantity(amount.text());
      if (quantity.IsNegative()) {
        errors.push_back(
            InvalidValue(amount.path(), amount.value(), "must be greater than or equal to 0"));
      }
      const FieldRef limit = resources["limits"][name];
      if (list == std::string("requests") && limit.exists() &&
          quantity > k8s::Quantity(limit.text())) {
        errors.push_back(
            InvalidValue(resources["requests"].path(), amount.value(),
                         "must be less than or equal to " + name + " limit of " + limit.text()));
      }
    }
  }
}

void ValidateProbe(const FieldRef& probe, FieldErrors& errors) {
  if (!probe.exists()) return;
  bool has_handler = false;
  for (const char* kind : {"exec", "httpGet", "tcpSocket", "grpc"}) {
    const FieldRef handler = probe[kind];
    if (!handler.exists()) continue;
    if (has_handler) {
      errors.push_back(ForbiddenField(handler.path(), "may not specify more than 1 handler type"));
      continue;
    }
    has_handler = true;
    if (kind == std::string("exec")) {
      if (handler["command"].size() == 0) ValidateRequired(handler["command"], errors);
    } else {
      ValidatePortNumberOrName(handler["port"], errors);
    }
    if (kind == std::string("httpGet")) ValidateEnum(handler["scheme"], {"HTTP", "HTTPS"}, errors);
  }
  if (!has_handler) errors.push_back(Required(probe.path(), "must specify a handler type"));
  for (const char* number : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                             "successThreshold", "failureThreshold"}) {
    ValidateNonNegative(probe[number], errors);
  }
}

/// Validates what containers and init containers have in common.
void ValidateContainer(const FieldRef& container, const std::set<std::string>& volumes,
                       FieldErrors& errors) {
  const FieldRef name = container["name"];
  if (ValidateRequired(name, errors)) ValidateName(name, &ValidateDnsLabel, errors);
  ValidateRequired(container["image"], errors);
  ValidateEnum(container["terminationMessagePolicy"], {"FallbackToLogsOnError", "File"}, errors);
  ValidateContainerPorts(container["ports"], errors);
  ValidateEnv(container["env"], errors);
  ValidateVolumeMounts(container["volumeMounts"], volumes, errors);
  ValidateMountPropagation(container, errors);
  ValidateVolumeDevices(container["volumeDevices"], volumes, errors);
  ValidateEnum(container["imagePullPolicy"], {"Always", "IfNotPresent", "Never"}, errors);
  ValidateResourceRequirements(container["resources"], errors);
  for (const char* id : {"runAsUser", "runAsGroup"}) {
    ValidateId(container["securityContext"][id], errors);
  }
}

void ValidateProbes(const FieldRef& container, FieldErrors& errors) {
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    ValidateProbe(container[probe], errors);
  }
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
  ValidateEphemeralContainers(FieldRef(after)["spec"], errors);
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

/// Warns about environment variables that an earlier one with the same name defines, unless they
/// refer to it: "$(NAME)".
void WarnAboutHiddenVariables(const FieldRef& variables, Warnings& warnings) {
  std::set<std::string> names;
  for (const FieldRef& variable : variables.items()) {
    const std::string name = variable["name"].text();
    const bool is_new = names.insert(name).second;
    if (is_new || variable["value"].text().find("$(" + name + ')') != std::string::npos) continue;
    warnings.push_back(variable.path() + ": hides previous definition of " +
                       variable["name"].value().dump() + ", which may be dropped when using apply");
  }
}

}  // namespace

void ValidatePortNumberOrName(const FieldRef& port, FieldErrors& errors) {
  if (port.value().is_string()) {
    ValidatePortName(port, errors);
  } else {
    ValidatePort(port, errors);
  }
}

void ValidateContainers(const FieldRef& pod_spec, FieldErrors& errors) {
  std::set<std::string> volumes;
  for (const FieldRef& volume : pod_spec["volumes"].items()) volumes.insert(volume["name"].text());
  const FieldRef containers = pod_spec["containers"];
  if (containers.size() == 0) errors.push_back(Required(containers.path(), ""));
  std::set<std::string> names;
  for (const FieldRef& container : containers.items()) {
    ValidateContainer(container, volumes, errors);
    ValidateUnique(container["name"], names, errors);
    ValidateProbes(container, errors);
  }
  ValidateHostPortsAreUnique(containers, errors);
  for (const FieldRef& container : pod_spec["initContainers"].items()) {
    ValidateContainer(container, volumes, errors);
    ValidateUnique(container["name"], names, errors);
    if (container["restartPolicy"].is("Always")) ValidateProbes(container, errors);
  }
  if (!pod_spec["hostNetwork"].is(true)) return;
  for (const char* list : {"containers", "initContainers"}) {
    for (const FieldRef& container : pod_spec[list].items())
      ValidateHostNetworkPorts(container["ports"], errors);
  }
}

void ValidateEphemeralContainers(const FieldRef& pod_spec, FieldErrors& errors) {
  std::set<std::string> volumes;
  for (const FieldRef& volume : pod_spec["volumes"].items()) volumes.insert(volume["name"].text());
  std::set<std::string> targets;
  for (const char* list : {"initContainers", "containers"}) {
    for (const FieldRef& container : pod_spec[list].items())
      targets.insert(container["name"].text());
  }
  std::set<std::string> names = targets;
  for (const FieldRef& container : pod_spec["ephemeralContainers"].items()) {
    for (const char* field :
         {"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules",
          "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}) {
      if (!container[field].exists() || container[field].value().empty()) continue;
      errors.push_back(
          ForbiddenField(container[field].path(), "cannot be set for an Ephemeral Container"));
    }
    ValidateContainer(container, volumes, errors);
    ValidateUnique(container["name"], names, errors);
    const FieldRef target = container["targetContainerName"];
    if (!target.text().empty() && !targets.contains(target.text())) {
      errors.push_back(
          {"FieldValueNotFound", "Not found: " + target.value().dump(), target.path()});
    }
  }
}

void AddPodSubresourceStrategies(StrategiesByKind& strategies) {
  strategies["pods"].subresources["ephemeralcontainers"] = {
      .merge = &WithEphemeralContainers, .validate_update = &ValidateEphemeralContainersUpdate};
}

void WarnAboutFractionalBytes(const FieldRef& amount, Warnings& warnings) {
  if (!amount.exists()) return;
  const k8s::Quantity quantity(amount.text());
  if (quantity == k8s::Quantity(quantity.Value())) return;  // Value rounds up
  warnings.push_back(amount.path() + ": fractional byte value " + amount.value().dump() +
                     " is invalid, must be an integer");
}

void WarnAboutPodSpec(const FieldRef& spec, Warnings& warnings) {
  for (const char* list : {"initContainers", "containers"}) {
    for (const FieldRef& container : spec[list].items()) {
      for (const char* bytes : {"memory", "ephemeral-storage"}) {
        for (const char* kind : {"limits", "requests"})
          WarnAboutFractionalBytes(container["resources"][kind].Key(bytes), warnings);
      }
      WarnAboutHiddenVariables(container["env"], warnings);
    }
  }
}

}  // namespace kopp::apiserver
