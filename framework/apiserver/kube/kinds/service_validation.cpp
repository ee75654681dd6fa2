#include "kinds/service_validation.hpp"

#include "fields/address_validation.hpp"
#include "fields/field_rules.hpp"
#include "kinds/service_allocation.hpp"
#include "kinds/service_rules.hpp"
#include "schema/field_validation.hpp"
#include "schema/formats.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

void ValidateOptionalQualifiedName(const FieldRef& name, FieldErrors& errors) {
  if (!name.exists()) return;
  for (const std::string& detail : ValidateQualifiedName(name.text()))
    errors.push_back(InvalidValue(name.path(), name.value(), detail));
}

void ValidateServicePorts(const FieldRef& ports, FieldErrors& errors) {
  std::set<std::string> names;
  for (const FieldRef& port : ports.items()) {
    const FieldRef name = port["name"];
    if (!name.text().empty()) {
      ValidateName(name, &ValidateDnsLabel, errors);
      ValidateUnique(name, names, errors);
    } else if (ports.size() > 1) {
      errors.push_back(Required(name.path(), ""));
    }
    ValidatePort(port["port"], errors);
    ValidateEnum(port["protocol"], {"SCTP", "TCP", "UDP"}, errors);
    ValidatePortNumberOrName(port["targetPort"], errors);
    ValidateOptionalQualifiedName(port["appProtocol"], errors);
  }
}

/// Requires that no two ports have the same number and protocol, with or without a node port.
void ValidatePortsAreUnique(const FieldRef& ports, FieldErrors& errors) {
  std::set<json> with_node_ports;
  for (const FieldRef& port : ports.items()) {
    const FieldRef node_port = port["nodePort"];
    const json key{port["port"].value(), port["protocol"].value(), node_port.value()};
    if (node_port.number() != 0 && !with_node_ports.insert(key).second)
      errors.push_back(Duplicate(node_port.path(), node_port.value()));
  }
  std::set<json> seen;
  for (const FieldRef& port : ports.items()) {
    const json key{port["port"].value(), port["protocol"].value()};
    if (seen.insert(key).second) continue;
    errors.push_back({"FieldValueDuplicate",
                      R"(Duplicate value: {"Name":"","Protocol":)" + key[1].dump() +
                          R"(,"AppProtocol":null,"Port":)" + key[0].dump() +
                          R"(,"TargetPort":0,"NodePort":0})",
                      port.path()});
  }
}

