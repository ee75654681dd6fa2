// Endpoints and EndpointSlices.
#include "kinds/endpoints_validation.hpp"

#include "fields/address_validation.hpp"
#include "schema/field_validation.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

void ValidateEndpointAddress(const FieldRef& address, FieldErrors& errors) {
  const FieldRef ip = address["ip"];
  ValidateIpAddress(ip, errors);
  if (address["hostname"].exists()) ValidateName(address["hostname"], &ValidateDnsLabel, errors);
  if (address["nodeName"].exists())
    ValidateName(address["nodeName"], &ValidateDnsSubdomain, errors);
  ValidateNonSpecialIp(ip, errors);
}

void ValidateAppProtocol(const FieldRef& protocol, FieldErrors& errors) {
  if (!protocol.exists()) return;
  for (const std::string& detail : ValidateQualifiedName(protocol.text())) {
    errors.push_back(InvalidValue(protocol.path(), protocol.text(), detail));
  }
}

void ValidateEndpointPort(const FieldRef& port, bool needs_name, FieldErrors& errors) {
  if (port["name"].exists()) {
    ValidateName(port["name"], &ValidateDnsLabel, errors);
  } else if (needs_name) {
    ValidateRequired(port["name"], errors);
  }
  ValidatePort(port["port"], errors);
  ValidateEnum(port["protocol"], {"SCTP", "TCP", "UDP"}, errors);
  ValidateAppProtocol(port["appProtocol"], errors);
}

void ValidateEndpoints(const json& object, FieldErrors& errors) {
  for (const FieldRef& subset : FieldRef(object)["subsets"].items()) {
    if (subset["addresses"].size() + subset["notReadyAddresses"].size() == 0) {
      errors.push_back(Required(subset.path(), "must specify `addresses` or `notReadyAddresses`"));
    }
    for (const char* list : {"addresses", "notReadyAddresses"}) {
      for (const FieldRef& address : subset[list].items()) ValidateEndpointAddress(address, errors);
    }
    const FieldRef ports = subset["ports"];
    for (const FieldRef& port : ports.items()) ValidateEndpointPort(port, ports.size() > 1, errors);
  }
}

/// Requires an IP address of the family of the slice.
void ValidateSliceAddress(const FieldRef& address, const std::string& list_path, bool v4,
                          FieldErrors& errors) {
  const std::string text = address.text();
  const std::size_t error_count = errors.size();
  ValidateIpAddress(address, errors);
  if (errors.size() > error_count) return;
  if (IsIpv4Address(text) != v4) {
    errors.push_back(
        InvalidValue(list_path, text, v4 ? "must be an IPv4 address" : "must be an IPv6 address"));
  }
  ValidateNonSpecialIp(address, errors);
}

void ValidateDomainName(const FieldRef& address, FieldErrors& errors) {
  if (!ValidateRequired(address, errors)) return;
  std::string name = address.text();
  if (name.back() == '.') name.pop_back();
  if (const NameError detail = ValidateDnsSubdomain(name)) {
    errors.push_back(InvalidValue(address.path(), address.text(), *detail));
  } else if (name.find('.') == std::string::npos) {
    errors.push_back(
        InvalidValue(address.path(), address.text(),
                     "should be a domain with at least two segments separated by dots"));
  }
}

void ValidateHints(const FieldRef& hints, FieldErrors& errors) {
  std::set<std::string> zones;
  for (const FieldRef& zone : hints["forZones"].items()) {
    ValidateUnique(zone["name"], zones, errors);
    ValidateName(zone["name"], &ValidateLabelValue, errors);
  }
  std::set<std::string> nodes;
  for (const FieldRef& node : hints["forNodes"].items()) {
    ValidateUnique(node["name"], nodes, errors);
    ValidateName(node["name"], &ValidateDnsSubdomain, errors);
  }
}

