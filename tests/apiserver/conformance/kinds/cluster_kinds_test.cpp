// EndpointSlices, PriorityClasses, RuntimeClasses, APIServices and CertificateSigningRequests:
// defaults, Tables and validation.
#include "kinds/kinds.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

const StoredObject stored_cluster_objects[] = {
    {"EndpointSliceHasDefaults", "discovery.k8s.io/v1", "endpointslices",
     R"({"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}]})",
     R"({"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"], "conditions": {}}],
        "ports": null})",
     R"(["NAME", "IPv4", "<unset>", "10.1.2.3", "AGE"])"},
    {"EndpointSliceWithoutEndpoints", "discovery.k8s.io/v1", "endpointslices",
     R"({"addressType": "IPv4"})", R"({"addressType": "IPv4", "endpoints": null, "ports": null})",
     R"(["NAME", "IPv4", "<unset>", "<unset>", "AGE"])"},
    {"EndpointSliceWithAllFields", "discovery.k8s.io/v1", "endpointslices",
     R"({"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"], "conditions": {"ready":
        true, "serving": true, "terminating": false}, "hostname": "a", "nodeName": "n", "zone":
        "z", "hints": {"forZones": [{"name": "z"}], "forNodes": [{"name": "n"}]}, "targetRef":
        {"kind": "Pod", "name": "p"}, "deprecatedTopology": {"a": "b"}}, {"addresses":
        ["10.1.2.4", "10.1.2.5"]}], "ports": [{"name": "http", "port": 80}, {"port": 81,
        "protocol": "UDP", "appProtocol": "kubernetes.io/h2c"}]})",
     R"({"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"], "conditions": {"ready":
        true, "serving": true, "terminating": false}, "hostname": "a", "targetRef": {"kind":
        "Pod", "name": "p"}, "nodeName": "n", "zone": "z", "hints": {"forZones": [{"name": "z"}],
        "forNodes": [{"name": "n"}]}}, {"addresses": ["10.1.2.4", "10.1.2.5"], "conditions": {}}],
        "ports": [{"name": "http", "protocol": "TCP", "port": 80}, {"name": "", "protocol": "UDP",
        "port": 81, "appProtocol": "kubernetes.io/h2c"}]})",
     R"(["NAME", "IPv4", "80,81", "10.1.2.3,10.1.2.4,10.1.2.5", "AGE"])"},
    {"EndpointSliceWithManyPorts", "discovery.k8s.io/v1", "endpointslices",
     R"({"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}, {"addresses":
        ["10.0.0.2"]}, {"addresses": ["10.0.0.3"]}, {"addresses": ["10.0.0.4"]}, {"addresses":
        ["10.0.0.5"]}], "ports": [{"name": "a", "port": 1}, {"name": "b", "port": 2}, {"name":
        "c", "port": 3}, {"name": "d", "port": 4}]})",
     R"({"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {}},
        {"addresses": ["10.0.0.2"], "conditions": {}}, {"addresses": ["10.0.0.3"], "conditions":
        {}}, {"addresses": ["10.0.0.4"], "conditions": {}}, {"addresses": ["10.0.0.5"],
        "conditions": {}}], "ports": [{"name": "a", "protocol": "TCP", "port": 1}, {"name": "b",
        "protocol": "TCP", "port": 2}, {"name": "c", "protocol": "TCP", "port": 3}, {"name": "d",
        "protocol": "TCP", "port": 4}]})",
     R"(["NAME", "IPv4", "1,2,3 + 1 more...", "10.0.0.1,10.0.0.2,10.0.0.3 + 2 more...", "AGE"])"},
    {"EndpointSliceWithAPortWithoutANumber", "discovery.k8s.io/v1", "endpointslices",
     R"({"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"]}], "ports": [{"name":
        "a"}]})",
     R"({"addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"], "conditions": {}}],
        "ports": [{"name": "a", "protocol": "TCP"}]})",
     R"(["NAME", "IPv4", "a", "10.1.2.3", "AGE"])"},
    {"PriorityClassHasDefaults", "scheduling.k8s.io/v1", "priorityclasses", R"({"value": 10})",
     R"({"value": 10, "preemptionPolicy": "PreemptLowerPriority"})",
     R"(["NAME", 10, false, "AGE", "PreemptLowerPriority"])"},
    {"EmptyPriorityClass", "scheduling.k8s.io/v1", "priorityclasses", R"({})",
     R"({"value": 0, "preemptionPolicy": "PreemptLowerPriority"})",
     R"(["NAME", 0, false, "AGE", "PreemptLowerPriority"])"},
    {"PriorityClassWithAllFields", "scheduling.k8s.io/v1", "priorityclasses",
     R"({"value": -10, "globalDefault": false, "description": "x", "preemptionPolicy": "Never"})",
     R"({"value": -10, "description": "x", "preemptionPolicy": "Never"})",
     R"(["NAME", -10, false, "AGE", "Never"])"},
    {"RuntimeClass", "node.k8s.io/v1", "runtimeclasses", R"({"handler": "h"})",
     R"({"handler": "h"})", R"(["NAME", "h", "AGE"])"},
    {"RuntimeClassWithAllFields", "node.k8s.io/v1", "runtimeclasses",
     R"({"handler": "h", "overhead": {"podFixed": {"cpu": "0.5"}}, "scheduling": {"nodeSelector":
        {"a": "b"}, "tolerations": [{"key": "a", "operator": "Exists"}]}})",
     R"({"handler": "h", "overhead": {"podFixed": {"cpu": "500m"}}, "scheduling": {"nodeSelector":
        {"a": "b"}, "tolerations": [{"key": "a", "operator": "Exists"}]}})",
     R"(["NAME", "h", "AGE"])"},
};
INSTANTIATE_TEST_SUITE_P(Cluster, StoredObjectTest, ::testing::ValuesIn(stored_cluster_objects),
                         StoredObjectTestName);

