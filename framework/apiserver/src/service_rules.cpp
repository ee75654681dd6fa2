#include "checks.hpp"
#include "rules_by_kind.hpp"
#include "world.hpp"

#include <set>
#include <string>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kNetwork = "10.0.0.";  // a /24; the first address is the API server's own
constexpr int kAddresses = 254;
constexpr int kFirstNodePort = 30000;
constexpr int kNodePorts = 2768;

bool IsExternal(const json& spec) { return spec.value("type", "") == "ExternalName"; }
bool HasNodePorts(const json& spec) {
  const std::string type = spec.value("type", "");
  return type == "NodePort" ||
         (type == "LoadBalancer" && spec.value("allocateLoadBalancerNodePorts", true));
}

/// What the other Services have. Two that are made at the same moment may get the same.
struct Taken {
  std::set<std::string> addresses{};
  std::set<int> node_ports{};
};
Taken TakenByOthers(World& world, const json& service) {
  Taken taken;
  const json& uid = service.at("metadata").at("uid");
  for (const auto& [key, stored] : world.store().List("services", "").objects) {
    const json other = json::parse(stored->text);
    if (other.at("metadata").at("uid") == uid) continue;
    const Part spec = Part(other)["spec"];
    taken.addresses.insert(spec["clusterIP"].text());
    for (const Part& port : spec["ports"].items()) {
      taken.node_ports.insert(static_cast<int>(port["nodePort"].number()));
    }
  }
  return taken;
}

/// Where to begin to look for something free, for one Service always the same.
int Start(const json& service) {
  const std::string uid = service.at("metadata").at("uid").get<std::string>();
  return std::stoi(uid.substr(0, 6), nullptr, 16);
}

Refusal NoneFree(const std::string& what) {
  return {500, "InternalError",
          "Internal error occurred: failed to allocate a " + what + ": range is full"};
}

std::string FreeAddress(const json& service, const Taken& taken) {
  for (int i = 0; i < kAddresses - 1; ++i) {
    const int last = 2 + (Start(service) + i) % (kAddresses - 1);
    std::string address = kNetwork + std::to_string(last);
    if (!taken.addresses.contains(address)) return address;
  }
  throw NoneFree("serviceIP");
}

int FreeNodePort(const json& service, const Taken& taken) {
  for (int i = 0; i < kNodePorts; ++i) {
    const int port = kFirstNodePort + (Start(service) + i) % kNodePorts;
    if (!taken.node_ports.contains(port)) return port;
  }
  throw NoneFree("nodePort");
}

/// What an update leaves out stays.
void Keep(const json& was, json& spec) {
  if (IsExternal(was) || IsExternal(spec)) return;
  for (const char* field : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
    if (!spec.contains(field) && was.contains(field)) spec[field] = was[field];
  }
  if (!HasNodePorts(was) || !HasNodePorts(spec) || !spec.contains("ports")) return;
  for (json& port : spec["ports"]) {
    for (const Part& old : Part(was)["ports"].items()) {
      const bool same = old["port"].is(port.value("port", json())) &&
                        old["protocol"].is(port.value("protocol", json()));
      if (same && !port.contains("nodePort")) port["nodePort"] = old["nodePort"].value();
    }
  }
}

void Assign(World& world, const json& before, json& service) {
  json& spec = service["spec"];
  if (!before.is_null()) Keep(before.at("spec"), spec);
  if (IsExternal(spec)) return;
  Taken taken = TakenByOthers(world, service);
  if (!spec.contains("clusterIP")) {
    const Part given = Part(spec)["clusterIPs"];
    spec["clusterIP"] = given.size() > 0 ? given.value()[0] : json(FreeAddress(service, taken));
  } else if (taken.addresses.contains(spec["clusterIP"]) && spec["clusterIP"] != "None") {
    const std::string address = spec["clusterIP"];
    Resource services;
    services.kind = "Service";
    throw Invalid(
        services, service["metadata"].value("name", ""),
        {InvalidValue("spec.clusterIPs", json::array({address}),
                      "failed to allocate IP " + address + ": provided IP is already allocated")});
  }
  if (!spec.contains("clusterIPs")) spec["clusterIPs"] = json::array({spec["clusterIP"]});
  if (!spec.contains("ipFamilies")) spec["ipFamilies"] = json::array({"IPv4"});
  if (!spec.contains("ipFamilyPolicy")) spec["ipFamilyPolicy"] = "SingleStack";
  if (!HasNodePorts(spec) || !spec.contains("ports")) return;
  for (json& port : spec["ports"]) {
    if (!port.contains("nodePort")) port["nodePort"] = FreeNodePort(service, taken);
    taken.node_ports.insert(port["nodePort"].get<int>());
  }
}

