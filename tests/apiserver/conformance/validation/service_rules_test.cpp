// Rules for Services and Ingresses.
#include "rule.hpp"

#include <regex>
#include <stdexcept>
#include <string>

namespace kopp::conformance {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

class ServiceRuleTest : public ConformanceTest, public ::testing::WithParamInterface<Rule> {};

/// Returns a cluster IP that no Service has.
std::string FreeAddress(const std::string& services) {
  for (int last_byte = 5; last_byte < 255; ++last_byte) {  // 10.0.0.4 is in rules
    std::string address = "10.0.0." + std::to_string(last_byte);
    if (services.find('"' + address + '"') == std::string::npos) return address;
  }
  throw std::runtime_error("all cluster IPs are in use");
}

/// Returns a node port that no Service has.
std::string FreeNodePort(const std::string& services) {
  for (int port = 30000; port < 32768; ++port) {
    std::string text = std::to_string(port);
    if (services.find(text) == std::string::npos) return text;
  }
  throw std::runtime_error("all node ports are in use");
}

/// In a rule, 10.0.0.3 stands for a free address, and 30180 for a free node port.
TEST_P(ServiceRuleTest, TheErrorsAreThoseOfTheRule) {
  const std::string services = Get("/api/v1/services").text;
  Rule rule = GetParam();
  for (std::string* text : {&rule.value, &rule.errors}) {
    *text = std::regex_replace(*text, std::regex(R"(10\.0\.0\.3\b)"), FreeAddress(services));
    *text = std::regex_replace(*text, std::regex("30180"), FreeNodePort(services));
  }
  json service = MakeObjectWithName("a");
  service["spec"] = json::parse(rule.value);

  ExpectErrors(Post(Path("services") + "?dryRun=All", service), rule);
}

const Rule service_rules[] = {
    {"ClusterIpsWithoutClusterIp", R"({"clusterIPs": ["10.0.0.3"], "ports": [{"port": 80}]})",
     R"(spec.clusterIPs: Invalid value: ["10.0.0.3"]: must be empty when `clusterIP` is not specified)"},
    {"TwoAddressesOfOneFamily",
     R"({"clusterIP": "10.0.0.3", "clusterIPs": ["10.0.0.3", "10.0.0.4"], "ports": [{"port": 80}]})",
     R"(spec.clusterIPs: Invalid value: ["10.0.0.3","10.0.0.4"]: may specify no more than one IP for each IP family)"},
    {"NoneWithAnotherAddress",
     R"({"clusterIP": "None", "clusterIPs": ["None", "10.0.0.4"], "ports": [{"port": 80}]})",
     R"(spec.clusterIPs: Invalid value: ["None","10.0.0.4"]: 'None' must be the first and only value)"},
    {"AddressWithLeadingZeros", R"({"clusterIP": "010.0.0.3", "ports": [{"port": 80}]})", ""},
    {"AddressOfAnotherFamilyWithZeros",
     R"({"clusterIP": "2001:db8::00001", "ports": [{"port": 80}]})",
     R"(spec.clusterIPs[0]: Invalid value: ["2001:db8::00001"]: IPv6 is not configured on this cluster)"},
    {"AddressWithANull", R"({"ports": [{"port": 80}], "externalIPs": ["10.0.0.1\u0000x"]})",
     R"(spec.externalIPs[0]: Invalid value: "10.0.0.1\x00x": must be a valid IP address)"},
    {"AddressOfAnotherFamily", R"({"clusterIP": "::1", "ports": [{"port": 80}]})",
     R"(spec.clusterIPs[0]: Invalid value: ["::1"]: IPv6 is not configured on this cluster)"},
    {"FamilyTwice", R"({"ports": [{"port": 80}], "ipFamilies": ["IPv4", "IPv4"]})",
     R"(spec.ipFamilies[1]: Duplicate value: "IPv4")"},
    {"TwoFamiliesOfASingleStack", R"({"ports": [{"port": 80}], "ipFamilies": ["IPv6", "IPv4"]})",
     R"(spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified)"},
    {"FamilyThatTheClusterDoesNotHave", R"({"ports": [{"port": 80}], "ipFamilies": ["IPv6"]})",
     R"(spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster)"},
    {"DualStackInASingleStackCluster",
     R"({"ports": [{"port": 80}], "ipFamilyPolicy": "RequireDualStack"})",
     R"(spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services)"},
    {"FamilyOfAnExternalName",
     R"({"type": "ExternalName", "externalName": "a.b", "ipFamilies": ["IPv4"]})",
     R"(spec.ipFamilies: Forbidden: may not be set for ExternalName services)"},
    {"ProtocolNameThatIsNotQualified", R"({"ports": [{"port": 80, "appProtocol": "a b"}]})",
     R"(spec.ports[0].appProtocol: Invalid value: "a b": name part)"},
    {"EmptyProtocolName", R"({"ports": [{"port": 80, "appProtocol": ""}]})",
     R"([spec.ports[0].appProtocol: Invalid value: "": name part must be non-empty, spec.ports[0].appProtocol: Invalid value: "": name part)"},
    {"TimeoutOfZero",
     R"({"ports": [{"port": 80}], "sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}}})",
     R"(spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than 86400)"},
    {"TimeoutOfMoreThanADay",
     R"({"ports": [{"port": 80}], "sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 86401}}})",
     R"(spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 86401: must be greater than 0 and less than 86400)"},
    {"PortAndNodePortTwice",
     R"({"type": "NodePort", "ports": [{"name": "a", "port": 80, "nodePort": 30180}, {"name": "b", "port": 80, "protocol": "UDP", "nodePort": 30180}]})",
     ""},
    {"HealthCheckPortOfALocalService", R"({"ports": [{"port": 80}], "healthCheckNodePort": 30000})",
     R"(spec.healthCheckNodePort: Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local')"},
    {"LoopbackAsExternalIp", R"({"ports": [{"port": 80}], "externalIPs": ["127.0.0.1"]})",
     R"(spec.externalIPs[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128))"},
    {"LinkLocalExternalIp", R"({"ports": [{"port": 80}], "externalIPs": ["169.254.1.1"]})",
     R"(spec.externalIPs[0]: Invalid value: "169.254.1.1": may not be in the link-local range (169.254.0.0/16, fe80::/10))"},
    {"SpaceBeforeASourceRange",
     R"({"type": "LoadBalancer", "ports": [{"port": 80}], "loadBalancerSourceRanges": [" 10.0.0.0/8"]})",
     ""},
    {"ErrorsOfAddressesAloneBeforeOthers",
     R"({"ports": [{"port": 0}], "ipFamilies": ["x"], "sessionAffinity": "x"})",
     R"(spec.ipFamilies[0]: Unsupported value: "x": supported values: "IPv4", "IPv6")"},
    {"SeveralAddressesOfASingleStackService",
     R"({"ports": [{"port": 80}], "clusterIP": "10.0.0.3", "clusterIPs": ["10.0.0.3", "::1"], "ipFamilyPolicy": "SingleStack"})",
     R"([spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified, spec.clusterIPs[1]: Invalid value: ["10.0.0.3","::1"]: IPv6 is not configured on this cluster])"},
    {"AddressOfAnExternalName",
     R"({"type": "ExternalName", "externalName": "a.b", "clusterIP": "None"})",
     "spec.clusterIPs: Forbidden: may not be set for ExternalName services"},
    {"AddressOfARequestedFamily",
     R"({"ports": [{"port": 80}], "clusterIP": "::1", "ipFamilies": ["IPv6"]})",
     R"(spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster)"},
    {"EmptyLoadBalancerClass",
     R"({"type": "LoadBalancer", "ports": [{"port": 80}], "loadBalancerClass": ""})",
     R"([spec.loadBalancerClass: Invalid value: "": name part must be non-empty, spec.loadBalancerClass: Invalid value: "": name part)"},
};
INSTANTIATE_TEST_SUITE_P(, ServiceRuleTest, ::testing::ValuesIn(service_rules), &NameOf);

