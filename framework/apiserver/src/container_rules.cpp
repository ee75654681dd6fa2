#include "checks.hpp"
#include "quantity.hpp"
#include "rules_by_kind.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace kopp::apiserver {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

/// Of a port: a short name with a letter in it.
bool CheckPortName(const Part& name, Causes& causes) {
  const std::string text = name.text();
  const std::size_t before = causes.size();
  const auto wrong = [&](const char* why) {
    causes.push_back(InvalidValue(name.path(), text, why));
  };
  if (text.size() > 15) wrong("must be no more than 15 characters");
  if (!std::all_of(text.begin(), text.end(),
                   [](char c) { return IsLower(c) || IsDigit(c) || c == '-'; })) {
    wrong("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (std::none_of(text.begin(), text.end(), IsLower)) {
    wrong("must contain at least one letter (a-z)");
  }
  if (text.find("--") != std::string::npos) wrong("must not contain consecutive hyphens");
  if (text.starts_with('-') || text.ends_with('-')) {
    wrong("must not begin or end with a hyphen");
  }
  return causes.size() == before;
}

/// A number, or the name of one.
void CheckPortNumberOrName(const Part& port, Causes& causes) {
  if (port.value().is_string()) {
    CheckPortName(port, causes);
  } else {
    CheckPort(port, causes);
  }
}

void CheckPorts(const Part& ports, Causes& causes) {
  std::set<std::string> names;
  for (const Part& port : ports.items()) {
    const Part name = port["name"];
    if (!name.text().empty() && CheckPortName(name, causes)) CheckNew(name, names, causes);
    const Part number = port["containerPort"];
    if (number.number() == 0) {
      causes.push_back(Required(number.path(), ""));
    } else {
      CheckPort(number, causes);
    }
    if (port["hostPort"].exists()) CheckPort(port["hostPort"], causes);
    CheckOneOf(port["protocol"], {"SCTP", "TCP", "UDP"}, causes);
  }
}

/// Of a Pod, that its containers may learn.
void CheckFieldPath(const Part& path, Causes& causes) {
  static const std::set<std::string, std::less<>> known = {
      "metadata.name", "metadata.namespace",      "metadata.uid",
      "spec.nodeName", "spec.serviceAccountName", "status.hostIP",
      "status.podIP",  "status.hostIPs",          "status.podIPs"};
  const std::string text = path.text();
  if (!CheckGiven(path, causes)) return;
  const bool subscripted =
      text.starts_with("metadata.labels['") || text.starts_with("metadata.annotations['");
  if (known.contains(text) || (subscripted && text.ends_with("']"))) return;
  causes.push_back(InvalidValue(path.path(), text,
                                "error converting fieldPath: field label not supported: " + text));
}

void CheckValueSource(const Part& variable, Causes& causes) {
  const Part source = variable["valueFrom"];
  if (!source.exists()) return;
  const auto wrong = [&](const char* why) {
    causes.push_back(InvalidValue(source.path(), "", why));
  };
  if (source["fieldRef"].exists()) CheckFieldPath(source["fieldRef"]["fieldPath"], causes);
  for (const char* kind : {"configMapKeyRef", "secretKeyRef"}) {
    if (source[kind].exists()) CheckGiven(source[kind]["key"], causes);
  }
  if (source.size() == 0) {
    wrong(
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
        "`secretKeyRef`");
  } else if (!variable["value"].text().empty()) {
    wrong("may not be specified when `value` is not empty");
  } else if (source.size() > 1) {
    wrong("may not have more than one field specified at a time");
  }
}

void CheckEnvironment(const Part& variables, Causes& causes) {
  for (const Part& variable : variables.items()) {
    const Part name = variable["name"];
    const std::string text = name.text();
    if (CheckGiven(name, causes) && !std::all_of(text.begin(), text.end(), [](char c) {
          return c >= ' ' && c <= '~' && c != '=';
        })) {
      causes.push_back(InvalidValue(name.path(), text,
                                    "a valid environment variable name must consist only of "
                                    "printable ASCII characters other than '='"));
    }
    CheckValueSource(variable, causes);
  }
}

void CheckMounts(const Part& mounts, const std::set<std::string>& volumes, Causes& causes) {
  std::set<std::string> paths;
  for (const Part& mount : mounts.items()) {
    const Part name = mount["name"];
    CheckGiven(name, causes);
    if (!volumes.contains(name.text())) {
      causes.push_back({"FieldValueNotFound", "Not found: " + name.value().dump(), name.path()});
    }
    const Part path = mount["mountPath"];
    CheckGiven(path, causes);
    if (!paths.insert(path.text()).second) {
      causes.push_back(InvalidValue(path.path(), path.value(), "must be unique"));
    }
  }
}

void CheckResources(const Part& resources, Causes& causes) {
  for (const char* list : {"limits", "requests"}) {
    for (const std::string& name : resources[list].keys()) {
      const Part amount = resources[list].Key(name);
      const Quantity quantity(amount.text());
      if (quantity.IsNegative()) {
        causes.push_back(
            InvalidValue(amount.path(), amount.value(), "must be greater than or equal to 0"));
      }
      const Part limit = resources["limits"][name];
      if (list == std::string("requests") && limit.exists() && quantity > Quantity(limit.text())) {
        causes.push_back(
            InvalidValue(resources["requests"].path(), amount.value(),
                         "must be less than or equal to " + name + " limit of " + limit.text()));
      }
    }
  }
}

void CheckProbe(const Part& probe, Causes& causes) {
  if (!probe.exists()) return;
  bool handled = false;
  for (const char* kind : {"exec", "httpGet", "tcpSocket", "grpc"}) {
    const Part handler = probe[kind];
    if (!handler.exists()) continue;
    if (handled) {
      causes.push_back(ForbiddenField(handler.path(), "may not specify more than 1 handler type"));
      continue;
    }
    handled = true;
    if (kind == std::string("exec")) {
      if (handler["command"].size() == 0) CheckGiven(handler["command"], causes);
    } else {
      CheckPortNumberOrName(handler["port"], causes);
    }
    if (kind == std::string("httpGet")) CheckOneOf(handler["scheme"], {"HTTP", "HTTPS"}, causes);
  }
  if (!handled) causes.push_back(Required(probe.path(), "must specify a handler type"));
  for (const char* number : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                             "successThreshold", "failureThreshold"}) {
    CheckNotNegative(probe[number], causes);
  }
}

