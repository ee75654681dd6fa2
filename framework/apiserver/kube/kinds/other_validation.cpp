#include "kinds/other_validation.hpp"

#include "fields/address_validation.hpp"
#include "fields/field_rules.hpp"
#include "schema/accessors.hpp"
#include "schema/field_validation.hpp"
#include "schema/formats.hpp"
#include "storage/server_context.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Generation = KindStrategy::Generation;

/// Adds `item` to a list that may be null or contain it already.
void AddIfAbsent(json& list, const json& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

void AssignNamespaceFields(ServerContext&, const json& before, json& ns) {
  if (before.is_null()) {
    AddIfAbsent(ns["spec"]["finalizers"], "kubernetes");
  } else if (before.at("spec").contains("finalizers")) {
    ns["spec"]["finalizers"] = before.at("spec").at("finalizers");
  } else {
    ns["spec"].erase("finalizers");
  }
}

std::optional<std::string> NamespaceDeletionError(std::string_view name) {
  const bool is_protected = name == "default" || name == "kube-system" || name == "kube-public";
  if (!is_protected) return std::nullopt;
  return "this namespace may not be deleted";
}

void AssignNodeFields(ServerContext&, const json& before, json& node) {
  if (!before.is_null()) return;
  const json not_ready_taint{{"key", "node.kubernetes.io/not-ready"}, {"effect", "NoSchedule"}};
  json& taints = node["spec"]["taints"];
  const bool exists = std::any_of(taints.begin(), taints.end(), [&](const json& taint) {
    return Field(taint, "key") == not_ready_taint["key"] &&
           Field(taint, "effect") == not_ready_taint["effect"];
  });
  if (!exists) taints.push_back(not_ready_taint);
}

FieldError DuplicateTaint(const std::string& path, const FieldRef& taint) {
  const auto quoted = [&](const char* field) { return json(taint[field].text()).dump(); };
  return {"FieldValueDuplicate",
          R"(Duplicate value: {"Key":)" + quoted("key") + R"(,"Value":)" + quoted("value") +
              R"(,"Effect":)" + quoted("effect") + R"(,"TimeAdded":)" +
              taint["timeAdded"].value().dump() + "}: taints must be unique by key and effect pair",
          path};
}

void ValidateNodeTaints(const json& node, FieldErrors& errors) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const FieldRef& taint : FieldRef(node)["spec"]["taints"].items()) {
    // kube-apiserver reports the errors of taints below metadata.
    const std::string path = "metadata" + taint.path().substr(taint.path().find('.'));
    const std::string key = taint["key"].text();
    const std::string effect = taint["effect"].text();
    for (const std::string& detail : ValidateQualifiedName(key)) {
      errors.push_back(InvalidValue(path + ".key", key, detail));
    }
    if (const NameError detail = ValidateLabelValue(taint["value"].text())) {
      errors.push_back(InvalidValue(path + ".value", taint["value"].text(), *detail));
    }
    FieldErrors effect_errors;
    if (ValidateRequired(taint["effect"], effect_errors))
      ValidateTaintEffect(taint["effect"], effect_errors);
    for (FieldError& error : effect_errors) {
      error.field = path + ".effect";
      errors.push_back(std::move(error));
    }
    if (!seen.emplace(key, effect).second) errors.push_back(DuplicateTaint(path, taint));
  }
}

void ValidateLease(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  const FieldRef duration = spec["leaseDurationSeconds"];
  if (duration.exists() && duration.number() <= 0) {
    errors.push_back(InvalidValue(duration.path(), duration.value(), "must be greater than 0"));
  }
  ValidateNonNegative(spec["leaseTransitions"], errors);
}

void ValidateIngressBackend(const FieldRef& backend, FieldErrors& errors) {
  const FieldRef service = backend["service"];
  const auto add_invalid = [&](const char* detail) {
    errors.push_back(InvalidValue(backend.path(), "", detail));
  };
  const FieldRef resource = backend["resource"];
  if (!service.exists()) {
    if (!resource.exists()) add_invalid("resource or service backend is required");
    if (!resource["apiGroup"].text().empty())
      ValidateName(resource["apiGroup"], &ValidateDnsSubdomain, errors);
    if (resource.exists()) {
      for (const char* name : {"kind", "name"}) {
        if (ValidateRequired(resource[name], errors))
          ValidateName(resource[name], &ValidatePathSegment, errors);
      }
    }
    return;
  }
  if (resource.exists()) return add_invalid("cannot set both resource and service backends");
  if (ValidateRequired(service["name"], errors))
    ValidateName(service["name"], &ValidateDns1035Label, errors);
  const FieldRef port = service["port"];
  if (port["name"].exists() && port["number"].exists()) {
    add_invalid("cannot set both port name & port number");
  } else if (port["number"].exists()) {
    ValidatePort(port["number"], errors);
  } else if (!port["name"].exists()) {
    errors.push_back(Required(backend.path(), "port name or number is required"));
  } else {
    ValidatePortNumberOrName(port["name"], errors);
  }
}

