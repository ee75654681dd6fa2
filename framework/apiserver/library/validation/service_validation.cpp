#include "schema/field_validation.hpp"
#include "schema/formats.hpp"
#include "storage/server_context.hpp"
#include "validation/kind_strategy.hpp"

#include <set>
#include <string>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kServiceIpPrefix =
    "10.0.0.";  // a /24; its first address belongs to the API server
constexpr int kServiceIps = 254;
constexpr int kFirstNodePort = 30000;
constexpr int kNodePorts = 2768;

bool IsExternal(const json& spec) { return spec.value("type", "") == "ExternalName"; }
bool HasNodePorts(const json& spec) {
  const std::string type = spec.value("type", "");
  return type == "NodePort" ||
         (type == "LoadBalancer" && spec.value("allocateLoadBalancerNodePorts", true));
}

bool NeedsHealthCheckPort(const json& spec) {
  return spec.value("type", "") == "LoadBalancer" &&
         spec.value("externalTrafficPolicy", "") == "Local";
}

/// The IPs and node ports that other Services use. Services that are created concurrently may get
/// the same values.
struct AllocatedValues {
  std::set<std::string> addresses{};
  std::set<int> node_ports{};
};

AllocatedValues AllocatedByOthers(ServerContext& context, const json& service) {
  AllocatedValues allocated;
  const json& uid = service.at("metadata").at("uid");
  for (const auto& [key, stored] : context.store().List("services", "").objects) {
    const json other = json::parse(stored->text);
    if (other.at("metadata").at("uid") == uid) continue;
    const FieldRef spec = FieldRef(other)["spec"];
    allocated.addresses.insert(spec["clusterIP"].text());
    allocated.node_ports.insert(static_cast<int>(spec["healthCheckNodePort"].number()));
    for (const FieldRef& port : spec["ports"].items()) {
      allocated.node_ports.insert(static_cast<int>(port["nodePort"].number()));
    }
  }
  return allocated;
}

/// Returns the offset at which the search for a free value starts. It depends only on the uid.
int FirstCandidate(const json& service) {
  const std::string uid = service.at("metadata").at("uid").get<std::string>();
  return std::stoi(uid.substr(0, 6), nullptr, 16);
}

StatusError RangeIsFull(const std::string& value_type) {
  return {500, "InternalError",
          "Internal error occurred: failed to allocate a " + value_type + ": range is full"};
}

std::string AllocateClusterIp(const json& service, const AllocatedValues& allocated) {
  for (int i = 0; i < kServiceIps - 1; ++i) {
    const int last_byte = 2 + (FirstCandidate(service) + i) % (kServiceIps - 1);
    std::string address = kServiceIpPrefix + std::to_string(last_byte);
    if (!allocated.addresses.contains(address)) return address;
  }
  throw RangeIsFull("serviceIP");
}

int AllocateNodePort(const json& service, const AllocatedValues& allocated) {
  for (int i = 0; i < kNodePorts; ++i) {
    const int port = kFirstNodePort + (FirstCandidate(service) + i) % kNodePorts;
    if (!allocated.node_ports.contains(port)) return port;
  }
  throw RangeIsFull("nodePort");
}

bool NeedsTrafficPolicy(const json& spec) {
  const std::string type = spec.value("type", "");
  return type == "NodePort" || type == "LoadBalancer" ||
         (type == "ClusterIP" && !spec.value("externalIPs", json()).empty());
}

/// Removes the fields that the new type of a Service does not have, unless the update changes them.
void DropFieldsOfOldType(const json& old_spec, json& spec) {
  const auto drop = [&](bool (*needs)(const json&), const char* field) {
    const bool is_unchanged = FieldRef(spec)[field].is(FieldRef(old_spec)[field].value());
    if (needs(old_spec) && !needs(spec) && is_unchanged) spec.erase(field);
  };
  const auto is_load_balancer = [](const json& any) {
    return any.value("type", "") == "LoadBalancer";
  };
  drop(&NeedsTrafficPolicy, "externalTrafficPolicy");
  drop(&NeedsHealthCheckPort, "healthCheckNodePort");
  drop(is_load_balancer, "allocateLoadBalancerNodePorts");
  drop(is_load_balancer, "loadBalancerClass");
  const auto has_node_ports = [&](const json& any) {
    return is_load_balancer(any) || any.value("type", "") == "NodePort";
  };
  if (!has_node_ports(old_spec) || has_node_ports(spec) || !spec.contains("ports")) return;
  const auto ports_of = [](const json& any) {
    std::multiset<json> ports;
    for (const FieldRef& port : FieldRef(any)["ports"].items())
      ports.insert(port["nodePort"].value());
    return ports;
  };
  if (ports_of(old_spec) != ports_of(spec)) return;
  for (json& port : spec["ports"]) port.erase("nodePort");
}