/// What is asked of all kinds of containers.
void CheckContainer(const Part& container, const std::set<std::string>& volumes, Causes& causes) {
  const Part name = container["name"];
  if (CheckGiven(name, causes)) CheckName(name, &NotADnsLabel, causes);
  CheckGiven(container["image"], causes);
  CheckOneOf(container["terminationMessagePolicy"], {"FallbackToLogsOnError", "File"}, causes);
  CheckPorts(container["ports"], causes);
  CheckEnvironment(container["env"], causes);
  CheckMounts(container["volumeMounts"], volumes, causes);
  CheckOneOf(container["imagePullPolicy"], {"Always", "IfNotPresent", "Never"}, causes);
  CheckResources(container["resources"], causes);
  for (const char* id : {"runAsUser", "runAsGroup"}) {
    CheckId(container["securityContext"][id], causes);
  }
}

void CheckProbes(const Part& container, Causes& causes) {
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    CheckProbe(container[probe], causes);
  }
}

}  // namespace

void CheckContainers(const Part& pod_spec, Causes& causes) {
  std::set<std::string> volumes;
  for (const Part& volume : pod_spec["volumes"].items()) volumes.insert(volume["name"].text());
  const Part containers = pod_spec["containers"];
  if (containers.size() == 0) causes.push_back(Required(containers.path(), ""));
  std::set<std::string> names;
  for (const Part& container : containers.items()) {
    CheckContainer(container, volumes, causes);
    CheckNew(container["name"], names, causes);
    CheckProbes(container, causes);
  }
  for (const Part& container : pod_spec["initContainers"].items()) {
    CheckContainer(container, volumes, causes);
    CheckNew(container["name"], names, causes);
    if (container["restartPolicy"].is("Always")) CheckProbes(container, causes);
  }
}

}  // namespace kopp::apiserver
