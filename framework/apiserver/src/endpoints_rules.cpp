#include "checks.hpp"
#include "formats.hpp"
#include "rules_by_kind.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <arpa/inet.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Endpoints are elsewhere.
void CheckReachable(const Part& ip, Causes& causes) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  const auto wrong = [&](const char* why) {
    causes.push_back(InvalidValue(ip.path(), ip.text(), why));
  };
  const bool is_v4 = inet_pton(AF_INET, ip.text().c_str(), bytes.data()) == 1;
  if (!is_v4 && inet_pton(AF_INET6, ip.text().c_str(), bytes.data()) != 1) {
    return wrong("must be a valid IP address");
  }
  const bool begins_with_zeros =
      std::all_of(bytes.begin(), bytes.end() - 1, [](unsigned char byte) { return byte == 0; });
  if (begins_with_zeros && bytes.back() == 0) {
    wrong(is_v4 ? "may not be unspecified (0.0.0.0)" : "may not be unspecified (::)");
  }
  if (is_v4 ? bytes[0] == 127 : begins_with_zeros && bytes.back() == 1) {
    wrong("may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (is_v4 ? bytes[0] == 169 && bytes[1] == 254 : bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80) {
    wrong("may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (is_v4 ? bytes[0] == 224 && bytes[1] == 0 && bytes[2] == 0
            : bytes[0] == 0xff && (bytes[1] & 0x0f) == 0x02) {
    wrong("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
}

void CheckEndpointAddress(const Part& address, Causes& causes) {
  const Part ip = address["ip"];
  if (!HasFormat(ip.text(), "ipv4") && !HasFormat(ip.text(), "ipv6")) {
    causes.push_back(InvalidValue(ip.path(), ip.text(),
                                  "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
  }
  if (address["hostname"].exists()) CheckName(address["hostname"], &NotADnsLabel, causes);
  if (address["nodeName"].exists()) CheckName(address["nodeName"], &NotADnsSubdomain, causes);
  CheckReachable(ip, causes);
}

void CheckEndpointPort(const Part& port, bool needs_name, Causes& causes) {
  if (port["name"].exists()) {
    CheckName(port["name"], &NotADnsLabel, causes);
  } else if (needs_name) {
    CheckGiven(port["name"], causes);
  }
  CheckPort(port["port"], causes);
  CheckOneOf(port["protocol"], {"SCTP", "TCP", "UDP"}, causes);
  const Part application = port["appProtocol"];
  if (!application.exists()) return;
  for (const std::string& why : QualifiedNameProblems(application.text())) {
    causes.push_back(InvalidValue(application.path(), application.text(), why));
  }
}

void CheckEndpoints(const json& object, Causes& causes) {
  for (const Part& subset : Part(object)["subsets"].items()) {
    if (subset["addresses"].size() + subset["notReadyAddresses"].size() == 0) {
      causes.push_back(Required(subset.path(), "must specify `addresses` or `notReadyAddresses`"));
    }
    for (const char* list : {"addresses", "notReadyAddresses"}) {
      for (const Part& address : subset[list].items()) CheckEndpointAddress(address, causes);
    }
    const Part ports = subset["ports"];
    for (const Part& port : ports.items()) CheckEndpointPort(port, ports.size() > 1, causes);
  }
}

}  // namespace

void AddEndpointsRules(RulesByKind& rules) {
  rules["endpoints"].created_by_update = true;
  rules["endpoints"].check = &CheckEndpoints;
}

}  // namespace kopp::apiserver
