// Webhook configurations: defaults, Tables and validation.
#include "kinds/kinds.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

const StoredObject stored_webhook_objects[] = {
    {"EmptyWebhookConfiguration", "admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations", R"({})", R"({})", R"(["NAME", 0, "AGE"])"},
    {"ValidatingWebhookHasDefaults", "admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s"}}, "sideEffects": "None", "admissionReviewVersions": ["v1"], "rules":
        [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources":
        ["pods"]}]}]})",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s", "port": 443}}, "rules": [{"operations": ["CREATE"], "apiGroups": [""],
        "apiVersions": ["v1"], "resources": ["pods"], "scope": "*"}], "failurePolicy": "Fail",
        "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}, "sideEffects":
        "None", "timeoutSeconds": 10, "admissionReviewVersions": ["v1"]}]})",
     R"(["NAME", 1, "AGE"])"},
    {"ValidatingWebhookWithAUrl", "admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"url": "https://example.com/x",
        "caBundle": "YQ=="}, "sideEffects": "None", "admissionReviewVersions": ["v1"]}]})",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"url": "https://example.com/x",
        "caBundle": "YQ=="}, "failurePolicy": "Fail", "matchPolicy": "Equivalent",
        "namespaceSelector": {}, "objectSelector": {}, "sideEffects": "None", "timeoutSeconds":
        10, "admissionReviewVersions": ["v1"]}]})",
     R"(["NAME", 1, "AGE"])"},
    {"WebhookWithTheRootPath", "admissionregistration.k8s.io/v1", "validatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s", "path": "/"}}, "sideEffects": "None", "admissionReviewVersions": ["v1"]}]})",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s", "path": "/", "port": 443}}, "failurePolicy": "Fail", "matchPolicy":
        "Equivalent", "namespaceSelector": {}, "objectSelector": {}, "sideEffects": "None",
        "timeoutSeconds": 10, "admissionReviewVersions": ["v1"]}]})",
     R"(["NAME", 1, "AGE"])"},
    {"MutatingWebhookHasDefaults", "admissionregistration.k8s.io/v1",
     "mutatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s"}}, "sideEffects": "None", "admissionReviewVersions": ["v1"], "rules":
        [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources":
        ["pods"]}]}]})",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s", "port": 443}}, "rules": [{"operations": ["CREATE"], "apiGroups": [""],
        "apiVersions": ["v1"], "resources": ["pods"], "scope": "*"}], "failurePolicy": "Fail",
        "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}, "sideEffects":
        "None", "timeoutSeconds": 10, "admissionReviewVersions": ["v1"], "reinvocationPolicy":
        "Never"}]})",
     R"(["NAME", 1, "AGE"])"},
    {"MutatingWebhookWithAllFields", "admissionregistration.k8s.io/v1",
     "mutatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s"}}, "sideEffects": "NoneOnDryRun", "admissionReviewVersions": ["v1"], "rules":
        [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources":
        ["pods"], "scope": "Namespaced"}], "failurePolicy": "Ignore", "matchPolicy": "Exact",
        "timeoutSeconds": 1, "namespaceSelector": {"matchLabels": {"a": "b"}}, "objectSelector":
        {}, "matchConditions": [{"name": "c", "expression": "true"}], "reinvocationPolicy":
        "IfNeeded"}]})",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s", "port": 443}}, "rules": [{"operations": ["CREATE"], "apiGroups": [""],
        "apiVersions": ["v1"], "resources": ["pods"], "scope": "Namespaced"}], "failurePolicy":
        "Ignore", "matchPolicy": "Exact", "namespaceSelector": {"matchLabels": {"a": "b"}},
        "objectSelector": {}, "sideEffects": "NoneOnDryRun", "timeoutSeconds": 1,
        "admissionReviewVersions": ["v1"], "reinvocationPolicy": "IfNeeded", "matchConditions":
        [{"name": "c", "expression": "true"}]}]})",
     R"(["NAME", 1, "AGE"])"},
};
INSTANTIATE_TEST_SUITE_P(Webhook, StoredObjectTest, ::testing::ValuesIn(stored_webhook_objects),
                         StoredObjectTestName);

