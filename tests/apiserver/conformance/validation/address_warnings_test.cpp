// Warnings about IP addresses and ranges that are valid but not in their canonical form.
#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AddressWarningsTest : public ConformanceTest {
 protected:
  JsonResponse PostService(const std::string& spec) {
    json service = MakeObjectWithName("a");
    service["spec"] = json::parse(spec);
    return Post(Path("services") + "?dryRun=All", service);
  }
};

TEST_F(AddressWarningsTest, AnAmbiguousSourceRangeCausesAWarning) {
  EXPECT_THAT(
      PostService(R"({"type": "LoadBalancer", "ports": [{"port": 80}],
                      "loadBalancerSourceRanges": ["192.168.0.0/1", " 10.0.0.1/8", "10.0.0.0/8"]})")
          .warnings,
      ElementsAre(
          R"(spec.loadBalancerSourceRanges[0]: CIDR value "192.168.0.0/1" is ambiguous in this context (should be "128.0.0.0/1" or "192.168.0.0/32"?))"));
}

TEST_F(AddressWarningsTest, ASourceRangeInAnotherFormCausesAWarning) {
  EXPECT_THAT(
      PostService(R"({"type": "LoadBalancer", "ports": [{"port": 80}],
                      "loadBalancerSourceRanges": ["010.0.0.0/08", "::ffff:10.0.0.1/104",
                                                   "2001:DB8::/32", "2001:db8::1/32"]})")
          .warnings,
      ElementsAre(
          R"(spec.loadBalancerSourceRanges[0]: non-standard CIDR value "010.0.0.0/08" will be considered invalid in a future Kubernetes release: use "10.0.0.0/8")",
          R"(spec.loadBalancerSourceRanges[1]: CIDR value "::ffff:10.0.0.1/104" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/128"?))",
          R"(spec.loadBalancerSourceRanges[1]: non-standard CIDR value "::ffff:10.0.0.1/104" will be considered invalid in a future Kubernetes release: use "10.0.0.0/8")",
          R"(spec.loadBalancerSourceRanges[2]: IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 canonical format ("2001:db8::/32"))",
          R"(spec.loadBalancerSourceRanges[3]: CIDR value "2001:db8::1/32" is ambiguous in this context (should be "2001:db8::/32" or "2001:db8::1/128"?))"));
}

TEST_F(AddressWarningsTest, AnAddressOfAServiceInAnotherFormCausesAWarning) {
  EXPECT_THAT(
      PostService(R"({"ports": [{"port": 80}], "externalIPs": ["010.1.0.1"],
                      "loadBalancerIP": "2001:DB8::1"})")
          .warnings,
      ElementsAre(
          R"(spec.externalIPs[0]: non-standard IP address "010.1.0.1" will be considered invalid in a future Kubernetes release: use "10.1.0.1")",
          R"(spec.loadBalancerIP: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1"))"));
}

TEST_F(AddressWarningsTest, AnIpv6AddressIsWrittenWithoutDots) {
  EXPECT_THAT(
      PostService(R"({"ports": [{"port": 80}], "externalIPs": ["::1:2", "::1.2.3.4"]})").warnings,
      ElementsAre(
          R"(spec.externalIPs[1]: IPv6 address "::1.2.3.4" should be in RFC 5952 canonical format ("::102:304"))"));
}

TEST_F(AddressWarningsTest, AnIgnoredFieldOfAServiceCausesAWarning) {
  EXPECT_THAT(PostService(R"({"clusterIP": "None", "ports": [{"port": 80}],
                              "loadBalancerIP": "10.1.0.1", "externalIPs": ["10.1.0.1"],
                              "sessionAffinity": "ClientIP"})")
                  .warnings,
              ElementsAre("spec.loadBalancerIP is ignored for headless services",
                          "spec.externalIPs is ignored for headless services",
                          "spec.SessionAffinity is ignored for headless services"));
  EXPECT_THAT(PostService(R"({"type": "ExternalName", "externalName": "a.b",
                              "externalIPs": ["10.1.0.1"]})")
                  .warnings,
              ElementsAre(R"(spec.externalIPs is ignored when spec.type is "ExternalName")"));
}

