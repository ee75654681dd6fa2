// ValidatingAdmissionPolicies and their bindings: defaults, Tables and validation.
#include "kinds/kinds.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

const StoredObject stored_admission_policy_objects[] = {
    {"AdmissionPolicyHasDefaults", "admissionregistration.k8s.io/v1", "validatingadmissionpolicies",
     R"({"spec": {"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions":
        ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}]}, "validations":
        [{"expression": "object.spec.replicas <= 5"}]}})",
     R"({"spec": {"matchConstraints": {"namespaceSelector": {}, "objectSelector": {},
        "resourceRules": [{"operations": ["CREATE"], "apiGroups": ["apps"], "apiVersions": ["v1"],
        "resources": ["deployments"], "scope": "*"}], "matchPolicy": "Equivalent"}, "validations":
        [{"expression": "object.spec.replicas <= 5"}], "failurePolicy": "Fail"}, "status": {}})",
     R"(["NAME", 1, "<unset>", "AGE"])"},
    {"AdmissionPolicyWithAllFields", "admissionregistration.k8s.io/v1",
     "validatingadmissionpolicies",
     R"({"spec": {"failurePolicy": "Ignore", "paramKind": {"apiVersion": "v1", "kind":
        "ConfigMap"}, "matchConstraints": {"resourceRules": [{"apiGroups": ["apps"],
        "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}],
        "matchPolicy": "Exact"}, "matchConditions": [{"name": "a", "expression": "true"}],
        "validations": [{"expression": "true", "message": "m", "reason": "Forbidden"}],
        "auditAnnotations": [{"key": "k", "valueExpression": "'a'"}], "variables": [{"name": "v",
        "expression": "1"}]}})",
     R"({"spec": {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}, "matchConstraints":
        {"namespaceSelector": {}, "objectSelector": {}, "resourceRules": [{"operations":
        ["CREATE"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"],
        "scope": "*"}], "matchPolicy": "Exact"}, "validations": [{"expression": "true", "message":
        "m", "reason": "Forbidden"}], "failurePolicy": "Ignore", "auditAnnotations": [{"key": "k",
        "valueExpression": "'a'"}], "matchConditions": [{"name": "a", "expression": "true"}],
        "variables": [{"name": "v", "expression": "1"}]}, "status": {}})",
     R"(["NAME", 1, "v1/ConfigMap", "AGE"])"},
    {"AdmissionPolicyBinding", "admissionregistration.k8s.io/v1",
     "validatingadmissionpolicybindings",
     R"({"spec": {"policyName": "p", "validationActions": ["Deny"]}})",
     R"({"spec": {"policyName": "p", "validationActions": ["Deny"]}})",
     R"(["NAME", "p", "<unset>", "AGE"])"},
    {"AdmissionPolicyBindingWithParameters", "admissionregistration.k8s.io/v1",
     "validatingadmissionpolicybindings",
     R"({"spec": {"policyName": "p", "paramRef": {"name": "a", "namespace": "b",
        "parameterNotFoundAction": "Deny"}, "validationActions": ["Warn", "Audit"],
        "matchResources": {"namespaceSelector": {"matchLabels": {"a": "b"}}}}})",
     R"({"spec": {"policyName": "p", "paramRef": {"name": "a", "namespace": "b",
        "parameterNotFoundAction": "Deny"}, "matchResources": {"namespaceSelector":
        {"matchLabels": {"a": "b"}}, "objectSelector": {}, "matchPolicy": "Equivalent"},
        "validationActions": ["Warn", "Audit"]}})",
     R"(["NAME", "p", "b/a", "AGE"])"},
};
INSTANTIATE_TEST_SUITE_P(AdmissionPolicy, StoredObjectTest,
                         ::testing::ValuesIn(stored_admission_policy_objects),
                         StoredObjectTestName);