void CheckPorts(const Part& ports, Causes& causes) {
  std::set<std::string> names;
  for (const Part& port : ports.items()) {
    const Part name = port["name"];
    if (!name.text().empty()) {
      CheckName(name, &NotADnsLabel, causes);
      CheckNew(name, names, causes);
    } else if (ports.size() > 1) {
      causes.push_back(Required(name.path(), ""));
    }
    CheckPort(port["port"], causes);
    CheckOneOf(port["protocol"], {"SCTP", "TCP", "UDP"}, causes);
    const Part target = port["targetPort"];
    if (target.value().is_number() && !target.is(port["port"].value())) CheckPort(target, causes);
  }
}

/// Two ports of one number and protocol.
void CheckPortsAreDifferent(const Part& ports, Causes& causes) {
  std::set<json> seen;
  for (const Part& port : ports.items()) {
    const json key{port["port"].value(), port["protocol"].value()};
    if (seen.insert(key).second) continue;
    causes.push_back({"FieldValueDuplicate",
                      R"(Duplicate value: {"Name":"","Protocol":)" + key[1].dump() +
                          R"(,"AppProtocol":null,"Port":)" + key[0].dump() +
                          R"(,"TargetPort":0,"NodePort":0})",
                      port.path()});
  }
}

void Check(const json& object, Causes& causes) {
  const Part spec = Part(object)["spec"];
  const Part ports = spec["ports"];
  const bool external = spec["type"].is("ExternalName");
  const bool headless = spec["clusterIP"].is("None");
  if (ports.size() == 0 && !headless && !external) causes.push_back(Required(ports.path(), ""));
  if (headless && (spec["type"].is("LoadBalancer") || spec["type"].is("NodePort"))) {
    causes.push_back(
        InvalidValue("spec.clusterIPs[0]", "None",
                     "may not be set to 'None' for " + spec["type"].text() + " services"));
  }
  if (external) {
    const Part name = spec["externalName"];
    if (spec["clusterIPs"].exists()) {
      causes.push_back(
          ForbiddenField("spec.clusterIPs", "may not be set for ExternalName services"));
    }
    if (CheckGiven(name, causes)) CheckName(name, &NotADnsSubdomain, causes);
  }
  CheckPorts(ports, causes);
  CheckLabels(spec["selector"], causes);
  CheckOneOf(spec["sessionAffinity"], {"ClientIP", "None"}, causes);
  CheckOneOf(spec["type"], {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"}, causes);
  for (const Part& port : ports.items()) {
    if (!spec["type"].is("ClusterIP") || port["nodePort"].number() == 0) continue;
    causes.push_back(
        ForbiddenField(port["nodePort"].path(), "may not be used when `type` is 'ClusterIP'"));
  }
  CheckPortsAreDifferent(ports, causes);
}

void CheckServiceChange(const json& before, const json& after, Causes& causes) {
  const Part was = Part(before)["spec"];
  const Part is = Part(after)["spec"];
  if (was["type"].is("ExternalName") || is["type"].is("ExternalName")) return;
  if (is["clusterIP"].is(was["clusterIP"].value())) return;
  causes.push_back(
      InvalidValue("spec.clusterIPs[0]", is["clusterIPs"].value(), "may not change once set"));
}

}  // namespace

void AddServiceRules(RulesByKind& rules) {
  KindRules& services = rules["services"];
  services.is_name = &NotADns1035Label;
  services.created_by_update = true;
  services.assign = &Assign;
  services.check = &Check;
  services.check_change = &CheckServiceChange;
}

}  // namespace kopp::apiserver