const InvalidKind invalid_webhook_objects[] = {
    {"WebhookWithAnInsecureUrl",
     "admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"url":
        "http://user@example.com/x?a=b#f"}, "sideEffects": "None", "admissionReviewVersions":
        ["v1"]}]})",
     {R"(FieldValueInvalid webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path])",
      R"(FieldValueInvalid webhooks[0].clientConfig.url: Invalid value: "user": user information is not permitted in the URL)",
      R"(FieldValueInvalid webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL)",
      R"(FieldValueInvalid webhooks[0].clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL)"}},
    {"WebhookUrlWithoutAHost",
     "admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"url": "https://u:p@/x?a=b#f"},
        "sideEffects": "None", "admissionReviewVersions": ["v1"]}]})",
     {R"(FieldValueInvalid webhooks[0].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path])",
      R"(FieldValueInvalid webhooks[0].clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL)",
      R"(FieldValueInvalid webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL)",
      R"(FieldValueInvalid webhooks[0].clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL)"}},
    {"WebhookWithAUrlAndAService",
     "admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"url": "https://e.com",
        "service": {"namespace": "n", "name": "s"}}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"]}]})",
     {("FieldValueRequired webhooks[0].clientConfig: Required value: exactly one of url or service "
       "is required")}},
    {"WebhookWithoutAClient",
     "admissionregistration.k8s.io/v1",
     "mutatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"]}]})",
     {("FieldValueRequired webhooks[0].clientConfig: Required value: exactly one of url or service "
       "is required")}},
    {"WebhookServiceWithoutNames",
     "admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "",
        "name": "", "path": "/a//b/", "port": 0}}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"]}]})",
     {"FieldValueRequired webhooks[0].clientConfig.service.name: Required value",
      "FieldValueRequired webhooks[0].clientConfig.service.namespace: Required value",
      ("FieldValueInvalid webhooks[0].clientConfig.service.port: Invalid value: 0: port is not "
       "valid: must be between 1 and 65535, inclusive"),
      R"(FieldValueInvalid webhooks[0].clientConfig.service.path: Invalid value: "/a//b/": segment[1] may not be empty)"}},
    {"WebhookWithARelativePath",
     "admissionregistration.k8s.io/v1",
     "mutatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s", "path": "a", "port": 70000}}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"]}]})",
     {("FieldValueInvalid webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not "
       "valid: must be between 1 and 65535, inclusive"),
      R"(FieldValueInvalid webhooks[0].clientConfig.service.path: Invalid value: "a": must start with a '/')",
      R"(FieldValueInvalid webhooks[0].clientConfig.service.path: Invalid value: "a": segment[0] may not be empty)"}},
    {"WebhookWithInvalidPathSegments",
     "admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s", "path": "/a_b/C%", "port": 8443}}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"]}]})",
     {R"(FieldValueInvalid webhooks[0].clientConfig.service.path: Invalid value: "/a_b/C%": segment[0]: )" +
          dns1123_subdomain_error,
      R"(FieldValueInvalid webhooks[0].clientConfig.service.path: Invalid value: "/a_b/C%": segment[1]: )" +
          dns1123_subdomain_error}},
    {"WebhookWithoutADomainName",
     "admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a", "clientConfig": {"service": {"namespace": "n", "name": "s"}},
        "sideEffects": "None", "admissionReviewVersions": ["v1"]}, {"name": "", "clientConfig":
        {"service": {"namespace": "n", "name": "s"}}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"]}]})",
     {R"(FieldValueInvalid webhooks[0].name: Invalid value: "a": should be a domain with at least three segments separated by dots)",
      "FieldValueRequired webhooks[1].name: Required value"}},
    {"WebhooksWithTheSameName",
     "admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations",
     R"({"webhooks": [{"name": "A.b.c", "clientConfig": {"service": {"namespace": "n", "name":
        "s"}}, "sideEffects": "None", "admissionReviewVersions": ["v1"]}, {"name":
        "a.example.com", "clientConfig": {"service": {"namespace": "n", "name": "s"}},
        "sideEffects": "None", "admissionReviewVersions": ["v1"]}, {"name": "a.example.com",
        "clientConfig": {"service": {"namespace": "n", "name": "s"}}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"]}, {"name": "a.b", "clientConfig": {"service":
        {"namespace": "n", "name": "s"}}, "sideEffects": "None", "admissionReviewVersions":
        ["v1"]}]})",
     {R"(FieldValueInvalid webhooks[0].name: Invalid value: "A.b.c": )" + dns1123_subdomain_error,
      R"(FieldValueDuplicate webhooks[2].name: Duplicate value: "a.example.com")",
      R"(FieldValueInvalid webhooks[3].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots)"}},
    {"ValidatingWebhookWithUnknownValues",
     "admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s"}}, "sideEffects": "Some", "admissionReviewVersions": ["v3", "v3", "A"],
        "failurePolicy": "x", "matchPolicy": "x", "timeoutSeconds": 31}]})",
     {R"(FieldValueNotSupported webhooks[0].failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore")",
      R"(FieldValueNotSupported webhooks[0].matchPolicy: Unsupported value: "x": supported values: "Equivalent", "Exact")",
      R"(FieldValueNotSupported webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun")",
      ("FieldValueInvalid webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be "
       "between 1 and 30 seconds"),
      R"(FieldValueInvalid webhooks[0].admissionReviewVersions[1]: Invalid value: "v3": duplicate version)",
      R"(FieldValueInvalid webhooks[0].admissionReviewVersions[2]: Invalid value: "A": )" +
          dns1035_label_error,
      R"(FieldValueInvalid webhooks[0].admissionReviewVersions: Invalid value: ["v3","v3","A"]: must include at least one of v1, v1beta1)"}},
    {"MutatingWebhookWithUnknownValues",
     "admissionregistration.k8s.io/v1",
     "mutatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s"}}, "sideEffects": "Some", "admissionReviewVersions": ["v3", "v3", "A"],
        "failurePolicy": "x", "matchPolicy": "x", "timeoutSeconds": 31, "reinvocationPolicy":
        "x"}]})",
     {R"(FieldValueNotSupported webhooks[0].failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore")",
      R"(FieldValueNotSupported webhooks[0].matchPolicy: Unsupported value: "x": supported values: "Equivalent", "Exact")",
      R"(FieldValueNotSupported webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun")",
      ("FieldValueInvalid webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be "
       "between 1 and 30 seconds"),
      R"(FieldValueNotSupported webhooks[0].reinvocationPolicy: Unsupported value: "x": supported values: "IfNeeded", "Never")",
      R"(FieldValueInvalid webhooks[0].admissionReviewVersions[1]: Invalid value: "v3": duplicate version)",
      R"(FieldValueInvalid webhooks[0].admissionReviewVersions[2]: Invalid value: "A": )" +
          dns1035_label_error,
      R"(FieldValueInvalid webhooks[0].admissionReviewVersions: Invalid value: ["v3","v3","A"]: must include at least one of v1, v1beta1)"}},
    {"WebhookWithEmptySideEffects",
     "admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s"}}, "sideEffects": "", "admissionReviewVersions": ["v1"]}]})",
     {R"(FieldValueNotSupported webhooks[0].sideEffects: Unsupported value: "": supported values: "None", "NoneOnDryRun")"}},
    {"WebhookWithoutRequiredFields",
     "admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.b.c"}]})",
     {("FieldValueRequired webhooks[0].sideEffects: Required value: must specify one of None, "
       "NoneOnDryRun"),
      ("FieldValueRequired webhooks[0].clientConfig: Required value: exactly one of url or service "
       "is required"),
      ("FieldValueRequired webhooks[0].admissionReviewVersions: Required value: must specify one "
       "of "
       "v1, v1beta1")}},
    {"WebhookWithInvalidRules",
     "admissionregistration.k8s.io/v1",
     "validatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s"}}, "sideEffects": "None", "admissionReviewVersions": ["v1"], "rules": [{},
        {"apiGroups": ["*", "a"], "apiVersions": ["*", "v1", ""], "operations": ["*", "CREATE",
        "X"], "resources": ["*", "pods", ""], "scope": "x"}, {"apiGroups": [""], "apiVersions":
        ["v1"], "operations": ["X"], "resources": ["*/*", "pods/*", "pods/log", "*/scale",
        "a/scale"]}]}]})",
     {"FieldValueRequired webhooks[0].rules[0].operations: Required value",
      "FieldValueRequired webhooks[0].rules[0].apiGroups: Required value",
      "FieldValueRequired webhooks[0].rules[0].apiVersions: Required value",
      "FieldValueRequired webhooks[0].rules[0].resources: Required value",
      R"(FieldValueInvalid webhooks[0].rules[1].operations: Invalid value: ["*","CREATE","X"]: if '*' is present, must not specify other operations)",
      R"(FieldValueNotSupported webhooks[0].rules[1].operations[2]: Unsupported value: "X": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE")",
      R"(FieldValueInvalid webhooks[0].rules[1].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other API groups)",
      R"(FieldValueInvalid webhooks[0].rules[1].apiVersions: Invalid value: ["*","v1",""]: if '*' is present, must not specify other API versions)",
      "FieldValueRequired webhooks[0].rules[1].apiVersions[2]: Required value",
      "FieldValueRequired webhooks[0].rules[1].resources[2]: Required value",
      R"(FieldValueInvalid webhooks[0].rules[1].resources: Invalid value: ["*","pods",""]: if '*' is present, must not specify other resources without subresources)",
      R"(FieldValueNotSupported webhooks[0].rules[1].scope: Unsupported value: "x": supported values: "*", "Cluster", "Namespaced")",
      R"(FieldValueNotSupported webhooks[0].rules[2].operations[0]: Unsupported value: "X": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE")",
      R"(FieldValueInvalid webhooks[0].rules[2].resources[1]: Invalid value: "pods/*": if '*/*' is present, must not specify pods/*)",
      R"(FieldValueInvalid webhooks[0].rules[2].resources[2]: Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log)",
      R"(FieldValueInvalid webhooks[0].rules[2].resources[3]: Invalid value: "*/scale": if '*/*' is present, must not specify */scale)",
      R"(FieldValueInvalid webhooks[0].rules[2].resources[4]: Invalid value: "a/scale": if '*/scale' is present, must not specify a/scale)",
      R"(FieldValueInvalid webhooks[0].rules[2].resources: Invalid value: ["*/*","pods/*","pods/log","*/scale","a/scale"]: if '*/*' is present, must not specify other resources)"}},
    {"WebhookWithInvalidSelectors",
     "admissionregistration.k8s.io/v1",
     "mutatingwebhookconfigurations",
     R"({"webhooks": [{"name": "a.example.com", "clientConfig": {"service": {"namespace": "n",
        "name": "s"}}, "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "X"}]},
        "objectSelector": {"matchLabels": {"a b": "c"}}, "matchConditions": [{"name": "",
        "expression": ""}, {"name": "a b", "expression": "true"}, {"name": "c", "expression":
        "true"}, {"name": "c", "expression": "true"}]}]})",
     {R"(FieldValueInvalid webhooks[0].namespaceSelector.matchExpressions[0].operator: Invalid value: "X": not a valid selector operator)",
      R"(FieldValueInvalid webhooks[0].objectSelector.matchLabels: Invalid value: "a b": name part )" +
          qualified_name_error,
      "FieldValueRequired webhooks[0].matchConditions[0].expression: Required value",
      "FieldValueRequired webhooks[0].matchConditions[0].name: Required value",
      R"(FieldValueInvalid webhooks[0].matchConditions[1].name: Invalid value: "a b": name part )" +
          qualified_name_error,
      R"(FieldValueDuplicate webhooks[0].matchConditions[3].name: Duplicate value: "c")"}},
};
INSTANTIATE_TEST_SUITE_P(Webhook, InvalidKindTest, ::testing::ValuesIn(invalid_webhook_objects),
                         InvalidKindTestName);