const InvalidKind invalid_admission_policy_objects[] = {
    {"EmptyAdmissionPolicy",
     "admissionregistration.k8s.io/v1",
     "validatingadmissionpolicies",
     R"({})",
     {"FieldValueRequired spec.matchConstraints: Required value",
      ("FieldValueRequired spec.validations: Required value: validations or auditAnnotations must "
       "contain at least one item"),
      ("FieldValueRequired spec.auditAnnotations: Required value: validations or auditAnnotations "
       "must contain at least one item")}},
    {"AdmissionPolicyWithInvalidFields",
     "admissionregistration.k8s.io/v1",
     "validatingadmissionpolicies",
     R"({"spec": {"failurePolicy": "x", "paramKind": {}, "matchConstraints": {"resourceRules":
        [{}], "matchPolicy": "x"}, "matchConditions": [{}], "validations": [{"reason": "x",
        "message": " a\nb"}, {}], "auditAnnotations": [{}], "variables": [{}]}})",
     {R"(FieldValueNotSupported spec.failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore")",
      "FieldValueRequired spec.paramKind.apiVersion: Required value",
      "FieldValueRequired spec.paramKind.kind: Required value",
      R"(FieldValueNotSupported spec.matchConstraints.matchPolicy: Unsupported value: "x": supported values: "Equivalent", "Exact")",
      "FieldValueRequired spec.matchConstraints.resourceRules[0].operations: Required value",
      "FieldValueRequired spec.matchConstraints.resourceRules[0].apiGroups: Required value",
      "FieldValueRequired spec.matchConstraints.resourceRules[0].apiVersions: Required value",
      "FieldValueRequired spec.matchConstraints.resourceRules[0].resources: Required value",
      "FieldValueRequired spec.matchConditions[0].expression: Required value",
      "FieldValueRequired spec.matchConditions[0].name: Required value",
      "FieldValueRequired spec.variables[0].name: Required value: name is not specified",
      ("FieldValueRequired spec.variables[0].expression: Required value: expression is not "
       "specified"),
      ("FieldValueRequired spec.validations[0].expression: Required value: expression is not "
       "specified"),
      R"(FieldValueInvalid spec.validations[0].message: Invalid value: " a\nb": must not contain line breaks)",
      R"(FieldValueNotSupported spec.validations[0].reason: Unsupported value: "x": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge")",
      ("FieldValueRequired spec.validations[1].expression: Required value: expression is not "
       "specified"),
      R"(FieldValueInvalid spec.auditAnnotations[0].key: Invalid value: "NAME/": name part must be non-empty)",
      R"(FieldValueInvalid spec.auditAnnotations[0].key: Invalid value: "NAME/": name part )" +
          qualified_name_error,
      ("FieldValueRequired spec.auditAnnotations[0].valueExpression: Required value: "
       "valueExpression is not specified")}},
    {"EmptyAdmissionPolicyBinding",
     "admissionregistration.k8s.io/v1",
     "validatingadmissionpolicybindings",
     R"({})",
     {"FieldValueRequired spec.policyName: Required value",
      ("FieldValueRequired spec.validationActions: Required value: at least one validation action "
       "is required")}},
    {"AdmissionPolicyBindingWithInvalidFields",
     "admissionregistration.k8s.io/v1",
     "validatingadmissionpolicybindings",
     R"({"spec": {"policyName": "P", "paramRef": {"name": "a", "selector": {},
        "parameterNotFoundAction": "x"}, "validationActions": ["x", "Deny", "Warn", "Deny"],
        "matchResources": {"matchPolicy": "x"}}})",
     {R"(FieldValueInvalid spec.policyName: Invalid value: "P": )" + dns1123_subdomain_error,
      "FieldValueForbidden spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
      ("FieldValueForbidden spec.paramRef.selector: Forbidden: name and selector are mutually "
       "exclusive"),
      R"(FieldValueNotSupported spec.paramRef.parameterNotFoundAction: Unsupported value: "x": supported values: "Deny", "Allow")",
      R"(FieldValueNotSupported spec.matchResources.matchPolicy: Unsupported value: "x": supported values: "Equivalent", "Exact")",
      R"(FieldValueNotSupported spec.validationActions[0]: Unsupported value: "x": supported values: "Audit", "Deny", "Warn")",
      R"(FieldValueDuplicate spec.validationActions[3]: Duplicate value: "Deny")",
      R"(FieldValueInvalid spec.validationActions: Invalid value: ["x","Deny","Warn","Deny"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose))"}},
};
INSTANTIATE_TEST_SUITE_P(AdmissionPolicy, InvalidKindTest,
                         ::testing::ValuesIn(invalid_admission_policy_objects),
                         InvalidKindTestName);

}  // namespace
}  // namespace kopp::conformance