/// Returns an Ingress with the host in `change`, or else with the path in it.
json MakeIngress(const json& change) {
  json rule = R"({"http": {"paths": [{"path": "/a", "pathType": "Prefix",
                  "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}})"_json;
  json& target = change.contains("host") ? rule : rule["http"]["paths"][0];
  for (const auto& [name, value] : change.items()) target[name] = value;
  json ingress = MakeObjectWithName("a");
  ingress["spec"]["rules"] = json::array({rule});
  return ingress;
}

class IngressRuleTest : public ConformanceTest, public ::testing::WithParamInterface<Rule> {};

TEST_P(IngressRuleTest, TheErrorsAreThoseOfTheRule) {
  ExpectErrors(
      Post(Path("networking.k8s.io/v1", "ingresses"), MakeIngress(json::parse(GetParam().value))),
      GetParam());
}

const Rule ingress_rules[] = {
    {"PathWithTwoSlashes", R"({"path": "/a//b"})",
     R"(spec.rules[0].http.paths[0].path: Invalid value: "/a//b": must not contain '//')"},
    {"PathWithADot", R"({"path": "/a/./b"})",
     R"(spec.rules[0].http.paths[0].path: Invalid value: "/a/./b": must not contain '/./')"},
    {"PathWithAParent", R"({"path": "/a/../b"})",
     R"(spec.rules[0].http.paths[0].path: Invalid value: "/a/../b": must not contain '/../')"},
    {"PathThatEndsWithAParent", R"({"path": "/a/.."})",
     R"(spec.rules[0].http.paths[0].path: Invalid value: "/a/..": cannot end with '/..')"},
    {"PathWithAnEncodedSlash", R"({"path": "/a%2Fb"})",
     R"(spec.rules[0].http.paths[0].path: Invalid value: "/a%2Fb": must not contain '%2F')"},
    {"PathWithTwoSlashesForTheController",
     R"({"path": "/a//b", "pathType": "ImplementationSpecific"})", ""},
    {"EmptyPathType", R"({"pathType": ""})",
     R"(spec.rules[0].http.paths[0].pathType: Unsupported value: "": supported values: "Exact", "ImplementationSpecific", "Prefix")"},
    {"PortNameWithASlash", R"({"backend": {"service": {"name": "s", "port": {"name": "a/b"}}}})",
     R"(spec.rules[0].http.paths[0].backend.service.port.name: Invalid value: "a/b": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-))"},
    {"PortNameWithoutLetter", R"({"backend": {"service": {"name": "s", "port": {"name": "0"}}}})",
     R"(spec.rules[0].http.paths[0].backend.service.port.name: Invalid value: "0": must contain at least one letter (a-z))"},
    {"HostThatIsAnAddress", R"({"host": "1.2.3.4"})",
     R"(spec.rules[0].host: Invalid value: "1.2.3.4": must be a DNS name, not an IP address)"},
    {"HostWithAnotherWildcard", R"({"host": "a*.b"})",
     R"(spec.rules[0].host: Invalid value: "a*.b": a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which)"},
    {"WildcardWithoutDomain", R"({"host": "*"})",
     R"(spec.rules[0].host: Invalid value: "*": a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which)"},
    {"Wildcard", R"({"host": "*.a"})", ""},
};
INSTANTIATE_TEST_SUITE_P(, IngressRuleTest, ::testing::ValuesIn(ingress_rules), &NameOf);

class ServiceUpdateTest : public ConformanceTest {
 protected:
  /// Creates a Service with `spec`, and updates it with a merge patch.
  JsonResponse CreateAndPatch(const std::string& spec, const json& change) {
    json service = MakeObjectWithName("a");
    service["spec"] = json::parse(spec);
    Post(Path("services"), service);
    return MergePatch(Path("services") + "/a", {{"spec", change}});
  }
};

TEST_F(ServiceUpdateTest, AnotherClusterIpIsRejected) {
  // No other Service gets the address of the Service kubernetes.
  const std::string spec = R"({"ports": [{"port": 80}]})";
  EXPECT_THAT(
      CreateAndPatch(spec, {{"clusterIP", "10.0.0.1"}}).message(),
      EndsWith(R"(spec.clusterIPs[0]: Invalid value: ["10.0.0.1"]: may not change once set)"));
}

TEST_F(ServiceUpdateTest, AHeadlessServiceGetsNoAddress) {
  const std::string spec =
      R"({"clusterIP": "None", "selector": {"a": "b"}, "ports": [{"port": 80}]})";
  EXPECT_THAT(
      CreateAndPatch(spec, {{"clusterIP", "10.0.0.1"}}).message(),
      EndsWith(R"(spec.clusterIPs[0]: Invalid value: ["10.0.0.1"]: may not change once set)"));
}

TEST_F(ServiceUpdateTest, AnIpv6AddressForAHeadlessServiceIsRejected) {
  json service = MakeObjectWithName("a");
  service["spec"] =
      R"({"clusterIP": "None", "selector": {"a": "b"}, "ports": [{"port": 80}]})"_json;
  Post(Path("services"), service);
  service["spec"]["clusterIP"] = "::1";

  EXPECT_THAT(Put(Path("services") + "/a", service).message(),
              EndsWith(R"(: spec.clusterIPs[0]: Invalid value: ["::1"]: IPv6 is not configured on )"
                       "this cluster"));
}

TEST_F(ServiceUpdateTest, TheIpFamiliesThatAnUpdateOmitsAreChosenAgain) {
  json service = MakeObjectWithName("a");
  service["spec"] = R"({"clusterIP": "None", "ports": [{"port": 80}],
                        "ipFamilies": ["IPv6", "IPv4"]})"_json;
  EXPECT_EQ(Post(Path("services"), service).at("/spec/ipFamilies"), R"(["IPv6", "IPv4"])"_json);
  service["spec"].erase("ipFamilies");

  EXPECT_EQ(Put(Path("services") + "/a", service).at("/spec/ipFamilies"),
            R"(["IPv4", "IPv6"])"_json);
}