/// Accepts spaces around the range.
void ValidateSourceRange(const FieldRef& range, FieldErrors& errors) {
  constexpr const char* kSpaces = " \t\r\n\v\f";
  std::string text = range.text();
  text.erase(text.find_last_not_of(kSpaces) + 1);
  text.erase(0, text.find_first_not_of(kSpaces));
  if (MatchesFormat(text, "cidr")) return;
  errors.push_back(InvalidValue(range.path(), text,
                                "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
}

void ValidateIpFamilies(const FieldRef& spec, FieldErrors& errors) {
  std::set<std::string> families;
  for (const FieldRef& family : spec["ipFamilies"].items()) {
    ValidateEnum(family, {"IPv4", "IPv6"}, errors);
    ValidateUniqueJson(family, families, errors);
  }
  const FieldRef policy = spec["ipFamilyPolicy"];
  if (policy.exists())
    ValidateEnum(policy, {"PreferDualStack", "RequireDualStack", "SingleStack"}, errors);
}

/// Requires that each address belongs to the family with the same index.
void ValidateAddressFamilies(const FieldRef& spec, FieldErrors& errors) {
  const auto families = spec["ipFamilies"].items();
  for (std::size_t i = 0; i < families.size() && i < spec["clusterIPs"].size(); ++i) {
    const FieldRef ip = spec["clusterIPs"].items()[i];
    const bool is_other = families[i].is("IPv4")
                              ? IsIpv6Address(ip.text())
                              : families[i].is("IPv6") && IsIpv4Address(ip.text());
    if (!is_other) continue;
    errors.push_back(InvalidValue(ip.path(), ip.value(),
                                  "expected an " + families[i].text() +
                                      " value as indicated by `ipFamilies[" + std::to_string(i) +
                                      "]`"));
  }
}

/// `keeps_none`: the Service had "None" before, which is accepted again.
void ValidateClusterIps(const FieldRef& spec, bool keeps_none, FieldErrors& errors) {
  const FieldRef ips = spec["clusterIPs"];
  const auto add_invalid = [&](const char* detail) {
    errors.push_back(InvalidValue(ips.path(), ips.value(), detail));
  };
  const auto items = ips.items();
  if (items.empty()) return;
  if (!spec["clusterIP"].exists())
    return add_invalid("must be empty when `clusterIP` is not specified");
  if (!items[0].is(spec["clusterIP"].value())) add_invalid("first value must match `clusterIP`");
  const bool starts_with_none = items[0].is("None");
  if (starts_with_none && items.size() > 1) add_invalid("'None' must be the first and only value");
  for (const FieldRef& ip : items) {
    const bool is_none = starts_with_none && ip.path() == items[0].path();
    const bool is_kept = keeps_none && ip.is("None");
    if (!is_none && !is_kept) ValidateIpAddress(ip, errors);
  }
  if (items.size() > 2) add_invalid("may only hold up to 2 values");
  const auto all_are = [&](bool (*is_of_family)(const std::string&)) {
    return std::ranges::all_of(items, [&](const FieldRef& ip) { return is_of_family(ip.text()); });
  };
  if (items.size() == 2 && (all_are(&IsIpv4Address) || all_are(&IsIpv6Address)))
    add_invalid("may specify no more than one IP for each IP family");
}

/// Requires what a cluster with addresses of IPv4 only can provide.
void ValidateSingleStackCluster(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef families = spec["ipFamilies"];
  const FieldRef policy = spec["ipFamilyPolicy"];
  const FieldRef ips = spec["clusterIPs"];
  const auto require_dual_stack = [&](const std::string& values) {
    errors.push_back(InvalidValue(policy.path(), policy.value(),
                                  "must be 'RequireDualStack' or 'PreferDualStack' when multiple " +
                                      values + " are specified"));
  };
  if (policy.is("SingleStack") && ips.size() > 1) require_dual_stack("cluster IPs");
  if (policy.is("SingleStack") && families.size() > 1) require_dual_stack("IP families");
  for (std::size_t i = families.size(); i < ips.size(); ++i) {
    const FieldRef ip = ips.items()[i];
    if (IsIpv6Address(ip.text()))
      errors.push_back(
          InvalidValue(ip.path(), ips.value(), "IPv6 is not configured on this cluster"));
  }
  const bool is_headless = spec["clusterIP"].is("None");
  if (!errors.empty() || (is_headless && !spec["selector"].exists())) return;
  if (policy.is("RequireDualStack")) {
    errors.push_back(InvalidValue(policy.path(), policy.value(),
                                  "this cluster is not configured for dual-stack services"));
  }
  for (const FieldRef& family : families.items()) {
    if (family.is("IPv6"))
      errors.push_back(
          InvalidValue(family.path(), family.value(), "not configured on this cluster"));
  }
}

/// Validates the IP families and the cluster IPs. A new Service may have got an address of another
/// family than it requests, so its families are compared last.
void ValidateAddresses(const FieldRef& spec, bool is_update, FieldErrors& errors) {
  ValidateIpFamilies(spec, errors);
  ValidateClusterIps(spec, is_update && spec["clusterIP"].is("None"), errors);
  if (is_update) ValidateAddressFamilies(spec, errors);
  if (errors.empty()) ValidateSingleStackCluster(spec, errors);
  if (!is_update && errors.empty()) ValidateAddressFamilies(spec, errors);
}

void ValidateExternalName(const FieldRef& spec, FieldErrors& errors) {
  for (const char* field : {"clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
    if (spec[field].exists())
      errors.push_back(
          ForbiddenField(spec[field].path(), "may not be set for ExternalName services"));
  }
  const FieldRef name = spec["externalName"];
  std::string host = name.text();
  if (host.ends_with('.')) host.pop_back();
  if (host.empty()) {
    errors.push_back(Required(name.path(), ""));
  } else if (const NameError detail = ValidateDnsSubdomain(host)) {
    errors.push_back(InvalidValue(name.path(), host, *detail));
  }
}

void ValidateSessionAffinity(const FieldRef& spec, FieldErrors& errors) {
  constexpr int kMaxSeconds = 86400;
  ValidateEnum(spec["sessionAffinity"], {"ClientIP", "None"}, errors);
  const FieldRef timeout = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"];
  if (!spec["sessionAffinity"].is("ClientIP") || !timeout.exists()) return;
  if (timeout.number() <= 0 || timeout.number() > kMaxSeconds)
    errors.push_back(InvalidValue(timeout.path(), timeout.value(),
                                  "must be greater than 0 and less than 86400"));
}

void ValidateHealthCheckPort(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef port = spec["healthCheckNodePort"];
  if (port.number() == 0 || NeedsHealthCheckPort(spec)) return;
  errors.push_back(InvalidValue(port.path(), port.value(),
                                "may only be set when `type` is 'LoadBalancer' and "
                                "`externalTrafficPolicy` is 'Local'"));
}

void ValidateExternalIps(const FieldRef& addresses, FieldErrors& errors) {
  for (const FieldRef& address : addresses.items()) {
    const std::size_t error_count = errors.size();
    ValidateIpAddress(address, errors);
    if (errors.size() == error_count) ValidateNonSpecialIp(address, errors);
  }
}

void ValidateLoadBalancer(const FieldRef& spec, FieldErrors& errors) {
  constexpr const char* kOnlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";
  const bool is_load_balancer = spec["type"].is("LoadBalancer");
  // kube-apiserver reports the source ranges with a capital letter.
  const FieldRef ranges(spec["loadBalancerSourceRanges"].value(), "spec.LoadBalancerSourceRanges");
  if (ranges.size() > 0 && !is_load_balancer)
    errors.push_back(ForbiddenField(ranges.path(), kOnlyLoadBalancer));
  for (const FieldRef& range : ranges.items()) ValidateSourceRange(range, errors);
  const FieldRef allocate = spec["allocateLoadBalancerNodePorts"];
  if (allocate.exists() && !is_load_balancer)
    errors.push_back(ForbiddenField(allocate.path(), kOnlyLoadBalancer));
  const FieldRef load_balancer_class = spec["loadBalancerClass"];
  if (!load_balancer_class.exists()) return;
  if (!is_load_balancer) {
    errors.push_back(ForbiddenField(load_balancer_class.path(), kOnlyLoadBalancer));
    return;
  }
  ValidateOptionalQualifiedName(load_balancer_class, errors);
}

void ValidateTrafficPolicies(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef external = spec["externalTrafficPolicy"];
  if (NeedsTrafficPolicy(spec)) {
    ValidateEnum(external, {"Cluster", "Local"}, errors);
  } else if (external.exists()) {
    errors.push_back(InvalidJson(external.path(), external.value(),
                                 "may only be set for externally-accessible services"));
  }
  const FieldRef distribution = spec["trafficDistribution"];
  if (distribution.exists())
    ValidateTextEnum(distribution, {"PreferClose", "PreferSameZone", "PreferSameNode"}, errors);
  const FieldRef internal = spec["internalTrafficPolicy"];
  if (internal.exists()) ValidateEnum(internal, {"Cluster", "Local"}, errors);
}

void ValidateService(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  const FieldRef ports = spec["ports"];
  const bool external = spec["type"].is("ExternalName");
  const bool headless = spec["clusterIP"].is("None");
  const bool is_update = FieldRef(object)["metadata"]["resourceVersion"].exists();
  // kube-apiserver validates the addresses when it allocates them, before all else.
  FieldErrors address_errors;
  if (!external) ValidateAddresses(spec, is_update, address_errors);
  if (!address_errors.empty()) {
    errors = std::move(address_errors);
    return;
  }
  if (ports.size() == 0 && !headless && !external) errors.push_back(Required(ports.path(), ""));
  if (headless && (spec["type"].is("LoadBalancer") || spec["type"].is("NodePort"))) {
    errors.push_back(
        InvalidValue("spec.clusterIPs[0]", "None",
                     "may not be set to 'None' for " + spec["type"].text() + " services"));
  }
  if (external) ValidateExternalName(spec, errors);
  ValidateServicePorts(ports, errors);
  ValidateLabels(spec["selector"], errors);
  ValidateSessionAffinity(spec, errors);
  ValidateExternalIps(spec["externalIPs"], errors);
  ValidateEnum(spec["type"], {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}, errors);
  for (const FieldRef& port : ports.items()) {
    if (!spec["type"].is("ClusterIP") || port["nodePort"].number() == 0) continue;
    errors.push_back(
        ForbiddenField(port["nodePort"].path(), "may not be used when `type` is 'ClusterIP'"));
  }
  ValidatePortsAreUnique(ports, errors);
  ValidateLoadBalancer(spec, errors);
  ValidateTrafficPolicies(spec, errors);
  ValidateHealthCheckPort(spec, errors);
}

void ValidateServiceUpdate(const json& before, const json& after, FieldErrors& errors) {
  const FieldRef old_spec = FieldRef(before)["spec"];
  const FieldRef new_spec = FieldRef(after)["spec"];
  if (old_spec["type"].is("ExternalName") || new_spec["type"].is("ExternalName")) return;
  const FieldRef ip = new_spec["clusterIP"];
  const bool is_address = ip.is("None") || IsIpv4Address(ip.text());
  if (is_address && !ip.is(old_spec["clusterIP"].value())) {
    errors.push_back(InvalidValue("spec.clusterIPs[0]", new_spec["clusterIPs"].value(),
                                  "may not change once set"));
  }
  const FieldRef lb_class = new_spec["loadBalancerClass"];
  const bool was_load_balancer = old_spec["type"].is("LoadBalancer");
  if (was_load_balancer && new_spec["type"].is("LoadBalancer") &&
      !lb_class.is(old_spec["loadBalancerClass"].value()))
    errors.push_back(InvalidJson(lb_class.path(), lb_class.value(), "may not change once set"));
}

void WarnAboutAddressesOfService(const FieldRef& spec, Warnings& warnings) {
  if (!spec["clusterIP"].is("None"))
    for (const FieldRef& ip : spec["clusterIPs"].items()) WarnAboutIp(ip, warnings);
  if (spec["type"].is("ClusterIP") && spec["clusterIP"].is("None")) {
    constexpr const char* kIgnored = " is ignored for headless services";
    for (const char* field : {"loadBalancerIP", "externalIPs"})
      if (!IsUnset(spec[field])) warnings.push_back(spec[field].path() + kIgnored);
    if (!spec["sessionAffinity"].is("None"))
      warnings.push_back(std::string("spec.SessionAffinity") + kIgnored);
  }
  for (const FieldRef& ip : spec["externalIPs"].items()) WarnAboutIp(ip, warnings);
  WarnAboutIp(spec["loadBalancerIP"], warnings);
  for (const FieldRef& range : spec["loadBalancerSourceRanges"].items())
    WarnAboutCidr(range, warnings);
}

void WarnAboutService(const json& object, Warnings& warnings) {
  const FieldRef service(object);
  const FieldRef spec = service["spec"];
  if (service["metadata"]["annotations"]
          .Key("service.kubernetes.io/topology-aware-hints")
          .exists()) {
    warnings.emplace_back(
        "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
        "service.kubernetes.io/topology-mode instead");
  }
  WarnAboutAddressesOfService(spec, warnings);
  const bool is_external = spec["type"].is("ExternalName");
  if (is_external && spec["externalIPs"].size() > 0)
    warnings.emplace_back("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
  if (!is_external && !IsUnset(spec["externalName"]))
    warnings.emplace_back("spec.externalName is ignored when spec.type is not \"ExternalName\"");
}

}  // namespace

void AddServiceStrategies(StrategiesByKind& strategies) {
  KindStrategy& services = strategies["services"];
  services.validate_name = &ValidateDns1035Label;
  services.allows_create_on_update = true;
  services.assign_fields = &AssignServiceFields;
  services.validate = &ValidateService;
  services.validate_update = &ValidateServiceUpdate;
  services.update_validation = KindStrategy::UpdateValidation::kChangeThenObject;
  services.warn = &WarnAboutService;
  services.warns_on_every_update = true;
  services.warn_status = &WarnAboutLoadBalancerStatus;
}

}  // namespace kopp::apiserver
