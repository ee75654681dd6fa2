#include "pod_spec_validation.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

const InvalidPodSpec
    invalid_scheduling_fields[] =
        {
            {"NodeAffinityWithoutTerms",
             R"({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}})"_json,
             InPodSpec(
                 {R"(FieldValueRequired affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term)"})},
            {"NodeAffinity",
             R"({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a",
          "operator": "In"}, {"key": "a", "operator": "Exists", "values": ["a"]},
          {"key": "a", "operator": "Gt", "values": ["1", "2"]}, {"key": "",
          "operator": "Odd"}, {"key": "a", "operator": "In", "values": ["-"]}]}]}}}})"_json,
             InPodSpec(
                 {R"(FieldValueRequired affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn')",
                  R"(FieldValueForbidden affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist')",
                  R"(FieldValueRequired affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[2].values: Required value: must be specified single value when `operator` is 'Lt' or 'Gt')",
                  R"(FieldValueInvalid affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[3].operator: Invalid value: "Odd": not a valid selector operator)",
                  R"(FieldValueInvalid affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[3].key: Invalid value: "": name part must be non-empty)",
                  R"(FieldValueInvalid affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[3].key: Invalid value: "": name part )" +
                      qualified_name_error,
                  R"(FieldValueInvalid affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[4].values[0]: Invalid value: "-": )" +
                      label_value_error})},
            {"NodeAffinityToFields",
             R"({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name",
          "operator": "In", "values": ["a", "B"]}, {"key": "metadata.uid",
          "operator": "Exists"}]}]}}}})"_json,
             InPodSpec(
                 {R"(FieldValueRequired affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node field selector)",
                  R"(FieldValueInvalid affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].values[1]: Invalid value: "B": )" +
                      dns1123_subdomain_error,
                  R"(FieldValueInvalid affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[1].operator: Invalid value: "Exists": not a valid selector operator)",
                  R"(FieldValueInvalid affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[1].key: Invalid value: "metadata.uid": not a valid field selector key)"})},
            {"PreferredNodeAffinity",
             R"({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 0,
          "preference": {"matchExpressions": [{"key": "a", "operator": "In"}]}}]}}})"_json,
             InPodSpec(
                 {R"(FieldValueInvalid affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100)", R"(FieldValueRequired affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn')"})},
            {"PodAffinity",
             R"({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "",
          "labelSelector": {"matchLabels": {"a": "-"}},
          "namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Odd"}]},
          "namespaces": ["A"]}]}}})"_json,
             InPodSpec(
                 {R"(FieldValueInvalid affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchLabels: Invalid value: "-": )" +
                      label_value_error,
                  R"(FieldValueInvalid affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaceSelector.matchExpressions[0].operator: Invalid value: "Odd": not a valid selector operator)",
                  R"(FieldValueInvalid affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespace: Invalid value: "A": )" +
                      dns1123_label_error,
                  R"(FieldValueRequired affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty)",
                  R"(FieldValueInvalid affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must be non-empty)",
                  R"(FieldValueInvalid affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part )" +
                      qualified_name_error})},
            {"PodAntiAffinity",
             R"({"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 101,
          "podAffinityTerm": {"topologyKey": "a b"}}]}}})"_json,
             InPodSpec(
                 {R"(FieldValueInvalid affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100)",
                  R"(FieldValueInvalid affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.topologyKey: Invalid value: "a b": name part )" +
                      qualified_name_error})},
            {"LabelKeys",
             R"({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a",
          "matchLabelKeys": ["a"]}, {"topologyKey": "a",
          "labelSelector": {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a",
          "operator": "Exists"}]}, "matchLabelKeys": ["a", "-"],
          "mismatchLabelKeys": ["a"]}]}}})"_json,
             InPodSpec(
                 {R"(FieldValueForbidden affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set)",
                  R"(FieldValueInvalid affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].matchLabelKeys[1]: Invalid value: "-": name part )" +
                      qualified_name_error,
                  R"(FieldValueInvalid affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1][0]: Invalid value: "a": exists in both matchLabelKeys and labelSelector)",
                  R"(FieldValueInvalid affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[1].matchLabelKeys[0]: Invalid value: "a": exists in both matchLabelKeys and mismatchLabelKeys)"})},
            {"TopologySpread",
             R"({"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "",
          "whenUnsatisfiable": "Odd", "minDomains": 0, "nodeAffinityPolicy": "Odd",
          "nodeTaintsPolicy": "Odd", "labelSelector": {"matchLabels": {"a": "-"}}},
          {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"},
          {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule",
          "matchLabelKeys": ["a"]}]})"_json,
             InPodSpec(
                 {R"(FieldValueInvalid topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero)",
                  R"(FieldValueRequired topologySpreadConstraints[0].topologyKey: Required value: can not be empty)",
                  R"(FieldValueNotSupported topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Odd": supported values: "DoNotSchedule", "ScheduleAnyway")",
                  R"(FieldValueInvalid topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero)",
                  R"(FieldValueInvalid topologySpreadConstraints[0].minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not Odd)",
                  R"(FieldValueNotSupported topologySpreadConstraints[0].nodeAffinityPolicy: Unsupported value: "Odd": supported values: "Honor", "Ignore")",
                  R"(FieldValueNotSupported topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: "Odd": supported values: "Honor", "Ignore")",
                  R"(FieldValueInvalid topologySpreadConstraints[0].labelSelector.matchLabels: Invalid value: "-": )" +
                      label_value_error,
                  R"(FieldValueDuplicate topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate value: "{a, DoNotSchedule}")",
                  R"(FieldValueForbidden topologySpreadConstraints[2].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set)"})},
            {"DnsPolicyNoneWithoutConfig", R"({"dnsPolicy": "None"})"_json,
             InPodSpec(
                 {R"(FieldValueRequired dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None)"})},
            {"DnsPolicyNoneWithoutServers", R"({"dnsPolicy": "None", "dnsConfig": {"searches": ["a"]}})"_json, InPodSpec({R"(FieldValueRequired dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None)"})},
            {"DnsConfig",
             R"({"dnsConfig": {"nameservers": ["10.0.0.256", "::1", "1.1.1.1", "a"],
          "searches": ["a_b.", "-"], "options": [{"value": "a"}]}})"_json,
             InPodSpec(
                 {R"(FieldValueInvalid dnsConfig.nameservers: Invalid value: ["10.0.0.256","::1","1.1.1.1","a"]: must not have more than 3 nameservers)",
                  R"(FieldValueInvalid dnsConfig.nameservers[0]: Invalid value: "10.0.0.256": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff))",
                  R"(FieldValueInvalid dnsConfig.nameservers[3]: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff))",
                  R"(FieldValueInvalid dnsConfig.searches[1]: Invalid value: "-": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*'))",
                  "FieldValueRequired dnsConfig.options[0]: Required value: must not be empty"})},
            {"DnsSearches",
             R"({"dnsConfig": {"searches": ["a", "a", "a", "a", "a", "a", "a", "a", "a", "a",
          "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a",
          "a", "a", "a", "a", "a", "a", "a", "a"]}})"_json,
             InPodSpec(
                 {R"(FieldValueInvalid dnsConfig.searches: Invalid value: ["a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a","a"]: must not have more than 32 search paths)"})},
            {"HostAliases", R"({"hostAliases": [{"ip": "a", "hostnames": ["A", "b"]}]})"_json,
             InPodSpec(
                 {R"(FieldValueInvalid hostAliases[0].ip: Invalid value: "a": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff))",
                  "FieldValueInvalid hostAliases[0].hostnames[0]: Invalid value: \"A\": " +
                      dns1123_subdomain_error})},
            {"Gates",
             R"({"readinessGates": [{"conditionType": "a b"}],
          "schedulingGates": [{"name": "a"}, {"name": "a"}, {"name": "b/"}]})"_json,
             InPodSpec(
                 {R"(FieldValueInvalid readinessGates[0].conditionType: Invalid value: "a b": name part )" +
                      qualified_name_error,
                  "FieldValueDuplicate schedulingGates[1]: Duplicate value: \"a\"",
                  R"(FieldValueInvalid schedulingGates[2]: Invalid value: "b/": name part must be non-empty)",
                  "FieldValueInvalid schedulingGates[2]: Invalid value: \"b/\": name part " +
                      qualified_name_error})},
            {"Names",
             R"({"nodeName": "A", "hostname": "a.b", "subdomain": "B",
          "priorityClassName": "C", "runtimeClassName": "D", "preemptionPolicy": "Odd"})"_json,
             InPodSpec(
                 {"FieldValueInvalid nodeName: Invalid value: \"A\": " + dns1123_subdomain_error,
                  "FieldValueInvalid hostname: Invalid value: \"a.b\": must not contain dots",
                  "FieldValueInvalid subdomain: Invalid value: \"B\": " + dns1123_label_error,
                  "FieldValueInvalid priorityClassName: Invalid value: \"C\": " +
                      dns1123_subdomain_error,
                  "FieldValueInvalid runtimeClassName: Invalid value: \"D\": " +
                      dns1123_subdomain_error,
                  R"(FieldValueNotSupported preemptionPolicy: Unsupported value: "Odd": supported values: "PreemptLowerPriority", "Never")"})},
            {"ActiveDeadline", R"({"activeDeadlineSeconds": 2147483648})"_json,
             InPodSpec(
                 {R"(FieldValueInvalid activeDeadlineSeconds: Invalid value: 2147483648: must be between 1 and 2147483647, inclusive)",
                  R"(FieldValueForbidden activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported)"})},
            {"Overhead", R"({"overhead": {"pods": "1"}})"_json,
             InPodSpec(
                 {R"(FieldValueInvalid overhead.limits[pods]: Invalid value: "pods": must be a standard resource for containers)"})},
            {"PodResources", R"({"resources": {"limits": {"ephemeral-storage": "1"}}})"_json,
             InPodSpec(
                 {R"(FieldValueNotSupported resources.limits[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory")"})},
};
INSTANTIATE_TEST_SUITE_P(Scheduling, PodSpecValidationTest,
                         ::testing::ValuesIn(invalid_scheduling_fields),
                         [](const auto& invalid) { return invalid.param.test_name; });

}  // namespace
}  // namespace kopp::conformance
