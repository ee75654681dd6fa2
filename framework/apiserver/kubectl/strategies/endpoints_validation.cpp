#include "json/schema_names.hpp"
#include "kubectl/strategies/strategies.hpp"
#include "schema/field_validation.hpp"
#include "schema/formats.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <arpa/inet.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

void ValidateEndpointAddress(const FieldRef& address, FieldErrors& errors) {
  const FieldRef ip = address["ip"];
  if (!MatchesFormat(ip.text(), "ipv4") && !MatchesFormat(ip.text(), "ipv6")) {
    errors.push_back(InvalidValue(ip.path(), ip.text(),
                                  "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
  }
  if (address["hostname"].exists()) ValidateName(address["hostname"], &ValidateDnsLabel, errors);
  if (address["nodeName"].exists())
    ValidateName(address["nodeName"], &ValidateDnsSubdomain, errors);
  ValidateNonSpecialIp(ip, errors);
}

void ValidateEndpointPort(const FieldRef& port, bool needs_name, FieldErrors& errors) {
  if (port["name"].exists()) {
    ValidateName(port["name"], &ValidateDnsLabel, errors);
  } else if (needs_name) {
    ValidateRequired(port["name"], errors);
  }
  ValidatePort(port["port"], errors);
  ValidateEnum(port["protocol"], {"SCTP", "TCP", "UDP"}, errors);
  const FieldRef application = port["appProtocol"];
  if (!application.exists()) return;
  for (const std::string& detail : ValidateQualifiedName(application.text())) {
    errors.push_back(InvalidValue(application.path(), application.text(), detail));
  }
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

}  // namespace

void ValidateNonSpecialIp(const FieldRef& ip, FieldErrors& errors) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  const auto add_invalid = [&](const char* detail) {
    errors.push_back(InvalidValue(ip.path(), ip.text(), detail));
  };
  const bool is_v4 = inet_pton(AF_INET, ip.text().c_str(), bytes.data()) == 1;
  if (!is_v4 && inet_pton(AF_INET6, ip.text().c_str(), bytes.data()) != 1) {
    return add_invalid("must be a valid IP address");
  }
  const bool has_zero_prefix =
      std::all_of(bytes.begin(), bytes.end() - 1, [](unsigned char byte) { return byte == 0; });
  if (has_zero_prefix && bytes.back() == 0) {
    add_invalid(is_v4 ? "may not be unspecified (0.0.0.0)" : "may not be unspecified (::)");
  }
  if (is_v4 ? bytes[0] == 127 : has_zero_prefix && bytes.back() == 1) {
    add_invalid("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (is_v4 ? bytes[0] == 169 && bytes[1] == 254 : bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80) {
    add_invalid("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (is_v4 ? bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0
            : bytes[0] == 0xff && (bytes[1] & 0x0f) == 0x02) {
    add_invalid("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
}

void AddEndpointsStrategies(StrategiesByKind& strategies) {
  strategies["endpoints"].allows_create_on_update = true;
  strategies["endpoints"].validate = &ValidateEndpoints;
}

}  // namespace kopp::apiserver
