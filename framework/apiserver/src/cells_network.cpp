// The cells of Services and of what stands before and behind them.
#include "cells.hpp"

#include <set>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kShownOfMany = 3;

/// "a,b,c + 2 more...".
std::string FirstOf(std::vector<std::string> words) {
  const std::size_t all = words.size();
  if (all <= kShownOfMany) return Joined(words);
  words.resize(kShownOfMany);
  return Joined(words) + " + " + std::to_string(all - kShownOfMany) + " more...";
}

std::vector<std::string> Strings(const json& list) {
  std::vector<std::string> strings;
  for (const json& each : list) strings.push_back(each);
  return strings;
}

/// Where a load balancer is reached: addresses or names.
std::vector<std::string> LoadBalancer(const json& object) {
  std::set<std::string> places;
  for (const json& ingress : At(object, "/status/loadBalancer/ingress")) {
    const std::string ip = TextAt(ingress, "/ip");
    places.insert(ip.empty() ? TextAt(ingress, "/hostname") : ip);
  }
  places.erase("");
  return {places.begin(), places.end()};
}

json ClusterIp(const json& service, const std::string&) {
  return TextAt(service, "/spec/clusterIPs/0", TextAt(service, "/spec/clusterIP", "<none>"));
}

json ExternalIp(const json& service, const std::string&) {
  const std::string type = TextAt(service, "/spec/type");
  if (type == "ExternalName") return TextAt(service, "/spec/externalName");
  const bool is_balanced = type == "LoadBalancer";
  std::vector<std::string> places =
      is_balanced ? LoadBalancer(service) : std::vector<std::string>();
  for (std::string& ip : Strings(At(service, "/spec/externalIPs"))) {
    places.push_back(std::move(ip));
  }
  return Or(Joined(places), is_balanced ? "<pending>" : "<none>");
}

json Ports(const json& service, const std::string&) {
  std::vector<std::string> words;
  for (const json& port : At(service, "/spec/ports")) {
    const std::int64_t on_nodes = NumberAt(port, "/nodePort");
    words.push_back(TextAt(port, "/port") + (on_nodes > 0 ? ':' + std::to_string(on_nodes) : "") +
                    '/' + TextAt(port, "/protocol", "TCP"));
  }
  return Or(Joined(words), "<none>");
}

json EndpointsInWords(const json& endpoints, const std::string&) {
  const json& subsets = At(endpoints, "/subsets");
  if (subsets.empty()) return "<none>";
  std::vector<std::string> words;
  for (const json& subset : subsets) {
    static const json no_port = json::array({json::object()});
    const json& ports = At(subset, "/ports");
    for (const json& port : ports.empty() ? no_port : ports) {
      for (const json& address : At(subset, "/addresses")) {
        const std::string ip = TextAt(address, "/ip");
        const std::string number = TextAt(port, "/port");
        const bool is_v6 = ip.find(':') != std::string::npos;
        words.push_back(number.empty() ? ip : (is_v6 ? '[' + ip + ']' : ip) + ':' + number);
      }
    }
  }
  return FirstOf(std::move(words));
}

json Hosts(const json& ingress, const std::string&) {
  std::vector<std::string> hosts;
  for (const json& rule : At(ingress, "/spec/rules")) {
    if (std::string host = TextAt(rule, "/host"); !host.empty()) hosts.push_back(std::move(host));
  }
  return Or(FirstOf(std::move(hosts)), "*");
}

json Address(const json& ingress, const std::string&) { return Joined(LoadBalancer(ingress)); }

json IngressPorts(const json& ingress, const std::string&) {
  return At(ingress, "/spec/tls").empty() ? "80" : "80, 443";
}

/// "Kind.group/name".
json Parameters(const json& ingress_class, const std::string&) {
  const json& parameters = At(ingress_class, "/spec/parameters");
  if (parameters.is_null()) return "<none>";
  const std::string group = TextAt(parameters, "/apiGroup");
  return TextAt(parameters, "/kind") + (group.empty() ? "" : '.' + group) + '/' +
         TextAt(parameters, "/name");
}

}  // namespace

CellsOfKinds NetworkCells() {
  return {
      {"Service",
       {Name(), Text("/spec/type"), ClusterIp, ExternalIp, Ports, Age(), Labels("/spec/selector")}},
      {"Endpoints", {Name(), EndpointsInWords, Age()}},
      {"Ingress",
       {Name(), Text("/spec/ingressClassName", "<none>"), Hosts, Address, IngressPorts, Age()}},
      {"IngressClass", {Name(), Text("/spec/controller"), Parameters, Age()}},
      {"NetworkPolicy", {Name(), Selects("/spec/podSelector"), Age()}},
  };
}

}  // namespace kopp::apiserver