const std::string webhooks_with_invalid_urls = R"({"webhooks": [
        {"name": "a.example.com", "clientConfig": {"url": "2026-01-01T00:00:00Z"},
         "sideEffects": "None", "admissionReviewVersions": ["v1"]},
        {"name": "b.example.com", "clientConfig": {"url": "https://a/%zz"},
         "sideEffects": "None", "admissionReviewVersions": ["v1"]},
        {"name": "c.example.com", "clientConfig": {"url": "a\nb"},
         "sideEffects": "None", "admissionReviewVersions": ["v1"]},
        {"name": "d.example.com", "clientConfig": {"url": "::1"},
         "sideEffects": "None", "admissionReviewVersions": ["v1"]},
        {"name": "e.example.com", "clientConfig": {"url": "https://a:b"},
         "sideEffects": "None", "admissionReviewVersions": ["v1"]},
        {"name": "f.example.com", "clientConfig": {"url": "https://a b"},
         "sideEffects": "None", "admissionReviewVersions": ["v1"]},
        {"name": "g.example.com", "clientConfig": {"url": "HTTPS://A/#%"},
         "sideEffects": "None", "admissionReviewVersions": ["v1"]},
        {"name": "h.example.com", "clientConfig": {"url": "a:b"},
         "sideEffects": "None", "admissionReviewVersions": ["v1"]}]})";