TEST_F(ServiceUpdateTest, AnIpFamilyIsReleasedWithThePolicySingleStack) {
  const std::string spec = R"({"clusterIP": "None", "ports": [{"port": 80}]})";
  EXPECT_THAT(CreateAndPatch(spec, {{"ipFamilies", {"IPv6"}}}).message(),
              EndsWith(R"(: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be )"
                       "'SingleStack' to release the secondary IP family"));
  EXPECT_EQ(MergePatch(Path("services") + "/a", {{"spec", {{"ipFamilyPolicy", "SingleStack"}}}})
                .at("/spec/ipFamilies"),
            json::array({"IPv4"}));
}

TEST_F(ServiceUpdateTest, AnotherIpFamilyThanThatOfTheAddressIsRejected) {
  EXPECT_THAT(CreateAndPatch(R"({"ports": [{"port": 80}]})", {{"ipFamilies", {"IPv6"}}}).message(),
              EndsWith(": expected an IPv6 value as indicated by `ipFamilies[0]`"));
}

TEST_F(ServiceUpdateTest, AnotherLoadBalancerClassIsRejectedBeforeItsName) {
  const std::string spec =
      R"({"type": "LoadBalancer", "loadBalancerClass": "a.b/c", "ports": [{"port": 80}]})";
  EXPECT_THAT(
      CreateAndPatch(spec, {{"loadBalancerClass", "d e"}}).message(),
      HasSubstr(R"(: [spec.loadBalancerClass: Invalid value: "d e": may not change once set, )"
                R"(spec.loadBalancerClass: Invalid value: "d e": name part must)"));
}

TEST_F(ServiceUpdateTest, AnExternalNameHasNoAddresses) {
  const std::string spec = R"({"ports": [{"port": 80}]})";
  const json updated =
      CreateAndPatch(spec, {{"type", "ExternalName"}, {"externalName", "a.b"}}).at("/spec");
  for (const char* field : {"clusterIP", "clusterIPs", "ipFamilies", "internalTrafficPolicy"})
    EXPECT_FALSE(updated.contains(field)) << field;
}

TEST_F(ServiceUpdateTest, AFieldThatTheServerRestoresBelongsToNobody) {
  json service = MakeObjectWithName("a");
  service["spec"] = R"({"clusterIP": "None", "ports": [{"port": 80}]})"_json;
  service = Post(Path("services"), service).body;
  service["spec"].erase("clusterIP");

  const JsonResponse updated = Put(Path("services") + "/a", service);

  EXPECT_EQ(updated.str("/spec/clusterIP"), "None");
  EXPECT_FALSE(updated.at("/metadata/managedFields/0/fieldsV1/f:spec").contains("f:clusterIP"));
}

}  // namespace
}  // namespace kopp::conformance
