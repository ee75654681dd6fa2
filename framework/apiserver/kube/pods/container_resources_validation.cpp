#include "pods/container_resources_validation.hpp"

#include "fields/field_rules.hpp"
#include "pods/pod_context.hpp"
#include "schema/field_validation.hpp"

#include <set>
#include <string>
#include <string_view>

#include <kopp/k8s/quantity.hpp>

namespace kopp::apiserver {
namespace {

constexpr std::string_view kHugePages = "hugepages-";

bool IsHugePages(const std::string& resource) { return resource.starts_with(kHugePages); }

/// Returns whether Kubernetes defines a resource: one without a domain, or in kubernetes.io/.
bool IsNativeResource(const std::string& resource) {
  return resource.find('/') == std::string::npos ||
         resource.find("kubernetes.io/") != std::string::npos;
}

bool IsExtendedResource(const std::string& resource) {
  return !IsNativeResource(resource) && !resource.starts_with("requests.") &&
         ValidateQualifiedName("requests." + resource).empty();
}

/// Returns whether containers may request less of a resource than their limit.
bool AllowsOvercommit(const std::string& resource) {
  return IsNativeResource(resource) && !IsHugePages(resource);
}

bool IsStandardContainerResource(const std::string& resource) {
  return resource == "cpu" || resource == "memory" || resource == "ephemeral-storage" ||
         IsHugePages(resource);
}

/// Returns whether the resource is a number of objects, as in a ResourceQuota.
bool IsNumberOfObjects(const std::string& resource) {
  static const std::set<std::string> counts = {"pods",
                                               "resourcequotas",
                                               "services",
                                               "replicationcontrollers",
                                               "secrets",
                                               "configmaps",
                                               "persistentvolumeclaims",
                                               "services.nodeports",
                                               "services.loadbalancers"};
  return counts.contains(resource);
}

bool IsStandardResource(const std::string& resource) {
  static const std::set<std::string> totals = {
      "requests.cpu", "requests.memory", "requests.ephemeral-storage",
      "limits.cpu",   "limits.memory",   "limits.ephemeral-storage",
      "storage",      "requests.storage"};
  return IsStandardContainerResource(resource) || IsNumberOfObjects(resource) ||
         totals.contains(resource) || resource.starts_with("requests.hugepages-");
}

bool IsCountedInIntegers(const std::string& resource) {
  return IsNumberOfObjects(resource) || IsExtendedResource(resource);
}

/// Validates the name of a resource. Returns whether it is valid.
bool ValidateResourceName(const std::string& name, const std::string& path, FieldErrors& errors) {
  const auto details = ValidateQualifiedName(name);
  for (const std::string& detail : details) errors.push_back(InvalidJson(path, name, detail));
  if (!details.empty()) return false;
  if (name.find('/') != std::string::npos || IsStandardResource(name)) return true;
  errors.push_back(InvalidJson(path, name, "must be a standard resource type or fully qualified"));
  return false;
}

void ValidatePodResourceName(const std::string& name, const std::string& path,
                             FieldErrors& errors) {
  if (!ValidateResourceName(name, path, errors)) return;
  if (name == "cpu" || name == "memory" || IsHugePages(name)) return;
  errors.push_back(NotSupported(path, name, {"cpu", "hugepages-", "memory"}));
}

/// Requires a multiple of the size of the pages.
void ValidateHugePages(const std::string& resource, const FieldRef& amount, FieldErrors& errors) {
  const k8s::Quantity quantity(amount.text());
  try {
    const k8s::Quantity page(resource.substr(kHugePages.size()));
    const bool is_integer = page.Value() > 0 && page.MilliValue() % 1000 == 0;
    if (is_integer && quantity.Value() % page.Value() == 0) return;
  } catch (const std::invalid_argument&) {  // the name has no size
  }
  errors.push_back(
      InvalidValue(amount.path(), amount.text(),
                   quantity.ToString() + " is not positive integer multiple of " + resource));
}

void ValidateAmount(const std::string& resource, const FieldRef& amount, FieldErrors& errors) {
  const k8s::Quantity quantity(amount.text());
  if (quantity.IsNegative()) {
    errors.push_back(
        InvalidValue(amount.path(), amount.text(), "must be greater than or equal to 0"));
  }
  if (IsCountedInIntegers(resource) && HasFraction(amount.text()))
    errors.push_back(InvalidValue(amount.path(), amount.text(), "must be an integer"));
}

using ResourceNameValidator = void (*)(const std::string& name, const std::string& path,
                                       FieldErrors& errors);

/// Requires that a request is at most the limit, or equal to it.
void ValidateRequestAgainstLimit(const std::string& name, const FieldRef& resources,
                                 FieldErrors& errors) {
  const FieldRef requests = resources["requests"];
  const FieldRef limit = resources["limits"].Key(name);
  const std::string amount = requests.Key(name).text();
  const bool allows_less = AllowsOvercommit(name);
  if (!limit.exists()) {
    if (allows_less) return;
    errors.push_back(
        Required(resources["limits"].path(), "Limit must be set for non overcommitable resources"));
    return;
  }
  const k8s::Quantity request(amount);
  const k8s::Quantity max(limit.text());
  if (allows_less ? request <= max : request == max) return;
  const std::string relation = allows_less ? "less than or equal to " : "equal to ";
  errors.push_back(InvalidValue(requests.path(), amount,
                                "must be " + relation + name + " limit of " + limit.text()));
}

/// Validates limits and requests.
void ValidateAmounts(const FieldRef& resources, ResourceNameValidator validate_name,
                     FieldErrors& errors) {
  bool has_pages = false;
  bool has_cpu_or_memory = false;
  for (const char* list : {"limits", "requests"}) {
    for (const std::string& name : resources[list].keys()) {
      const FieldRef amount = resources[list].Key(name);
      validate_name(name, amount.path(), errors);
      ValidateAmount(name, amount, errors);
      if (list == std::string_view("requests"))
        ValidateRequestAgainstLimit(name, resources, errors);
      if (IsHugePages(name)) ValidateHugePages(name, amount, errors);
      has_pages |= IsHugePages(name);
      has_cpu_or_memory |= name == "cpu" || name == "memory";
    }
  }
  if (has_pages && !has_cpu_or_memory)
    errors.push_back(ForbiddenField(resources.path(), "HugePages require cpu or memory"));
}

/// The claims of a container that were validated so far.
using SeenClaims = std::set<std::string>;

bool HasRequestOf(const SeenClaims& seen, const std::string& claim) {
  const auto found = seen.lower_bound(claim + '/');
  return found != seen.end() && found->starts_with(claim + '/');
}

/// Requires that a claim is used once as a whole, or each of its requests once.
void ValidateClaimIsNew(const FieldRef& claim, SeenClaims& seen, FieldErrors& errors) {
  const std::string name = claim["name"].text();
  const std::string request = claim["request"].text();
  if (seen.contains(name)) {
    errors.push_back(Duplicate(claim.path(), name));
    return;
  }
  if (!request.empty()) ValidateName(claim["request"], &ValidateDnsLabel, errors);
  const std::string key = request.empty() ? name : name + '/' + request;
  if (seen.contains(key) || (request.empty() && HasRequestOf(seen, name)))
    errors.push_back(Duplicate(claim.path(), key));
  seen.insert(key);
}

void ValidateResourceClaims(const FieldRef& claims, const FieldRef& pod_claims,
                            FieldErrors& errors) {
  std::set<std::string> names;
  for (const FieldRef& claim : pod_claims.items()) names.insert(claim["name"].text());
  names.erase("");
  SeenClaims seen;
  for (const FieldRef& claim : claims.items()) {
    const std::string name = claim["name"].text();
    if (name.empty()) {
      errors.push_back(Required(claim.path(), ""));
      continue;
    }
    ValidateClaimIsNew(claim, seen, errors);
    if (names.contains(name)) continue;
    std::string list;
    for (const std::string& each : names) list += (list.empty() ? ": " : ", ") + each;
    FieldError error = NotFound(At(claim["name"], claim.path()));
    error.message += ": must be one of the names in pod.spec.resourceClaims" +
                     (list.empty() ? " which is empty" : list);
    errors.push_back(std::move(error));
  }
}

}  // namespace

void ValidateContainerResourceName(const std::string& name, const std::string& path,
                                   FieldErrors& errors) {
  ValidateResourceName(name, path, errors);
  if (name.find('/') == std::string::npos) {
    if (!IsStandardContainerResource(name))
      errors.push_back(InvalidJson(path, name, "must be a standard resource for containers"));
  } else if (!IsNativeResource(name) && !IsExtendedResource(name)) {
    errors.push_back(InvalidJson(path, name, "doesn't follow extended resource name standard"));
  }
}

void ValidateContainerResources(const FieldRef& resources, const PodContext& context,
                                FieldErrors& errors) {
  ValidateAmounts(resources, &ValidateContainerResourceName, errors);
  ValidateResourceClaims(resources["claims"], context.spec["resourceClaims"], errors);
}

void ValidatePodResources(const PodContext& context, FieldErrors& errors) {
  const FieldRef resources = context.spec["resources"];
  if (!resources.exists()) return;
  if (context.spec["os"]["name"].is("windows")) {
    errors.push_back(ForbiddenField(resources.path(), "may not be set for a windows pod"));
    return;
  }
  if (resources["claims"].exists()) {
    errors.push_back(ForbiddenField(resources["claims"].path(),
                                    "claims may not be set for Resources at pod-level"));
  }
  ValidateAmounts(resources, &ValidatePodResourceName, errors);
}

void ValidateResizePolicies(const FieldRef& policies, const PodContext& context,
                            FieldErrors& errors) {
  std::set<std::string> names;
  for (const FieldRef& policy : policies.items()) {
    const FieldRef name = policy["resourceName"];
    const FieldRef restart = At(policy["restartPolicy"], policies.path());
    ValidateUniqueJson(At(name, policy.path()), names, errors);
    // kube-apiserver reports the other errors at the list.
    if (ValidateRequired(At(name, policies.path()), errors))
      ValidateEnum(At(name, policies.path()), {"cpu", "memory"}, errors);
    if (ValidateRequired(restart, errors))
      ValidateEnum(restart, {"NotRequired", "RestartContainer"}, errors);
    if (!context.spec["restartPolicy"].is("Never") || restart.is("NotRequired")) continue;
    errors.push_back(InvalidJson(restart.path(), restart.text(),
                                 "must be 'NotRequired' when `restartPolicy` is 'Never'"));
  }
}

}  // namespace kopp::apiserver
