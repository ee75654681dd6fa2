// The values that the server chooses for a Service: addresses, ports and IP families.
#include "kinds/service_allocation.hpp"

#include "api/status.hpp"
#include "fields/address_validation.hpp"
#include "kinds/service_rules.hpp"
#include "schema/field_validation.hpp"
#include "storage/server_context.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

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

bool IsNodePort(std::int64_t port) {
  return port >= kFirstNodePort && port < kFirstNodePort + kNodePorts;
}

/// Returns the reason why a requested node port cannot be used, or "".
std::string NodePortProblem(std::int64_t port, const std::set<int>& allocated) {
  if (!IsNodePort(port)) {
    return "provided port is not in the valid range. The range of valid ports is 30000-32767";
  }
  return allocated.contains(static_cast<int>(port)) ? "provided port is already allocated" : "";
}

[[noreturn]] void RejectService(const json& service, FieldError error) {
  Resource services;
  services.kind = "Service";
  throw Invalid(services, service.at("metadata").value("name", ""), {std::move(error)});
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

/// Removes the fields that the new type of a Service does not have, unless the update changes them.
void DropFieldsOfOldType(const json& old_spec, json& spec) {
  const auto drop = [&](bool (*needs)(const FieldRef&), const char* field) {
    const FieldRef before(old_spec);
    const FieldRef after(spec);
    if (needs(before) && !needs(after) && after[field].is(before[field].value())) spec.erase(field);
  };
  const auto is_load_balancer = [](const FieldRef& any) { return any["type"].is("LoadBalancer"); };
  drop(&NeedsTrafficPolicy, "externalTrafficPolicy");
  drop(&NeedsHealthCheckPort, "healthCheckNodePort");
  drop(is_load_balancer, "allocateLoadBalancerNodePorts");
  drop(is_load_balancer, "loadBalancerClass");
  const auto is_internal = [](const FieldRef& any) { return !IsExternal(any.value()); };
  for (const char* field :
       {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"})
    drop(is_internal, field);
  const auto has_node_ports = [&](const json& any) {
    return is_load_balancer(FieldRef(any)) || any.value("type", "") == "NodePort";
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

std::set<std::int64_t> NodePortsOf(const json& spec) {
  std::set<std::int64_t> node_ports;
  for (const FieldRef& port : FieldRef(spec)["ports"].items())
    node_ports.insert(port["nodePort"].number());
  node_ports.erase(0);
  return node_ports;
}

/// Sets the node ports that an update omits to those of the old ports with the same names, unless
/// the update uses them for other ports.
void KeepNodePorts(const json& old_spec, json& spec) {
  const std::set<std::int64_t> used = NodePortsOf(spec);
  std::map<std::string, std::int64_t> old_node_ports;  // by name
  for (const FieldRef& port : FieldRef(old_spec)["ports"].items())
    old_node_ports[port["name"].text()] = port["nodePort"].number();
  for (std::size_t i = 0; i < FieldRef(spec)["ports"].size(); ++i) {
    json& port = spec["ports"][i];
    const auto old = old_node_ports.find(FieldRef(port)["name"].text());
    if (port.contains("nodePort") || old == old_node_ports.end()) continue;
    if (old->second != 0 && !used.contains(old->second)) port["nodePort"] = old->second;
  }
}

/// Keeps the allocated values that an update omits.
void KeepAllocatedFields(const json& old_spec, json& spec) {
  if (IsExternal(old_spec) || IsExternal(spec)) return;
  if (NeedsHealthCheckPort(FieldRef(spec)) && !spec.contains("healthCheckNodePort") &&
      old_spec.contains("healthCheckNodePort")) {
    spec["healthCheckNodePort"] = old_spec["healthCheckNodePort"];
  }
  for (const char* field : {"clusterIP", "clusterIPs", "ipFamilyPolicy"}) {
    if (!spec.contains(field) && old_spec.contains(field)) spec[field] = old_spec[field];
  }
  if (HasNodePorts(old_spec) && HasNodePorts(spec)) KeepNodePorts(old_spec, spec);
}

/// A client may change only one of clusterIP and clusterIPs: the other one follows.
void NormalizeClusterIps(const json& old_spec, json& spec) {
  if (IsExternal(old_spec) || IsExternal(spec) || !spec.contains("clusterIP")) return;
  const bool is_changed = spec["clusterIP"] != old_spec.value("clusterIP", "");
  if (is_changed && FieldRef(spec)["clusterIPs"].is(FieldRef(old_spec)["clusterIPs"].value()))
    spec["clusterIPs"] = json::array({spec["clusterIP"]});
}

/// `has_address`: the Service had an address before. It must keep it, which is validated later.
void AssignClusterIp(json& service, const AllocatedValues& allocated, bool has_address) {
  json& spec = service["spec"];
  if (!spec.contains("clusterIP")) {
    if (FieldRef(spec)["clusterIPs"].size() > 0) return;  // rejected later
    spec["clusterIP"] = AllocateClusterIp(service, allocated);
  }
  const std::string address = spec["clusterIP"];
  if (!has_address && address != "None" && allocated.addresses.contains(address)) {
    RejectService(service, InvalidValue("spec.clusterIPs", json::array({address}),
                                        "failed to allocate IP " + address +
                                            ": provided IP is already allocated"));
  }
  if (!spec.contains("clusterIPs")) spec["clusterIPs"] = json::array({address});
}

/// Adds the IP families that the addresses have, and those that the policy requires. Adds none for
/// an IPv6 address, which is rejected later.
void AssignIpFamilies(const json& before, json& service) {
  json& spec = service["spec"];
  const bool has_any_family = spec.value("clusterIP", "") == "None" && !spec.contains("selector");
  if (!spec.contains("ipFamilyPolicy"))
    spec["ipFamilyPolicy"] = has_any_family ? "RequireDualStack" : "SingleStack";
  const bool is_single_stack = spec["ipFamilyPolicy"] == "SingleStack";
  json families = spec.value("ipFamilies", json::array());
  const FieldRef old_families = FieldRef(before)["spec"]["ipFamilies"];
  if (is_single_stack && families.size() > 1 && old_families.is(families)) {
    families.erase(1);
  } else if (!is_single_stack && !families.empty() && families.size() < old_families.size()) {
    RejectService(service,
                  InvalidValue("spec.ipFamilyPolicy", spec["ipFamilyPolicy"],
                               "must be 'SingleStack' to release the secondary IP family"));
  }
  const std::vector<FieldRef> ips = FieldRef(spec)["clusterIPs"].items();
  for (std::size_t i = families.size(); i < ips.size() && !ips[i].is("None"); ++i) {
    if (IsIpv6Address(ips[i].text())) {
      spec["ipFamilies"] = std::move(families);
      return;
    }
    if (families.empty()) families.push_back("IPv4");
  }
  if (families.empty()) families.push_back("IPv4");
  if (has_any_family && families.size() == 1 && !is_single_stack)
    families.push_back(families[0] == "IPv4" ? "IPv6" : "IPv4");
  spec["ipFamilies"] = std::move(families);
}

void AssignHealthCheckPort(json& service, AllocatedValues& allocated) {
  json& spec = service["spec"];
  if (!NeedsHealthCheckPort(FieldRef(spec))) return;
  if (!spec.contains("healthCheckNodePort"))
    spec["healthCheckNodePort"] = AllocateNodePort(service, allocated);
  const std::int64_t port = spec["healthCheckNodePort"].get<std::int64_t>();
  if (const std::string problem = NodePortProblem(port, allocated.node_ports); !problem.empty()) {
    const std::string reason =
        fmt::format("failed to allocate requested HealthCheck NodePort {}: {}", port, problem);
    throw StatusError(500, "InternalError", "Internal error occurred: " + reason,
                      {{"causes", {{{"message", reason}}}}});
  }
  allocated.node_ports.insert(static_cast<int>(port));
}

/// Reserves the node port that `spec.ports[index]` requests. Throws StatusError if it is not free.
void ReserveNodePort(const json& service, std::size_t index, std::int64_t number,
                     AllocatedValues& allocated) {
  const std::string problem = NodePortProblem(number, allocated.node_ports);
  if (!problem.empty())
    RejectService(service,
                  InvalidValue(fmt::format("spec.ports[{}].nodePort", index), number, problem));
  allocated.node_ports.insert(static_cast<int>(number));
}

/// Returns a free node port, which it reserves.
std::int64_t ReserveAnyNodePort(const json& service, AllocatedValues& allocated) {
  const int number = AllocateNodePort(service, allocated);
  allocated.node_ports.insert(number);
  return number;
}

/// Returns the first node port that is requested for a port number, or 0.
std::int64_t RequestedNodePort(const json& spec, std::int64_t port_number) {
  for (const FieldRef& port : FieldRef(spec)["ports"].items()) {
    if (port["port"].number() == port_number && port["nodePort"].number() != 0)
      return port["nodePort"].number();
  }
  return 0;
}

/// Assigns the node ports of a new Service. Ports with the same number share a node port, unless
/// they request different ones.
void AssignNewNodePorts(json& service, AllocatedValues& allocated) {
  json& spec = service["spec"];
  std::map<std::int64_t, std::int64_t> node_ports;  // by port number
  for (std::size_t i = 0; i < FieldRef(spec)["ports"].size(); ++i) {
    json& port = spec["ports"][i];
    const std::int64_t requested = FieldRef(port)["nodePort"].number();
    if (requested == 0 && !HasNodePorts(spec)) continue;
    const std::int64_t port_number = FieldRef(port)["port"].number();
    std::int64_t& shared = node_ports[port_number];
    if (shared != 0) {
      if (requested == 0) port["nodePort"] = shared;
      if (requested != 0 && requested != shared) ReserveNodePort(service, i, requested, allocated);
      continue;
    }
    shared = RequestedNodePort(spec, port_number);
    if (shared != 0) ReserveNodePort(service, i, shared, allocated);
    if (shared == 0) shared = ReserveAnyNodePort(service, allocated);
    port["nodePort"] = shared;
  }
}

/// Assigns the node ports of an updated Service. Ports with different protocols may share one.
void UpdateNodePorts(const json& old_spec, json& service, AllocatedValues& allocated) {
  json& spec = service["spec"];
  std::set<std::int64_t> own = NodePortsOf(old_spec);
  allocated.node_ports.insert(own.begin(), own.end());
  std::set<std::pair<std::string, std::int64_t>> seen;
  for (std::size_t i = 0; i < FieldRef(spec)["ports"].size(); ++i) {
    json& port = spec["ports"][i];
    std::int64_t number = FieldRef(port)["nodePort"].number();
    if (number == 0 && !HasNodePorts(spec)) continue;
    if (number == 0) {
      number = ReserveAnyNodePort(service, allocated);
      port["nodePort"] = number;
    } else if (own.insert(number).second) {
      ReserveNodePort(service, i, number, allocated);
    }
    const std::string protocol = FieldRef(port)["protocol"].text();
    if (!seen.emplace(protocol, number).second)
      throw StatusError(500, "", fmt::format("duplicate nodePort: {{{} {}}}", protocol, number));
  }
}

void AssignNodePorts(const json& before, json& service, AllocatedValues& allocated) {
  const std::string type = service["spec"].value("type", "");
  if (type != "NodePort" && type != "LoadBalancer") return;
  if (before.is_null()) return AssignNewNodePorts(service, allocated);
  UpdateNodePorts(before.at("spec"), service, allocated);
}

}  // namespace

void AssignServiceFields(ServerContext& context, const json& before, json& service) {
  json& spec = service["spec"];
  if (!before.is_null()) {
    DropFieldsOfOldType(before.at("spec"), spec);
    KeepAllocatedFields(before.at("spec"), spec);
    NormalizeClusterIps(before.at("spec"), spec);
  }
  if (before.is_null() && spec.contains("clusterIP") && !spec.contains("clusterIPs"))
    spec["clusterIPs"] = json::array({spec["clusterIP"]});
  if (IsExternal(spec)) return;
  AllocatedValues allocated = AllocatedByOthers(context, service);
  AssignClusterIp(service, allocated, !before.is_null() && !IsExternal(before.at("spec")));
  AssignIpFamilies(before, service);
  // A port that an update keeps must not be allocated again.
  if (!before.is_null()) AssignHealthCheckPort(service, allocated);
  AssignNodePorts(before, service, allocated);
  if (before.is_null()) AssignHealthCheckPort(service, allocated);
}

}  // namespace kopp::apiserver