/// The scope must not be empty. Of the resources, kube-apiserver compares only the last one with
/// "*".
const std::string webhook_without_scope = R"({"webhooks": [
        {"name": "a.example.com", "clientConfig": {"url": "HTTPS://E.com"},
         "sideEffects": "None", "admissionReviewVersions": ["v1"],
         "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"],
                    "resources": ["pods", "*"], "scope": ""}]}]})";

const InvalidKind webhooks_with_invalid_texts[] = {
    {"WebhookUrlsThatCannotBeParsed",
     "admissionregistration.k8s.io/v1",
     "mutatingwebhookconfigurations",
     webhooks_with_invalid_urls,
     {R"(FieldValueRequired webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse "2026-01-01T00:00:00Z": first path segment in URL cannot contain colon; desired format: https://host[/path])",
      R"(FieldValueRequired webhooks[1].clientConfig.url: Required value: url must be a valid URL: parse "https://a/%zz": invalid URL escape "%zz"; desired format: https://host[/path])",
      R"(FieldValueRequired webhooks[2].clientConfig.url: Required value: url must be a valid URL: parse "a\nb": net/url: invalid control character in URL; desired format: https://host[/path])",
      R"(FieldValueRequired webhooks[3].clientConfig.url: Required value: url must be a valid URL: parse "::1": missing protocol scheme; desired format: https://host[/path])",
      R"(FieldValueRequired webhooks[4].clientConfig.url: Required value: url must be a valid URL: parse "https://a:b": invalid port ":b" after host; desired format: https://host[/path])",
      R"(FieldValueRequired webhooks[5].clientConfig.url: Required value: url must be a valid URL: parse "https://a b": invalid character " " in host name; desired format: https://host[/path])",
      R"(FieldValueRequired webhooks[6].clientConfig.url: Required value: url must be a valid URL: parse "HTTPS://A/#%": invalid URL escape "%"; desired format: https://host[/path])",
      R"(FieldValueInvalid webhooks[7].clientConfig.url: Invalid value: "a": 'https' is the only allowed URL scheme; desired format: https://host[/path])",
      R"(FieldValueInvalid webhooks[7].clientConfig.url: Invalid value: "": host must be specified; desired format: https://host[/path])"}},
    {"WebhookRuleWithAnEmptyScope",
     "admissionregistration.k8s.io/v1",
     "mutatingwebhookconfigurations",
     webhook_without_scope,
     {R"(FieldValueNotSupported webhooks[0].rules[0].scope: Unsupported value: "": supported values: "*", "Cluster", "Namespaced")"}},
};
INSTANTIATE_TEST_SUITE_P(WebhookTexts, InvalidKindTest,
                         ::testing::ValuesIn(webhooks_with_invalid_texts), InvalidKindTestName);

}  // namespace
}  // namespace kopp::conformance