TEST_F(AddressWarningsTest, ADeprecatedAnnotationOfAServiceCausesAWarningOnEachUpdate) {
  json service = MakeObjectWithName("a");
  service["metadata"]["annotations"]["service.kubernetes.io/topology-aware-hints"] = "auto";
  service["spec"] = R"({"ports": [{"port": 80}]})"_json;
  const auto warning = ElementsAre(
      "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use "
      "service.kubernetes.io/topology-mode instead");

  EXPECT_THAT(Post(Path("services"), service).warnings, warning);
  EXPECT_THAT(
      MergePatch(Path("services") + "/a", R"({"metadata": {"labels": {"a": "b"}}})"_json).warnings,
      warning);
}

TEST_F(AddressWarningsTest, AnAddressInTheStatusOfAServiceCausesAWarning) {
  json service = MakeObjectWithName("a");
  service["spec"] = R"({"type": "LoadBalancer", "ports": [{"port": 80}]})"_json;
  Post(Path("services"), service);

  const JsonResponse patched =
      MergePatch(Path("services") + "/a/status",
                 R"({"status": {"loadBalancer": {"ingress": [{"ip": "010.1.0.1"}]}}})"_json);

  EXPECT_THAT(
      patched.warnings,
      ElementsAre(
          R"(status.loadBalancer.ingress[0]: non-standard IP address "010.1.0.1" will be considered invalid in a future Kubernetes release: use "10.1.0.1")"));
}

TEST_F(AddressWarningsTest, AnAddressOfEndpointsWithLeadingZerosCausesAWarning) {
  json endpoints = MakeObjectWithName("a");
  endpoints["subsets"] = R"([{"addresses": [{"ip": "010.1.0.1"}],
                              "notReadyAddresses": [{"ip": "::ffff:10.1.0.2"}]}])"_json;

  const JsonResponse created = Post(Path("endpoints"), endpoints);

  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_THAT(
      created.warnings,
      ::testing::IsSupersetOf(
          {R"(subsets[0].addresses[0].ip: non-standard IP address "010.1.0.1" will be considered invalid in a future Kubernetes release: use "10.1.0.1")",
           R"(subsets[0].notReadyAddresses[0].ip: non-standard IP address "::ffff:10.1.0.2" will be considered invalid in a future Kubernetes release: use "10.1.0.2")"}));
}

TEST_F(AddressWarningsTest, ASpecialAddressWithLeadingZerosIsRejected) {
  json endpoints = MakeObjectWithName("a");
  endpoints["subsets"] =
      R"([{"addresses": [{"ip": "000.0.0.0"}, {"ip": "127.000.0.1"}, {"ip": "::ffff:127.0.0.1"}]}])"_json;

  EXPECT_THAT(
      Causes(Post(Path("endpoints"), endpoints)),
      ElementsAre(
          R"(FieldValueInvalid subsets[0].addresses[0].ip: Invalid value: "000.0.0.0": may not be unspecified (000.0.0.0))",
          R"(FieldValueInvalid subsets[0].addresses[1].ip: Invalid value: "127.000.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128))",
          R"(FieldValueInvalid subsets[0].addresses[2].ip: Invalid value: "::ffff:127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128))"));
}

TEST_F(AddressWarningsTest, AnEndpointSliceOfDomainNamesIsDeprecated) {
  const json slice = R"({"metadata": {"name": "a"}, "addressType": "FQDN", "ports": [],
                         "endpoints": [{"addresses": ["a.b"]}]})"_json;
  const std::string path = Path("discovery.k8s.io/v1", "endpointslices");

  EXPECT_THAT(Post(path, slice).warnings,
              ElementsAre("spec.addressType: FQDN endpoints are deprecated"));
  EXPECT_THAT(MergePatch(path + "/a", R"({"metadata": {"labels": {"a": "b"}}})"_json).warnings,
              IsEmpty());
}

}  // namespace
}  // namespace kopp::conformance