const InvalidKind invalid_cluster_objects[] = {
    {"EmptyEndpointSlice",
     "discovery.k8s.io/v1",
     "endpointslices",
     R"({})",
     {"FieldValueRequired addressType: Required value"}},
    {"EndpointSliceWithInvalidFields",
     "discovery.k8s.io/v1",
     "endpointslices",
     R"({"addressType": "IP", "endpoints": [{}, {"addresses": ["x", "127.0.0.1", "::1"],
        "hostname": "A", "nodeName": "A/b", "zone": "", "hints": {"forZones": [{"name": ""},
        {"name": "a b"}], "forNodes": [{"name": "A"}]}, "deprecatedTopology": {"a b": "c d"}}],
        "ports": [{"name": "A", "port": 0, "protocol": "x", "appProtocol": "a b"}, {"name": "b",
        "port": 70000}, {"name": "b"}]})",
     {R"(FieldValueNotSupported addressType: Unsupported value: "IP": supported values: "FQDN", "IPv4", "IPv6")",
      R"(FieldValueInvalid ports[0].name: Invalid value: "A": )" + dns1123_label_error,
      R"(FieldValueNotSupported ports[0].protocol: Unsupported value: "x": supported values: "SCTP", "TCP", "UDP")",
      R"(FieldValueInvalid ports[0].appProtocol: Invalid value: "a b": name part )" +
          qualified_name_error,
      R"(FieldValueDuplicate ports[2].name: Duplicate value: "b")",
      "FieldValueRequired endpoints[0].addresses: Required value: must contain at least 1 address",
      R"(FieldValueInvalid endpoints[1].nodeName: Invalid value: "A/b": )" +
          dns1123_subdomain_error,
      R"(FieldValueInvalid endpoints[1].hostname: Invalid value: "A": )" + dns1123_label_error,
      R"(FieldValueInvalid endpoints[1].hints.forZones[1].name: Invalid value: "a b": )" +
          label_value_error,
      R"(FieldValueInvalid endpoints[1].hints.forNodes[0].name: Invalid value: "A": )" +
          dns1123_subdomain_error}},
    {"EndpointSliceWithInvalidAddresses",
     "discovery.k8s.io/v1",
     "endpointslices",
     R"({"addressType": "IPv4", "endpoints": [{"addresses": []}, {"addresses": ["x", "127.0.0.1",
        "::1", "1.2.3"]}, {"addresses": ["10.1.2.3"], "hostname": "A", "nodeName": "A/b", "hints":
        {"forZones": [{"name": ""}, {"name": "z"}, {"name": "z"}]}, "deprecatedTopology": {"a b":
        "c d"}}]})",
     {"FieldValueRequired endpoints[0].addresses: Required value: must contain at least 1 address",
      R"(FieldValueInvalid endpoints[1].addresses[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff))",
      R"(FieldValueInvalid endpoints[1].addresses[1]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128))",
      R"(FieldValueInvalid endpoints[1].addresses: Invalid value: "::1": must be an IPv4 address)",
      R"(FieldValueInvalid endpoints[1].addresses[2]: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128))",
      R"(FieldValueInvalid endpoints[1].addresses[3]: Invalid value: "1.2.3": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff))",
      R"(FieldValueInvalid endpoints[2].nodeName: Invalid value: "A/b": )" +
          dns1123_subdomain_error,
      R"(FieldValueInvalid endpoints[2].hostname: Invalid value: "A": )" + dns1123_label_error,
      R"(FieldValueDuplicate endpoints[2].hints.forZones[2].name: Duplicate value: "z")"}},
    {"EndpointSliceWithAnotherFamily",
     "discovery.k8s.io/v1",
     "endpointslices",
     R"({"addressType": "IPv6", "endpoints": [{"addresses": ["fd00::1"]}, {"addresses":
        ["10.1.2.3"]}]})",
     {R"(FieldValueInvalid endpoints[1].addresses: Invalid value: "10.1.2.3": must be an IPv6 address)"}},
    {"EndpointSliceWithInvalidDomains",
     "discovery.k8s.io/v1",
     "endpointslices",
     R"({"addressType": "FQDN", "endpoints": [{"addresses": ["example.com"]}, {"addresses":
        ["x"]}, {"addresses": ["A.b"]}]})",
     {R"(FieldValueInvalid endpoints[1].addresses[0]: Invalid value: "x": should be a domain with at least two segments separated by dots)",
      R"(FieldValueInvalid endpoints[2].addresses[0]: Invalid value: "A.b": )" +
          dns1123_subdomain_error}},
    {"PriorityClassAboveTheLimit",
     "scheduling.k8s.io/v1",
     "priorityclasses",
     R"({"value": 1000000001, "preemptionPolicy": "x"})",
     {("FieldValueForbidden value: Forbidden: maximum allowed value of a user defined priority is "
       "1000000000"),
      R"(FieldValueNotSupported preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never")"}},
    {"EmptyRuntimeClass",
     "node.k8s.io/v1",
     "runtimeclasses",
     R"({})",
     {R"(FieldValueInvalid handler: Invalid value: "": )" + dns1123_label_error}},
    {"EmptyApiService",
     "apiregistration.k8s.io/v1",
     "apiservices",
     R"({})",
     {R"(FieldValueInvalid metadata.name: Invalid value: "NAME": must be `spec.version+"."+spec.group`: ".")",
      ("FieldValueRequired spec.group: Required value: only v1 may have an empty group and it "
       "better be legacy kube"),
      R"(FieldValueInvalid spec.version: Invalid value: "": )" + dns1035_label_error,
      ("FieldValueInvalid spec.groupPriorityMinimum: Invalid value: 0: must be positive and less "
       "than 20000"),
      ("FieldValueInvalid spec.versionPriority: Invalid value: 0: must be positive and less than "
       "1000")}},
    {"ApiServiceWithInvalidFields",
     "apiregistration.k8s.io/v1",
     "apiservices",
     R"({"spec": {"group": "A_b", "version": "V", "groupPriorityMinimum": 30000,
        "versionPriority": 2000, "service": {}, "insecureSkipTLSVerify": true, "caBundle":
        "YQ=="}})",
     {R"(FieldValueInvalid metadata.name: Invalid value: "NAME": must be `spec.version+"."+spec.group`: "V.A_b")",
      R"(FieldValueInvalid spec.group: Invalid value: "A_b": )" + dns1123_subdomain_error,
      R"(FieldValueInvalid spec.version: Invalid value: "V": )" + dns1035_label_error,
      ("FieldValueInvalid spec.groupPriorityMinimum: Invalid value: 30000: must be positive and "
       "less than 20000"),
      ("FieldValueInvalid spec.versionPriority: Invalid value: 2000: must be positive and less "
       "than "
       "1000"),
      "FieldValueRequired spec.service.namespace: Required value",
      "FieldValueRequired spec.service.name: Required value",
      ("FieldValueInvalid spec.insecureSkipTLSVerify: Invalid value: true: may not be true if "
       "caBundle is present")}},
    {"EmptyCertificateSigningRequest",
     "certificates.k8s.io/v1",
     "certificatesigningrequests",
     R"({})",
     {("FieldValueInvalid spec.request: Invalid value: null: PEM block type must be CERTIFICATE "
       "REQUEST"),
      "FieldValueRequired spec.usages: Required value",
      "FieldValueRequired spec.signerName: Required value"}},
    {"CertificateSigningRequestWithInvalidFields",
     "certificates.k8s.io/v1",
     "certificatesigningrequests",
     R"({"spec": {"request": "YQ==", "signerName": "a", "usages": ["x", "any", "any"],
        "expirationSeconds": 10, "username": "me", "uid": "1", "groups": ["g"], "extra": {"a":
        ["b"]}}})",
     {R"(FieldValueInvalid spec.request: Invalid value: "YQ==": PEM block type must be CERTIFICATE REQUEST)",
      R"(FieldValueNotSupported spec.usages[0]: Unsupported value: "x": supported values: "any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping")",
      R"(FieldValueDuplicate spec.usages[2]: Duplicate value: "any")",
      R"(FieldValueInvalid spec.signerName: Invalid value: "a": must be a fully qualified domain and path of the form 'example.com/signer-name')",
      ("FieldValueInvalid spec.expirationSeconds: Invalid value: 10: may not specify a duration "
       "less than 600 seconds (10 minutes)")}},
};
INSTANTIATE_TEST_SUITE_P(Cluster, InvalidKindTest, ::testing::ValuesIn(invalid_cluster_objects),
                         InvalidKindTestName);

}  // namespace
}  // namespace kopp::conformance
