#include "http/service_resolver.hpp"

#include "schema/accessors.hpp"
#include "schema/go_quoted.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using detail::Endpoint;
using nlohmann::json;

Endpoint AddressOf(const std::string& host, std::int64_t port) {
  return {.tls = true, .host = host, .port = static_cast<std::uint16_t>(port), .base_path = {}};
}

/// Returns the number of the port with this name in a list of ports, or nullopt.
std::optional<std::int64_t> PortNamed(const json& ports, const std::string& name) {
  const auto found = std::ranges::find_if(
      ports, [&](const json& port) { return StringField(port, "name") == name; });
  return found == ports.end() ? std::nullopt : std::optional(IntegerAt(*found, "/port"));
}

/// Returns the address of a ready endpoint of a slice.
std::optional<Endpoint> ReadyEndpoint(const json& slice, const std::string& port_name) {
  const auto port = PortNamed(Field(slice, "ports"), port_name);
  if (!port) return std::nullopt;
  for (const json& endpoint : Field(slice, "endpoints")) {
    const auto addresses = StringListField(endpoint, "addresses");
    const json& ready = ValueAt(endpoint, "/conditions/ready");
    if (ready != false && !addresses.empty()) return AddressOf(addresses.front(), *port);
  }
  return std::nullopt;
}

std::optional<Endpoint> FindInSlices(ServerContext& context, const ObjectKey& service,
                                     const std::string& port_name) {
  const auto slices = context.store().List("endpointslices.discovery.k8s.io", service.ns);
  for (const auto& [key, stored] : slices.objects) {
    const json slice = json::parse(stored->text);
    const json& labels = ValueAt(slice, "/metadata/labels");
    if (StringField(labels, "kubernetes.io/service-name") != service.name) continue;
    if (auto address = ReadyEndpoint(slice, port_name)) return address;
  }
  return std::nullopt;
}

/// Returns the port of a Service with this number. Throws std::runtime_error if there is none.
const json& FindPort(const json& service, int number) {
  const json& ports = ValueAt(service, "/spec/ports");
  const auto found = std::ranges::find_if(
      ports, [&](const json& port) { return IntegerAt(port, "/port") == number; });
  if (found != ports.end()) return *found;
  throw std::runtime_error("no service port " + std::to_string(number) + " found for service " +
                           GoQuoted(StringAt(service, "/metadata/name")));
}

}  // namespace

ServiceResolver::ServiceResolver(ServerContext& context,
                                 const std::vector<testing::ServiceAddress>& known)
    : context_(context) {
  for (const testing::ServiceAddress& each : known) {
    known_[{each.service, each.port}] = detail::ParseEndpoint("https://" + each.address);
  }
}

Endpoint ServiceResolver::Resolve(const ObjectKey& service, int port) const {
  const auto known = known_.find({service, port});
  if (known != known_.end()) return known->second;
  const StoredObjectPtr stored = context_.store().Get("services", service);
  if (stored == nullptr)
    throw std::runtime_error("service " + GoQuoted(service.name) + " not found");
  const json object = json::parse(stored->text);
  if (StringAt(object, "/spec/type") == "ExternalName") {
    return AddressOf(StringAt(object, "/spec/externalName"), port);
  }
  const std::string port_name = StringField(FindPort(object, port), "name");
  if (auto address = FindInSlices(context_, service, port_name)) return *address;
  throw std::runtime_error("no endpoints available for service " + GoQuoted(service.name));
}

}  // namespace kopp::apiserver