/// Keeps the allocated values that an update omits.
void KeepAllocatedFields(const json& old_spec, json& spec) {
  if (IsExternal(old_spec) || IsExternal(spec)) return;
  if (NeedsHealthCheckPort(spec) && !spec.contains("healthCheckNodePort") &&
      old_spec.contains("healthCheckNodePort")) {
    spec["healthCheckNodePort"] = old_spec["healthCheckNodePort"];
  }
  for (const char* field : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
    if (!spec.contains(field) && old_spec.contains(field)) spec[field] = old_spec[field];
  }
  if (!HasNodePorts(old_spec) || !HasNodePorts(spec) || !spec.contains("ports")) return;
  for (json& port : spec["ports"]) {
    for (const FieldRef& old_port : FieldRef(old_spec)["ports"].items()) {
      const bool is_same_port = old_port["port"].is(port.value("port", json())) &&
                                old_port["protocol"].is(port.value("protocol", json()));
      if (is_same_port && !port.contains("nodePort"))
        port["nodePort"] = old_port["nodePort"].value();
    }
  }
}

void AssignServiceFields(ServerContext& context, const json& before, json& service) {
  json& spec = service["spec"];
  if (!before.is_null()) {
    DropFieldsOfOldType(before.at("spec"), spec);
    KeepAllocatedFields(before.at("spec"), spec);
  }
  if (IsExternal(spec)) return;
  AllocatedValues allocated = AllocatedByOthers(context, service);
  if (!spec.contains("clusterIP")) {
    const FieldRef cluster_ips = FieldRef(spec)["clusterIPs"];
    spec["clusterIP"] = cluster_ips.size() > 0 ? cluster_ips.value()[0]
                                               : json(AllocateClusterIp(service, allocated));
  } else if (allocated.addresses.contains(spec["clusterIP"]) && spec["clusterIP"] != "None") {
    const std::string address = spec["clusterIP"];
    Resource services;
    services.kind = "Service";
    throw Invalid(
        services, service["metadata"].value("name", ""),
        {InvalidValue("spec.clusterIPs", json::array({address}),
                      "failed to allocate IP " + address + ": provided IP is already allocated")});
  }
  if (!spec.contains("clusterIPs")) spec["clusterIPs"] = json::array({spec["clusterIP"]});
  const bool has_any_family = spec["clusterIP"] == "None" && !spec.contains("selector");
  if (!spec.contains("ipFamilies")) {
    spec["ipFamilies"] = has_any_family ? json{"IPv4", "IPv6"} : json::array({"IPv4"});
  }
  if (!spec.contains("ipFamilyPolicy")) {
    spec["ipFamilyPolicy"] = has_any_family ? "RequireDualStack" : "SingleStack";
  }
  if (NeedsHealthCheckPort(spec) && !spec.contains("healthCheckNodePort")) {
    spec["healthCheckNodePort"] = AllocateNodePort(service, allocated);
    allocated.node_ports.insert(spec["healthCheckNodePort"].get<int>());
  }
  if (!HasNodePorts(spec) || !spec.contains("ports")) return;
  for (json& port : spec["ports"]) {
    if (!port.contains("nodePort")) port["nodePort"] = AllocateNodePort(service, allocated);
    allocated.node_ports.insert(port["nodePort"].get<int>());
  }
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
  }
}