void ValidateSliceEndpoint(const FieldRef& endpoint, const FieldRef& address_type,
                           FieldErrors& errors) {
  const FieldRef addresses = endpoint["addresses"];
  if (addresses.size() == 0) {
    errors.push_back(Required(addresses.path(), "must contain at least 1 address"));
  }
  for (const FieldRef& address : addresses.items()) {
    if (address_type.is("IPv4") || address_type.is("IPv6")) {
      ValidateSliceAddress(address, addresses.path(), address_type.is("IPv4"), errors);
    } else if (address_type.is("FQDN")) {
      ValidateDomainName(address, errors);
    }
  }
  if (endpoint["nodeName"].exists()) {
    ValidateName(endpoint["nodeName"], &ValidateDnsSubdomain, errors);
  }
  if (endpoint["hostname"].exists()) ValidateName(endpoint["hostname"], &ValidateDnsLabel, errors);
  ValidateHints(endpoint["hints"], errors);
}

void ValidateSlicePorts(const FieldRef& ports, FieldErrors& errors) {
  std::set<std::string> names;
  for (const FieldRef& port : ports.items()) {
    const FieldRef name = port["name"];
    if (!name.text().empty()) ValidateName(name, &ValidateDnsLabel, errors);
    ValidateUniqueJson(name, names, errors);
    ValidateEnum(port["protocol"], {"SCTP", "TCP", "UDP"}, errors);
    ValidateAppProtocol(port["appProtocol"], errors);
  }
}

void ValidateEndpointSlice(const json& object, FieldErrors& errors) {
  const FieldRef slice(object);
  const FieldRef type = slice["addressType"];
  if (ValidateRequired(type, errors)) ValidateEnum(type, {"FQDN", "IPv4", "IPv6"}, errors);
  ValidateSlicePorts(slice["ports"], errors);
  for (const FieldRef& endpoint : slice["endpoints"].items()) {
    ValidateSliceEndpoint(endpoint, type, errors);
  }
}

void ValidateEndpointSliceUpdate(const json& before, const json& after, FieldErrors& errors) {
  const FieldRef endpoints = FieldRef(after)["endpoints"];
  if (endpoints.is(FieldRef(before)["endpoints"].value())) {
    // Stored endpoints are not validated again.
    std::erase_if(errors,
                  [](const FieldError& error) { return error.field.starts_with("endpoints["); });
  }
  ValidateImmutableJson(FieldRef(before)["addressType"], FieldRef(after)["addressType"], errors);
}

void WarnAboutEndpoints(const json& object, Warnings& warnings) {
  for (const FieldRef& subset : FieldRef(object)["subsets"].items()) {
    for (const char* list : {"addresses", "notReadyAddresses"}) {
      for (const FieldRef& address : subset[list].items()) WarnAboutIp(address["ip"], warnings);
    }
  }
}

void WarnAboutEndpointSlice(const json& object, Warnings& warnings) {
  for (const FieldRef& endpoint : FieldRef(object)["endpoints"].items()) {
    for (const FieldRef& address : endpoint["addresses"].items()) WarnAboutIp(address, warnings);
  }
}

/// Removes a field of former API versions.
void AssignEndpointSliceFields(ServerContext&, const json&, json& slice) {
  for (json& endpoint : slice["endpoints"]) endpoint.erase("deprecatedTopology");
}

}  // namespace

void AddEndpointsStrategies(StrategiesByKind& strategies) {
  KindStrategy& endpoints = strategies["endpoints"];
  endpoints.allows_create_on_update = true;
  endpoints.validate = &ValidateEndpoints;
  endpoints.warn = &WarnAboutEndpoints;
  endpoints.warns_on_every_update = true;
}

void AddEndpointSliceStrategies(StrategiesByKind& strategies) {
  KindStrategy& slices = strategies["endpointslices.discovery.k8s.io"];
  slices.generation = KindStrategy::Generation::kSpecOrLabels;
  slices.assign_fields = &AssignEndpointSliceFields;
  slices.validate = &ValidateEndpointSlice;
  slices.validate_update = &ValidateEndpointSliceUpdate;
  slices.warn_create = [](const json& object, Warnings& warnings) {
    if (FieldRef(object)["addressType"].is("FQDN"))
      warnings.emplace_back("spec.addressType: FQDN endpoints are deprecated");
  };
  slices.warn = &WarnAboutEndpointSlice;
  slices.warns_on_every_update = true;
}

}  // namespace kopp::apiserver
