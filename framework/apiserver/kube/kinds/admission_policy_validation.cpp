// ValidatingAdmissionPolicies and their bindings. The server stores them, but does not evaluate
// them.
#include "kinds/admission_policy_validation.hpp"

#include "kinds/webhook_validation.hpp"
#include "schema/field_validation.hpp"
#include "strategy/kind_strategy.hpp"

#include <set>
#include <string>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

void ValidateMatchResources(const FieldRef& resources, FieldErrors& errors) {
  ValidateEnum(resources["matchPolicy"], {"Equivalent", "Exact"}, errors);
  ValidateLabelSelector(resources["namespaceSelector"], errors);
  ValidateLabelSelector(resources["objectSelector"], errors);
  for (const char* list : {"resourceRules", "excludeResourceRules"}) {
    for (const FieldRef& rule : resources[list].items()) ValidateRuleWithOperations(rule, errors);
  }
}

void ValidateExpression(const FieldRef& item, const std::string& field, FieldErrors& errors) {
  ValidateRequired(item[field], errors, field + " is not specified");
}

void ValidateValidation(const FieldRef& validation, FieldErrors& errors) {
  ValidateExpression(validation, "expression", errors);
  const FieldRef message = validation["message"];
  if (message.text().find('\n') != std::string::npos) {
    errors.push_back(InvalidValue(message.path(), message.value(), "must not contain line breaks"));
  }
  if (validation["reason"].exists()) {
    ValidateEnum(validation["reason"], {"Forbidden", "Invalid", "RequestEntityTooLarge"}, errors);
  }
}

void ValidateAuditAnnotation(const FieldRef& annotation, const std::string& policy,
                             FieldErrors& errors) {
  const std::string key = policy + '/' + annotation["key"].text();
  for (const std::string& detail : ValidateQualifiedName(key)) {
    errors.push_back(InvalidValue(annotation["key"].path(), key, detail));
  }
  ValidateExpression(annotation, "valueExpression", errors);
}

void ValidatePolicy(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  ValidateEnum(spec["failurePolicy"], {"Fail", "Ignore"}, errors);
  if (const FieldRef kind = spec["paramKind"]; kind.exists()) {
    ValidateRequired(kind["apiVersion"], errors);
    ValidateRequired(kind["kind"], errors);
  }
  if (ValidateRequired(spec["matchConstraints"], errors)) {
    ValidateMatchResources(spec["matchConstraints"], errors);
  }
  ValidateMatchConditions(spec["matchConditions"], errors);
  for (const FieldRef& variable : spec["variables"].items()) {
    ValidateExpression(variable, "name", errors);
    ValidateExpression(variable, "expression", errors);
  }
  if (spec["validations"].size() + spec["auditAnnotations"].size() == 0) {
    for (const char* list : {"validations", "auditAnnotations"}) {
      errors.push_back(Required(spec[list].path(),
                                "validations or auditAnnotations must contain at least one item"));
    }
  }
  for (const FieldRef& validation : spec["validations"].items()) {
    ValidateValidation(validation, errors);
  }
  const std::string policy = FieldRef(object)["metadata"]["name"].text();
  for (const FieldRef& annotation : spec["auditAnnotations"].items()) {
    ValidateAuditAnnotation(annotation, policy, errors);
  }
}

void ValidateParamRef(const FieldRef& reference, FieldErrors& errors) {
  const bool has_name = !reference["name"].text().empty();
  const bool has_selector = reference["selector"].exists();
  if (has_name && has_selector) {
    for (const char* field : {"name", "selector"}) {
      errors.push_back(
          ForbiddenField(reference[field].path(), "name and selector are mutually exclusive"));
    }
  } else if (!has_name && !has_selector) {
    errors.push_back(Required(reference.path(), "one of name or selector must be specified"));
  }
  const FieldRef action = reference["parameterNotFoundAction"];
  if (ValidateRequired(action, errors)) ValidateEnum(action, {"Deny", "Allow"}, errors);
}

void ValidateActions(const FieldRef& actions, FieldErrors& errors) {
  if (actions.size() == 0) {
    errors.push_back(Required(actions.path(), "at least one validation action is required"));
  }
  std::set<std::string> seen;
  for (const FieldRef& action : actions.items()) {
    ValidateEnum(action, {"Audit", "Deny", "Warn"}, errors);
    ValidateUniqueJson(action, seen, errors);
  }
  if (seen.contains("Deny") && seen.contains("Warn")) {
    errors.push_back(InvalidValue(
        actions.path(), actions.value(),
        "must not contain both Deny and Warn (repeating the same validation failure information "
        "in the API response and headers serves no purpose)"));
  }
}

void ValidateBinding(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  const FieldRef policy = spec["policyName"];
  if (ValidateRequired(policy, errors)) ValidateName(policy, &ValidateDnsSubdomain, errors);
  if (spec["paramRef"].exists()) ValidateParamRef(spec["paramRef"], errors);
  if (spec["matchResources"].exists()) ValidateMatchResources(spec["matchResources"], errors);
  ValidateActions(spec["validationActions"], errors);
}

}  // namespace

void AddAdmissionPolicyStrategies(StrategiesByKind& strategies) {
  const std::string group = ".admissionregistration.k8s.io";
  KindStrategy& policies = strategies["validatingadmissionpolicies" + group];
  KindStrategy& bindings = strategies["validatingadmissionpolicybindings" + group];
  for (KindStrategy* strategy : {&policies, &bindings}) {
    strategy->generation = KindStrategy::Generation::kSpec;
    strategy->finalizer_domain = KindStrategy::FinalizerDomain::kOptional;
    strategy->allows_unconditional_update = false;
    strategy->status_metadata = KindStrategy::StatusMetadata::kNone;
  }
  policies.validate = &ValidatePolicy;
  bindings.validate = &ValidateBinding;
}

}  // namespace kopp::apiserver
