#include "pods/pod_spec_validation.hpp"

#include "base/ascii.hpp"
#include "fields/address_validation.hpp"
#include "fields/field_rules.hpp"
#include "pods/container_resources_validation.hpp"
#include "pods/container_validation.hpp"
#include "pods/operating_system_validation.hpp"
#include "pods/pod_annotation_validation.hpp"
#include "pods/pod_context.hpp"
#include "pods/pod_scheduling_validation.hpp"
#include "pods/pod_volume_validation.hpp"
#include "pods/security_context_validation.hpp"
#include "schema/field_validation.hpp"
#include "schema/pattern.hpp"

#include <limits>
#include <set>
#include <string>

namespace kopp::apiserver {
namespace {

constexpr std::size_t kMaxNameservers = 3;
constexpr std::size_t kMaxSearchPaths = 32;
constexpr std::size_t kMaxSearchListLength = 2048;

/// Requires the name of either a ResourceClaim or a ResourceClaimTemplate.
void ValidateClaimSource(const FieldRef& claim, FieldErrors& errors) {
  const FieldRef name = claim["resourceClaimName"];
  const FieldRef template_name = claim["resourceClaimTemplateName"];
  if (name.exists() && template_name.exists()) {
    errors.push_back(InvalidValue(
        claim.path(), claim.value(),
        "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"));
  }
  if (!name.exists() && !template_name.exists()) {
    errors.push_back(
        InvalidValue(claim.path(), claim.value(),
                     "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"));
  }
  for (const FieldRef& source : {name, template_name}) {
    if (source.exists()) ValidateName(source, &ValidateDnsSubdomain, errors);
  }
}

/// Validates the claims for devices of a Pod.
void ValidateClaimsOfPod(const FieldRef& claims, FieldErrors& errors) {
  std::set<std::string> names;
  for (const FieldRef& claim : claims.items()) {
    const FieldRef name = claim["name"];
    if (ValidateRequired(name, errors)) {
      const bool is_new = names.insert(name.text()).second;
      if (is_new) ValidateName(name, &ValidateDnsLabel, errors);
      if (!is_new) errors.push_back(Duplicate(name.path(), name.text()));
    }
    ValidateClaimSource(claim, errors);
  }
}

/// Validates a domain in which names are looked up. Its labels may start with an underscore.
void ValidateSearchPath(const FieldRef& search, FieldErrors& errors) {
  static const Pattern pattern(
      "^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$");
  std::string domain = search.text();
  if (domain == ".") return;
  if (domain.ends_with('.')) domain.pop_back();
  if (domain.size() > 253)
    errors.push_back(InvalidValue(search.path(), domain, "must be no more than 253 characters"));
  if (pattern.FullMatch(domain)) return;
  errors.push_back(InvalidValue(
      search.path(), domain,
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' "
      "or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
      "used for validation is "
      "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')"));
}

void ValidateSearches(const FieldRef& searches, FieldErrors& errors) {
  std::size_t length = 0;
  for (const FieldRef& search : searches.items()) length += search.text().size() + 1;
  if (searches.size() > kMaxSearchPaths) {
    errors.push_back(
        InvalidValue(searches.path(), searches.value(), "must not have more than 32 search paths"));
  }
  if (length > kMaxSearchListLength + 1) {
    errors.push_back(InvalidValue(
        searches.path(), searches.value(),
        "must not have more than 2048 characters (including spaces) in the search list"));
  }
  for (const FieldRef& search : searches.items()) ValidateSearchPath(search, errors);
}

/// Requires a nameserver if Kubernetes does not choose one. Returns whether there is one.
bool ValidateRequiredNameserver(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef config = spec["dnsConfig"];
  if (!spec["dnsPolicy"].is("None")) return true;
  if (!config.exists()) {
    errors.push_back(Required(config.path(), "must provide `dnsConfig` when `dnsPolicy` is None"));
    return false;
  }
  if (config["nameservers"].size() > 0) return true;
  errors.push_back(Required(config["nameservers"].path(),
                            "must provide at least one DNS nameserver when `dnsPolicy` is None"));
  return false;
}

void ValidateDnsConfig(const FieldRef& spec, FieldErrors& errors) {
  if (!ValidateRequiredNameserver(spec, errors)) return;
  const FieldRef config = spec["dnsConfig"];
  const FieldRef servers = config["nameservers"];
  if (servers.size() > kMaxNameservers) {
    errors.push_back(
        InvalidValue(servers.path(), servers.value(), "must not have more than 3 nameservers"));
  }
  for (const FieldRef& server : servers.items()) ValidateIpAddress(server, errors);
  ValidateSearches(config["searches"], errors);
  for (const FieldRef& option : config["options"].items()) {
    if (IsUnset(option["name"])) errors.push_back(Required(option.path(), "must not be empty"));
  }
}

void ValidateGates(const FieldRef& spec, FieldErrors& errors) {
  for (const FieldRef& gate : spec["readinessGates"].items()) {
    const FieldRef type = gate["conditionType"];
    ValidateQualifiedField(type.text(), type.path(), errors);
  }
  std::set<std::string> names;
  for (const FieldRef& gate : spec["schedulingGates"].items()) {
    const std::string name = gate["name"].text();
    ValidateQualifiedField(name, gate.path(), errors);
    if (!names.insert(name).second) errors.push_back(Duplicate(gate.path(), name));
  }
}

/// Rejects namespaces of the node for a Pod with its own user namespace.
void ValidateHostUsers(const FieldRef& spec, FieldErrors& errors) {
  constexpr const char* kDetail = "when `hostUsers` is false";
  if (!spec["hostUsers"].is(false)) return;
  for (const auto& [field, reported] :
       {std::pair("hostNetwork", "hostNetwork"), {"hostPID", "HostPID"}, {"hostIPC", "HostIPC"}}) {
    if (spec[field].is(true)) errors.push_back(ForbiddenField(spec[reported].path(), kDetail));
  }
  ForEachContainer(spec, [&](const FieldRef& container) {
    const FieldRef devices = container["volumeDevices"];
    if (devices.size() > 0) errors.push_back(ForbiddenField(devices.path(), kDetail));
  });
}

void ValidateHostAliases(const FieldRef& aliases, FieldErrors& errors) {
  for (const FieldRef& alias : aliases.items()) {
    ValidateIpAddress(alias["ip"], errors);
    for (const FieldRef& name : alias["hostnames"].items())
      ValidateName(name, &ValidateDnsSubdomain, errors);
  }
}

void ValidateOptionalName(const FieldRef& name, NameError (*validate)(std::string_view),
                          FieldErrors& errors) {
  if (!IsUnset(name)) ValidateName(name, validate, errors);
}

void ValidatePodNames(const FieldRef& spec, FieldErrors& errors) {
  ValidateOptionalName(spec["serviceAccountName"], &ValidateDnsSubdomain, errors);
  ValidateOptionalName(spec["nodeName"], &ValidateDnsSubdomain, errors);
  if (spec["activeDeadlineSeconds"].exists()) {
    ValidateRange(spec["activeDeadlineSeconds"], 1, std::numeric_limits<std::int32_t>::max(),
                  errors);
  }
  ValidateOptionalName(spec["hostname"], &ValidateDnsLabel, errors);
  ValidateOptionalName(spec["subdomain"], &ValidateDnsLabel, errors);
  ValidateTolerations(spec["tolerations"], errors);
  ValidateHostAliases(spec["hostAliases"], errors);
  ValidateOptionalName(spec["priorityClassName"], &ValidateDnsSubdomain, errors);
  if (spec["runtimeClassName"].exists())
    ValidateName(spec["runtimeClassName"], &ValidateDnsSubdomain, errors);
  if (spec["preemptionPolicy"].exists())
    ValidateEnum(spec["preemptionPolicy"], {"PreemptLowerPriority", "Never"}, errors);
}

/// Validates the overhead of a Pod like the limits of a container.
void ValidateOverhead(const PodContext& context, FieldErrors& errors) {
  const FieldRef overhead = context.spec["overhead"];
  if (!overhead.exists()) return;
  const nlohmann::json resources = {{"limits", overhead.value()}};
  ValidateContainerResources(FieldRef(resources, overhead.path()), context, errors);
}

void ValidateTemplateMetadata(const FieldRef& pod_template, FieldErrors& errors) {
  // kube-apiserver omits "metadata" in these paths.
  const FieldRef metadata = pod_template["metadata"];
  const std::string annotations_path = pod_template["annotations"].path();
  ValidateLabels(At(metadata["labels"], pod_template["labels"].path()), errors);
  for (const std::string& key : metadata["annotations"].keys()) {
    for (const std::string& detail : ValidateQualifiedName(detail::ToLowerAscii(key)))
      errors.push_back(InvalidValue(annotations_path, key, detail));
  }
  ValidatePodAnnotations(At(metadata["annotations"], annotations_path), pod_template["spec"],
                         errors);
}

}  // namespace

void ValidatePodSpec(PodContext context, FieldErrors& errors) {
  const FieldRef spec = context.spec;
  ValidatePodVolumes(context, errors);
  ValidateClaimsOfPod(spec["resourceClaims"], errors);
  ValidateContainers(context, errors);
  ValidateEphemeralContainers(context, errors);
  ValidatePodResources(context, errors);
  ValidateHostNetwork(context, errors);
  ValidateEnum(spec["restartPolicy"], {"Always", "OnFailure", "Never"}, errors);
  ValidateEnum(spec["dnsPolicy"], {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"},
               errors);
  ValidateLabels(spec["nodeSelector"], errors);
  ValidatePodSecurityContext(spec, errors);
  ValidateAffinity(spec["affinity"], errors);
  ValidateDnsConfig(spec, errors);
  ValidateGates(spec, errors);
  ValidateTopologySpreadConstraints(spec["topologySpreadConstraints"], errors);
  ValidateHostProcessContainers(spec, errors);
  ValidateHostUsers(spec, errors);
  ValidatePodNames(spec, errors);
  ValidateOverhead(context, errors);
  ValidateOs(spec, errors);
}

void ValidatePodTemplate(const FieldRef& pod_template, FieldErrors& errors) {
  const FieldRef spec = pod_template["spec"];
  ValidateTemplateMetadata(pod_template, errors);
  ValidatePodSpec({.spec = spec}, errors);
  ValidateProfileAnnotations(pod_template["metadata"]["annotations"], spec, errors);
  if (IsUnset(spec["ephemeralContainers"])) return;
  errors.push_back(ForbiddenField(spec["ephemeralContainers"].path(),
                                  "ephemeral containers not allowed in pod template"));
}

}  // namespace kopp::apiserver