/// Requires a path without sequences that proxies treat differently.
void ValidateUnambiguousPath(const FieldRef& path, FieldErrors& errors) {
  const std::string text = path.text();
  const auto add_invalid = [&](const std::string& detail) {
    errors.push_back(InvalidValue(path.path(), text, detail));
  };
  for (const std::string sequence : {"//", "/./", "/../", "%2f", "%2F"}) {
    if (text.find(sequence) != std::string::npos)
      add_invalid("must not contain '" + sequence + "'");
  }
  for (const std::string end : {"/..", "/."}) {
    if (text.ends_with(end)) add_invalid("cannot end with '" + end + "'");
  }
}

void ValidateIngressPath(const FieldRef& path, FieldErrors& errors) {
  const FieldRef type = path["pathType"];
  const std::string text = path["path"].text();
  const bool is_matched = type.is("Exact") || type.is("Prefix");
  if (!type.exists()) {
    errors.push_back(Required(type.path(), "pathType must be specified"));
    return;
  }
  ValidateEnum(type, {"Exact", "ImplementationSpecific", "Prefix"}, errors);
  const bool is_used = is_matched || (type.is("ImplementationSpecific") && !text.empty());
  if (is_used && !text.starts_with('/'))
    errors.push_back(InvalidValue(path["path"].path(), text, "must be an absolute path"));
  if (is_matched && !text.empty()) ValidateUnambiguousPath(path["path"], errors);
  ValidateIngressBackend(path["backend"], errors);
}

/// Validates a host name, of which the first label may be "*".
void ValidateHost(const FieldRef& host, FieldErrors& errors) {
  const std::string text = host.text();
  if (text.find('*') == std::string::npos) return ValidateName(host, &ValidateDnsSubdomain, errors);
  if (text.starts_with("*.") && !ValidateDnsSubdomain(text.substr(2))) return;
  errors.push_back(InvalidValue(
      host.path(), text,
      "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, "
      "which "
      "must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric "
      "character (e.g. '*.example.com', regex used for validation is "
      "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"));
}

void ValidateRuleHost(const FieldRef& host, FieldErrors& errors) {
  if (MatchesFormat(host.text(), "ipv4") || MatchesFormat(host.text(), "ipv6")) {
    errors.push_back(
        InvalidValue(host.path(), host.text(), "must be a DNS name, not an IP address"));
  }
  ValidateHost(host, errors);
}

void ValidateIngress(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  const FieldRef rules = spec["rules"];
  if (rules.size() == 0 && !spec["defaultBackend"].exists()) {
    errors.push_back(InvalidValue(spec.path(), json::array(),
                                  "either `defaultBackend` or `rules` must be specified"));
  }
  if (spec["defaultBackend"].exists()) ValidateIngressBackend(spec["defaultBackend"], errors);
  for (const FieldRef& rule : rules.items()) {
    if (rule["host"].exists()) ValidateRuleHost(rule["host"], errors);
    const FieldRef paths = rule["http"]["paths"];
    if (rule["http"].exists() && paths.size() == 0) errors.push_back(Required(paths.path(), ""));
    for (const FieldRef& path : paths.items()) ValidateIngressPath(path, errors);
  }
  for (const FieldRef& tls : spec["tls"].items()) {
    for (const FieldRef& host : tls["hosts"].items()) ValidateHost(host, errors);
    if (!tls["secretName"].text().empty())
      ValidateName(tls["secretName"], &ValidateDnsSubdomain, errors);
  }
  if (spec["ingressClassName"].exists())
    ValidateName(spec["ingressClassName"], &ValidateDnsSubdomain, errors);
}

