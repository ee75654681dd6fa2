// The cells of Services, Endpoints, Ingresses and NetworkPolicies.
#include "printers/printers.hpp"

#include <set>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxShown = 3;

/// Joins the first three words: "a,b,c + 2 more...".
std::string JoinFirst(std::vector<std::string> words) {
  const std::size_t all = words.size();
  if (all <= kMaxShown) return Join(words);
  words.resize(kMaxShown);
  return Join(words) + " + " + std::to_string(all - kMaxShown) + " more...";
}

std::vector<std::string> Strings(const json& list) {
  std::vector<std::string> strings;
  for (const json& each : list) strings.push_back(each);
  return strings;
}

/// Returns the addresses of a load balancer: IP addresses or host names.
std::vector<std::string> LoadBalancerAddresses(const json& object) {
  std::set<std::string> addresses;
  for (const json& ingress : ValueAt(object, "/status/loadBalancer/ingress")) {
    const std::string ip = StringAt(ingress, "/ip");
    addresses.insert(ip.empty() ? StringAt(ingress, "/hostname") : ip);
  }
  addresses.erase("");
  return {addresses.begin(), addresses.end()};
}

json ClusterIp(const json& service, const std::string&) {
  return StringAt(service, "/spec/clusterIPs/0", StringAt(service, "/spec/clusterIP", "<none>"));
}

json ExternalIp(const json& service, const std::string&) {
  const std::string type = StringAt(service, "/spec/type");
  if (type == "ExternalName") return StringAt(service, "/spec/externalName");
  const bool has_load_balancer = type == "LoadBalancer";
  std::vector<std::string> addresses =
      has_load_balancer ? LoadBalancerAddresses(service) : std::vector<std::string>();
  for (std::string& ip : Strings(ValueAt(service, "/spec/externalIPs"))) {
    addresses.push_back(std::move(ip));
  }
  return OrDefault(Join(addresses), has_load_balancer ? "<pending>" : "<none>");
}

json Ports(const json& service, const std::string&) {
  std::vector<std::string> words;
  for (const json& port : ValueAt(service, "/spec/ports")) {
    const std::int64_t node_port = IntegerAt(port, "/nodePort");
    words.push_back(StringAt(port, "/port") +
                    (node_port > 0 ? ':' + std::to_string(node_port) : "") + '/' +
                    StringAt(port, "/protocol", "TCP"));
  }
  return OrDefault(Join(words), "<none>");
}

json EndpointAddresses(const json& endpoints, const std::string&) {
  const json& subsets = ValueAt(endpoints, "/subsets");
  if (subsets.empty()) return "<none>";
  std::vector<std::string> words;
  for (const json& subset : subsets) {
    static const json no_port = json::array({json::object()});
    const json& ports = ValueAt(subset, "/ports");
    for (const json& port : ports.empty() ? no_port : ports) {
      for (const json& address : ValueAt(subset, "/addresses")) {
        const std::string ip = StringAt(address, "/ip");
        const std::string number = StringAt(port, "/port");
        const bool is_v6 = ip.find(':') != std::string::npos;
        words.push_back(number.empty() ? ip : (is_v6 ? '[' + ip + ']' : ip) + ':' + number);
      }
    }
  }
  return JoinFirst(std::move(words));
}

json SlicePorts(const json& slice, const std::string&) {
  std::vector<std::string> words;
  for (const json& port : ValueAt(slice, "/ports")) {
    words.push_back(StringAt(port, "/port", StringAt(port, "/name", "*")));
  }
  return OrDefault(JoinFirst(std::move(words)), "<unset>");
}

json SliceEndpoints(const json& slice, const std::string&) {
  std::vector<std::string> words;
  for (const json& endpoint : ValueAt(slice, "/endpoints")) {
    for (std::string& address : Strings(ValueAt(endpoint, "/addresses"))) {
      words.push_back(std::move(address));
    }
  }
  return OrDefault(JoinFirst(std::move(words)), "<unset>");
}

json Hosts(const json& ingress, const std::string&) {
  std::vector<std::string> hosts;
  for (const json& rule : ValueAt(ingress, "/spec/rules")) {
    if (std::string host = StringAt(rule, "/host"); !host.empty()) hosts.push_back(std::move(host));
  }
  return OrDefault(JoinFirst(std::move(hosts)), "*");
}

json Address(const json& ingress, const std::string&) {
  return Join(LoadBalancerAddresses(ingress));
}

json IngressPorts(const json& ingress, const std::string&) {
  return ValueAt(ingress, "/spec/tls").empty() ? "80" : "80, 443";
}

/// Returns the parameters of an IngressClass: "Kind.group/name".
json Parameters(const json& ingress_class, const std::string&) {
  const json& parameters = ValueAt(ingress_class, "/spec/parameters");
  if (parameters.is_null()) return "<none>";
  const std::string group = StringAt(parameters, "/apiGroup");
  return StringAt(parameters, "/kind") + (group.empty() ? "" : '.' + group) + '/' +
         StringAt(parameters, "/name");
}

}  // namespace

CellsByKind NetworkCells() {
  return {
      {"Service",
       {Name(), Text("/spec/type"), ClusterIp, ExternalIp, Ports, Age(), Labels("/spec/selector")}},
      {"Endpoints", {Name(), EndpointAddresses, Age()}},
      {"EndpointSlice", {Name(), Text("/addressType"), SlicePorts, SliceEndpoints, Age()}},
      {"Ingress",
       {Name(), Text("/spec/ingressClassName", "<none>"), Hosts, Address, IngressPorts, Age()}},
      {"IngressClass", {Name(), Text("/spec/controller"), Parameters, Age()}},
      {"NetworkPolicy", {Name(), LabelSelectorCell("/spec/podSelector"), Age()}},
  };
}

}  // namespace kopp::apiserver
