#include "pods/container_env_validation.hpp"

#include "fields/field_rules.hpp"
#include "schema/field_validation.hpp"
#include "schema/go_quoted.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <kopp/k8s/quantity.hpp>

namespace kopp::apiserver {
namespace {

constexpr const char* kTwoSources = "may not have more than one field specified at a time";

/// Validates the name of an environment variable, or its prefix. Reports errors at its field.
void ValidateVariableName(const FieldRef& name, FieldErrors& errors) {
  const std::string text = name.text();
  if (std::all_of(text.begin(), text.end(),
                  [](char c) { return c >= ' ' && c <= '~' && c != '='; }))
    return;
  errors.push_back(InvalidValue(name.path(), text,
                                "a valid environment variable name must consist only of "
                                "printable ASCII characters other than '='"));
}

/// Validates a reference to a key of a ConfigMap or Secret.
void ValidateKeyRef(const FieldRef& reference, FieldErrors& errors) {
  if (!reference.exists()) return;
  ValidateName(reference["name"], &ValidateDnsSubdomain, errors);
  if (ValidateRequired(reference["key"], errors))
    ValidateName(reference["key"], &ValidateConfigKey, errors);
}

/// Validates each source of the value of a variable.
void ValidateSources(const FieldRef& source, FieldErrors& errors) {
  if (source["fieldRef"].exists()) {
    ValidateObjectFieldRef(source["fieldRef"],
                           {"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
                            "spec.serviceAccountName", "status.hostIP", "status.hostIPs",
                            "status.podIP", "status.podIPs"},
                           errors);
  }
  if (source["resourceFieldRef"].exists())
    ValidateResourceFieldRef(source["resourceFieldRef"], /*needs_container=*/false, errors);
  ValidateKeyRef(source["configMapKeyRef"], errors);
  ValidateKeyRef(source["secretKeyRef"], errors);
}

/// Requires that the value of a variable has one source.
void ValidateVariableSource(const FieldRef& variable, FieldErrors& errors) {
  const FieldRef source = variable["valueFrom"];
  if (!source.exists()) return;
  ValidateSources(source, errors);
  const auto add_invalid = [&](const char* detail) {
    errors.push_back(InvalidValue(source.path(), "", detail));
  };
  if (source.size() == 0) {
    add_invalid(
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
        "`secretKeyRef`");
  } else if (!IsUnset(variable["value"])) {
    add_invalid("may not be specified when `value` is not empty");
  } else if (source.size() > 1) {
    add_invalid(kTwoSources);
  }
}

void ValidateVariables(const FieldRef& variables, FieldErrors& errors) {
  for (const FieldRef& variable : variables.items()) {
    if (ValidateRequired(variable["name"], errors)) ValidateVariableName(variable["name"], errors);
    ValidateVariableSource(variable, errors);
  }
}

void ValidateEnvFrom(const FieldRef& sources, FieldErrors& errors) {
  for (const FieldRef& source : sources.items()) {
    ValidateVariableName(source["prefix"], errors);
    int count = 0;
    for (const char* kind : {"configMapRef", "secretRef"}) {
      const FieldRef reference = source[kind];
      if (!reference.exists()) continue;
      ++count;
      if (ValidateRequired(reference["name"], errors))
        ValidateName(reference["name"], &ValidateDnsSubdomain, errors);
    }
    // kube-apiserver reports both errors at the list.
    if (count == 0) {
      errors.push_back(
          InvalidValue(sources.path(), "", "must specify one of: `configMapRef` or `secretRef`"));
    } else if (count > 1) {
      errors.push_back(InvalidValue(sources.path(), "", kTwoSources));
    }
  }
}

/// Splits the path of an element, such as "metadata.labels['a']", into the path of the map and the
/// key. Returns false if it has another form.
bool SplitSubscript(const std::string& path, std::string& map, std::string& key) {
  const std::size_t start = path.find("['");
  if (!path.ends_with("']") || start == 0 || start == std::string::npos ||
      start + 4 > path.size()) {
    return false;
  }
  map = path.substr(0, start);
  key = path.substr(start + 2, path.size() - start - 4);
  return true;
}

/// Validates the key of a label or annotation, which kube-apiserver reports at the reference.
void ValidateSubscript(const FieldRef& reference, const std::string& map, std::string key,
                       FieldErrors& errors) {
  const std::string path = reference["fieldPath"].text();
  if (map != "metadata.labels" && map != "metadata.annotations") {
    errors.push_back(InvalidValue(
        reference["fieldPath"].path(), path,
        "error converting fieldPath: field label does not support subscript: " + path));
    return;
  }
  if (map == "metadata.annotations") {
    std::transform(key.begin(), key.end(), key.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  ValidateQualifiedField(key, reference.path(), errors);
}

/// Returns why kube-apiserver cannot convert a fieldPath without a subscript, or "" if it can.
std::string ConversionError(const std::string& version, const std::string& path) {
  static const std::set<std::string> labels = {
      "metadata.annotations", "metadata.labels",    "metadata.name",
      "metadata.namespace",   "metadata.uid",       "spec.host",
      "spec.nodeName",        "spec.restartPolicy", "spec.serviceAccountName",
      "spec.schedulerName",   "status.phase",       "status.hostIP",
      "status.hostIPs",       "status.podIP",       "status.podIPs"};
  if (version != "v1") return "unsupported pod version: " + version;
  return labels.contains(path) ? "" : "field label not supported: " + path;
}

/// Returns the units in which the value of a limit or request can be expressed, and the name of the
/// resource in error messages.
std::pair<std::vector<std::string>, std::string> DivisorsOf(const std::string& resource) {
  static const std::vector<std::string> sizes = {"1",   "1k",  "1M",  "1G",  "1T",  "1P", "1E",
                                                 "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};
  const std::string name = resource.substr(resource.find('.') + 1);
  if (name == "cpu") return {{"1m", "1"}, "cpu"};
  if (name == "memory") return {sizes, "memory"};
  if (name == "ephemeral-storage") return {sizes, "local ephemeral storage"};
  if (name.starts_with("hugepages-")) return {sizes, "hugepages"};
  return {};
}

bool IsResourceField(const std::string& resource) {
  return resource.starts_with("limits.") || resource.starts_with("requests.");
}

void ValidateDivisor(const FieldRef& reference, FieldErrors& errors) {
  const std::string resource = reference["resource"].text();
  const std::string divisor = reference["divisor"].text();
  if (divisor.empty() || k8s::Quantity(divisor).IsZero() || !IsResourceField(resource)) return;
  const auto [units, name] = DivisorsOf(resource);
  const std::string canonical = k8s::Quantity(divisor).ToString();
  if (units.empty() || std::find(units.begin(), units.end(), canonical) != units.end()) return;
  std::string list;
  for (const std::string& unit : units) {
    list += (list.empty() ? "" : units.size() == 2 ? " and " : ", ") + unit;
  }
  errors.push_back(InvalidValue(
      reference["divisor"].path(), resource,
      "only divisor's values " + list + " are supported with the " + name + " resource"));
}

}  // namespace

void ValidateContainerEnv(const FieldRef& container, FieldErrors& errors) {
  ValidateVariables(container["env"], errors);
  ValidateEnvFrom(container["envFrom"], errors);
}

void ValidateObjectFieldRef(const FieldRef& reference, const std::vector<std::string>& supported,
                            FieldErrors& errors) {
  const FieldRef field = reference["fieldPath"];
  if (!ValidateRequired(reference["apiVersion"], errors) || !ValidateRequired(field, errors))
    return;
  const std::string version = reference["apiVersion"].text();
  std::string map;
  std::string key;
  if (version == "v1" && SplitSubscript(field.text(), map, key)) {
    ValidateSubscript(reference, map, key, errors);
    return;
  }
  if (const std::string detail = ConversionError(version, field.text()); !detail.empty()) {
    errors.push_back(
        InvalidValue(field.path(), field.text(), "error converting fieldPath: " + detail));
    return;
  }
  const std::string path = field.is("spec.host") ? "spec.nodeName" : field.text();
  if (std::find(supported.begin(), supported.end(), path) == supported.end())
    errors.push_back(NotSupportedFormatted(field.path(), GoQuoted(path), supported));
}

void ValidateResourceFieldRef(const FieldRef& reference, bool needs_container,
                              FieldErrors& errors) {
  const FieldRef resource = reference["resource"];
  const std::string name = resource.text();
  if (needs_container && IsUnset(reference["containerName"])) {
    errors.push_back(Required(reference["containerName"].path(), ""));
  } else if (ValidateRequired(resource, errors) &&
             !(IsResourceField(name) && !DivisorsOf(name).first.empty())) {
    errors.push_back(
        NotSupportedFormatted(resource.path(), GoQuoted(name),
                              {"limits.cpu", "limits.ephemeral-storage", "limits.memory",
                               "requests.cpu", "requests.ephemeral-storage", "requests.memory"}));
  }
  ValidateDivisor(reference, errors);
}

}  // namespace kopp::apiserver