void ValidatePodDisruptionBudget(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  if (spec["minAvailable"].exists() && spec["maxUnavailable"].exists()) {
    errors.push_back(InvalidValue(spec.path(), spec.value(),
                                  "minAvailable and maxUnavailable cannot be both set"));
  }
  for (const char* value : {"minAvailable", "maxUnavailable"})
    ValidateIntOrPercentUpTo100(spec[value], errors);
  ValidateLabelSelector(spec["selector"], errors);
  const FieldRef eviction = spec["unhealthyPodEvictionPolicy"];
  if (eviction.exists()) ValidateEnum(eviction, {"AlwaysAllow", "IfHealthyBudget"}, errors);
}

void ValidateIngressClassParameters(const FieldRef& parameters, FieldErrors& errors) {
  const FieldRef group = parameters["apiGroup"];
  if (group.exists()) ValidateName(group, &ValidateDnsSubdomain, errors);
  for (const char* name : {"kind", "name"}) {
    if (ValidateRequired(parameters[name], errors))
      ValidateName(parameters[name], &ValidatePathSegment, errors);
  }
  const FieldRef scope = parameters["scope"];
  const FieldRef ns = parameters["namespace"];
  ValidateTextEnum(scope, {"Cluster", "Namespace"}, errors);
  if (scope.is("Namespace")) {
    if (ns.exists()) {
      ValidateName(ns, &ValidateDnsLabel, errors);
    } else {
      errors.push_back(Required(ns.path(), "`parameters.scope` is set to 'Namespace'"));
    }
  } else if (scope.is("Cluster") && ns.exists()) {
    errors.push_back(ForbiddenField(ns.path(), "`parameters.scope` is set to 'Cluster'"));
  }
}

void ValidateIngressClass(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  if (spec["controller"].text().size() > 250) {
    errors.push_back(TooLong(spec["controller"].path(), 250));
  }
  ValidateDomainPrefixedPath(spec["controller"], errors);
  if (spec["parameters"].exists()) ValidateIngressClassParameters(spec["parameters"], errors);
}

void ValidateIngressClassUpdate(const json& before, const json& after, FieldErrors& errors) {
  ValidateImmutable(FieldRef(before)["spec"]["controller"], FieldRef(after)["spec"]["controller"],
                    errors);
}

void ValidateNetworkPolicy(const json& object, FieldErrors& errors) {
  ValidateLabelSelector(FieldRef(object)["spec"]["podSelector"], errors);
}

}  // namespace

void AddOtherStrategies(StrategiesByKind& strategies) {
  for (const char* resource :
       {"ingressclasses.networking.k8s.io", "ingresses.networking.k8s.io",
        "networkpolicies.networking.k8s.io", "poddisruptionbudgets.policy"}) {
    strategies[resource].generation = Generation::kSpec;
  }
  for (const char* resource : {"leases.coordination.k8s.io", "limitranges"}) {
    strategies[resource].allows_create_on_update = true;
  }
  for (const char* resource : {"customresourcedefinitions.apiextensions.k8s.io",
                               "leases.coordination.k8s.io", "poddisruptionbudgets.policy"}) {
    strategies[resource].allows_unconditional_update = false;
  }
  for (const char* resource : {"leases.coordination.k8s.io", "poddisruptionbudgets.policy"}) {
    strategies[resource].finalizer_domain = KindStrategy::FinalizerDomain::kOptional;
  }
  strategies["namespaces"].validate_name = &ValidateDnsLabel;
  strategies["namespaces"].assign_fields = &AssignNamespaceFields;
  strategies["namespaces"].deletion_error = &NamespaceDeletionError;
  strategies["nodes"].keeps_status_on_create = true;
  strategies["nodes"].assign_fields = &AssignNodeFields;
  strategies["nodes"].validate = &ValidateNodeTaints;
  strategies["leases.coordination.k8s.io"].validate = &ValidateLease;
  strategies["ingressclasses.networking.k8s.io"].validate = &ValidateIngressClass;
  strategies["ingressclasses.networking.k8s.io"].validate_update = &ValidateIngressClassUpdate;
  strategies["ingressclasses.networking.k8s.io"].update_validation =
      KindStrategy::UpdateValidation::kChangeThenObject;
  strategies["ingresses.networking.k8s.io"].validate = &ValidateIngress;
  strategies["ingresses.networking.k8s.io"].warn_status = &WarnAboutLoadBalancerStatus;
  strategies["networkpolicies.networking.k8s.io"].validate = &ValidateNetworkPolicy;
  strategies["poddisruptionbudgets.policy"].validate = &ValidatePodDisruptionBudget;
}

}  // namespace kopp::apiserver