/// Requires that no two ports have the same number and protocol.
void ValidatePortsAreUnique(const FieldRef& ports, FieldErrors& errors) {
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

void ValidateIp(const FieldRef& address, FieldErrors& errors) {
  if (MatchesFormat(address.text(), "ipv4") || MatchesFormat(address.text(), "ipv6")) return;
  errors.push_back(InvalidValue(address.path(), address.value(),
                                "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
}

void ValidateCidr(const FieldRef& range, FieldErrors& errors) {
  if (MatchesFormat(range.text(), "cidr")) return;
  errors.push_back(InvalidValue(range.path(), range.value(),
                                "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
}

void ValidateClusterIps(const FieldRef& spec, FieldErrors& errors) {
  if (spec["type"].is("ExternalName")) return;
  for (const FieldRef& family : spec["ipFamilies"].items())
    ValidateEnum(family, {"IPv4", "IPv6"}, errors);
  const FieldRef policy = spec["ipFamilyPolicy"];
  if (policy.exists())
    ValidateEnum(policy, {"PreferDualStack", "RequireDualStack", "SingleStack"}, errors);
  const FieldRef ips = spec["clusterIPs"];
  const auto add_invalid = [&](const char* detail) {
    errors.push_back(InvalidValue(ips.path(), ips.value(), detail));
  };
  if (ips.size() > 0 && !ips.items()[0].is(spec["clusterIP"].value()))
    add_invalid("first value must match `clusterIP`");
  for (const FieldRef& ip : ips.items()) {
    const bool is_first = ip.path() == ips.items()[0].path();
    if (!is_first || !ip.is("None")) {
      ValidateIp(ip, errors);
    } else if (ips.size() > 1) {
      add_invalid("'None' must be the first and only value");
    }
  }
  if (ips.size() > 2) add_invalid("may only hold up to 2 values");
}

void ValidateLoadBalancer(const FieldRef& spec, FieldErrors& errors) {
  constexpr const char* kOnlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";
  const bool is_load_balancer = spec["type"].is("LoadBalancer");
  // kube-apiserver reports the source ranges with a capital letter.
  const FieldRef ranges(spec["loadBalancerSourceRanges"].value(), "spec.LoadBalancerSourceRanges");
  if (ranges.size() > 0 && !is_load_balancer)
    errors.push_back(ForbiddenField(ranges.path(), kOnlyLoadBalancer));
  for (const FieldRef& range : ranges.items()) ValidateCidr(range, errors);
  const FieldRef allocate = spec["allocateLoadBalancerNodePorts"];
  if (allocate.exists() && !is_load_balancer)
    errors.push_back(ForbiddenField(allocate.path(), kOnlyLoadBalancer));
  const FieldRef load_balancer_class = spec["loadBalancerClass"];
  if (!load_balancer_class.exists()) return;
  if (!is_load_balancer) {
    errors.push_back(ForbiddenField(load_balancer_class.path(), kOnlyLoadBalancer));
    return;
  }
  for (const std::string& detail : ValidateQualifiedName(load_balancer_class.text()))
    errors.push_back(InvalidValue(load_balancer_class.path(), load_balancer_class.value(), detail));
}

void ValidateTrafficPolicies(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef external = spec["externalTrafficPolicy"];
  if (NeedsTrafficPolicy(spec.value())) {
    ValidateEnum(external, {"Cluster", "Local"}, errors);
  } else if (external.exists()) {
    errors.push_back(InvalidValue(external.path(), external.value(),
                                  "may only be set for externally-accessible services"));
  }
  const FieldRef distribution = spec["trafficDistribution"];
  if (distribution.exists())
    ValidateEnum(distribution, {"PreferClose", "PreferSameZone", "PreferSameNode"}, errors);
  const FieldRef internal = spec["internalTrafficPolicy"];
  if (internal.exists()) ValidateEnum(internal, {"Cluster", "Local"}, errors);
}

void ValidateService(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  const FieldRef ports = spec["ports"];
  const bool external = spec["type"].is("ExternalName");
  const bool headless = spec["clusterIP"].is("None");
  if (ports.size() == 0 && !headless && !external) errors.push_back(Required(ports.path(), ""));
  if (headless && (spec["type"].is("LoadBalancer") || spec["type"].is("NodePort"))) {
    errors.push_back(
        InvalidValue("spec.clusterIPs[0]", "None",
                     "may not be set to 'None' for " + spec["type"].text() + " services"));
  }
  if (external) {
    const FieldRef name = spec["externalName"];
    if (spec["clusterIPs"].exists()) {
      errors.push_back(
          ForbiddenField("spec.clusterIPs", "may not be set for ExternalName services"));
    }
    std::string host = name.text();
    if (host.ends_with('.')) host.pop_back();
    if (host.empty()) {
      errors.push_back(Required(name.path(), ""));
    } else if (const NameError detail = ValidateDnsSubdomain(host)) {
      errors.push_back(InvalidValue(name.path(), host, *detail));
    }
  }
  ValidateServicePorts(ports, errors);
  ValidateLabels(spec["selector"], errors);
  ValidateEnum(spec["sessionAffinity"], {"ClientIP", "None"}, errors);
  ValidateClusterIps(spec, errors);
  for (const FieldRef& address : spec["externalIPs"].items()) ValidateIp(address, errors);
  ValidateEnum(spec["type"], {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}, errors);
  for (const FieldRef& port : ports.items()) {
    if (!spec["type"].is("ClusterIP") || port["nodePort"].number() == 0) continue;
    errors.push_back(
        ForbiddenField(port["nodePort"].path(), "may not be used when `type` is 'ClusterIP'"));
  }
  ValidatePortsAreUnique(ports, errors);
  ValidateLoadBalancer(spec, errors);
  ValidateTrafficPolicies(spec, errors);
}

void ValidateServiceUpdate(const json& before, const json& after, FieldErrors& errors) {
  const FieldRef old_spec = FieldRef(before)["spec"];
  const FieldRef new_spec = FieldRef(after)["spec"];
  if (old_spec["type"].is("ExternalName") || new_spec["type"].is("ExternalName")) return;
  if (new_spec["clusterIP"].is(old_spec["clusterIP"].value())) return;
  errors.push_back(InvalidValue("spec.clusterIPs[0]", new_spec["clusterIPs"].value(),
                                "may not change once set"));
}

}  // namespace

void AddServiceStrategies(StrategiesByKind& strategies) {
  KindStrategy& services = strategies["services"];
  services.validate_name = &ValidateDns1035Label;
  services.allows_create_on_update = true;
  services.assign_fields = &AssignServiceFields;
  services.validate = &ValidateService;
  services.validate_update = &ValidateServiceUpdate;
}

}  // namespace kopp::apiserver
