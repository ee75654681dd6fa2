// HorizontalPodAutoscalers.
#include "kinds/autoscaling_validation.hpp"

#include "fields/field_rules.hpp"
#include "pods/container_resources_validation.hpp"
#include "schema/field_validation.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <kopp/k8s/quantity.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

void AddInvalid(const FieldRef& field, const char* detail, FieldErrors& errors) {
  errors.push_back(InvalidValue(field.path(), field.value(), detail));
}

/// Requires a path segment. `detail` is the detail of the error for a missing value.
void ValidateSegment(const FieldRef& field, const std::string& detail, FieldErrors& errors) {
  if (ValidateRequired(field, errors, detail)) ValidateName(field, &ValidatePathSegment, errors);
}

void ValidateObjectReference(const FieldRef& reference, FieldErrors& errors) {
  ValidateSegment(reference["kind"], "", errors);
  ValidateSegment(reference["name"], "", errors);
}

/// Requires at most one slash. Returns whether there is no more.
bool ValidateGroupVersion(const FieldRef& version, FieldErrors& errors) {
  const std::string text = version.text();
  if (std::count(text.begin(), text.end(), '/') <= 1) return true;
  errors.push_back(InvalidValue(version.path(), text, "unexpected GroupVersion string: " + text));
  return false;
}

/// Requires an API group, except for ReplicationControllers, which belong to the core group.
void ValidateTargetApiVersion(const FieldRef& reference, FieldErrors& errors) {
  const FieldRef version = reference["apiVersion"];
  const std::string text = version.text();
  if (!ValidateGroupVersion(version, errors)) return;
  const bool has_group = text.find('/') != std::string::npos && text.front() != '/';
  if (!has_group && !reference["kind"].is("ReplicationController")) {
    errors.push_back(InvalidValue(version.path(), text, "apiVersion must specify API group"));
  }
}

void ValidatePositiveQuantity(const FieldRef& quantity, FieldErrors& errors) {
  if (quantity.exists() && k8s::Quantity(quantity.text()) <= k8s::Quantity("0")) {
    AddInvalid(quantity, "must be positive", errors);
  }
}

void ValidateMetricTarget(const FieldRef& target, FieldErrors& errors) {
  const FieldRef type = target["type"];
  ValidateRequired(type, errors, "must specify a metric target type");
  if (!type.is("Utilization") && !type.is("Value") && !type.is("AverageValue")) {
    errors.push_back(InvalidJson(type.path(), type.text(),
                                 "must be either Utilization, Value, or AverageValue"));
  }
  ValidatePositiveQuantity(target["value"], errors);
  ValidatePositiveQuantity(target["averageValue"], errors);
  const FieldRef utilization = target["averageUtilization"];
  if (utilization.exists() && utilization.number() < 1) {
    AddInvalid(utilization, "must be greater than 0", errors);
  }
}

void ValidateResourceTarget(const FieldRef& target, FieldErrors& errors) {
  ValidateMetricTarget(target, errors);
  const bool has_utilization = target["averageUtilization"].exists();
  const FieldRef value = target["averageValue"];
  if (!has_utilization && !value.exists()) {
    errors.push_back(Required(target["averageUtilization"].path(),
                              "must set either a target raw value or a target utilization"));
  }
  if (has_utilization && value.exists()) {
    errors.push_back(ForbiddenField(
        value.path(), "may not set both a target raw value and a target utilization"));
  }
}

void ValidateMetricName(const FieldRef& source, FieldErrors& errors) {
  ValidateSegment(source["metric"]["name"], "must specify a metric name", errors);
}

void ValidateObjectSource(const FieldRef& source, FieldErrors& errors) {
  const FieldRef target = source["target"];
  ValidateObjectReference(source["describedObject"], errors);
  ValidateGroupVersion(source["describedObject"]["apiVersion"], errors);
  ValidateMetricName(source, errors);
  ValidateMetricTarget(target, errors);
  if (!target["value"].exists() && !target["averageValue"].exists()) {
    errors.push_back(
        Required(target["averageValue"].path(), "must set either a target value or averageValue"));
  }
}

void ValidatePodsSource(const FieldRef& source, FieldErrors& errors) {
  const FieldRef target = source["target"];
  ValidateMetricName(source, errors);
  ValidateMetricTarget(target, errors);
  if (!target["averageValue"].exists()) {
    errors.push_back(
        Required(target["averageValue"].path(), "must specify a positive target averageValue"));
  }
}

void ValidateResourceSource(const FieldRef& source, FieldErrors& errors) {
  ValidateRequired(source["name"], errors, "must specify a resource name");
  ValidateResourceTarget(source["target"], errors);
}

void ValidateContainerResourceSource(const FieldRef& source, FieldErrors& errors) {
  const FieldRef name = source["name"];
  if (ValidateRequired(name, errors, "must specify a resource name"))
    ValidateContainerResourceName(name.text(), name.path(), errors);
  const FieldRef container = source["container"];
  if (ValidateRequired(container, errors, "must specify a container")) {
    ValidateName(container, &ValidateDnsLabel, errors);
  }
  ValidateResourceTarget(source["target"], errors);
}

void ValidateExternalSource(const FieldRef& source, FieldErrors& errors) {
  const FieldRef target = source["target"];
  ValidateMetricName(source, errors);
  ValidateMetricTarget(target, errors);
  const bool has_value = target["value"].exists();
  const bool has_average = target["averageValue"].exists();
  if (has_value && has_average) {
    errors.push_back(ForbiddenField(
        target["value"].path(), "may not set both a target value for metric and a per-pod target"));
  }
  if (!has_value && !has_average) {
    errors.push_back(Required(target["averageValue"].path(),
                              "must set either a target value for metric or a per-pod target"));
  }
}

/// A type of metric: its name, the field of its source, and the validation of the source.
struct MetricType {
  const char* type;
  const char* field;
  void (*validate)(const FieldRef&, FieldErrors&);
};
constexpr MetricType kMetricTypes[] = {
    {"Object", "object", &ValidateObjectSource},
    {"External", "external", &ValidateExternalSource},
    {"Pods", "pods", &ValidatePodsSource},
    {"Resource", "resource", &ValidateResourceSource},
    {"ContainerResource", "containerResource", &ValidateContainerResourceSource},
};

void ValidateMetric(const FieldRef& metric, FieldErrors& errors) {
  const FieldRef type = metric["type"];
  ValidateRequired(type, errors, "must specify a metric source type");
  std::string expected_field;
  std::vector<std::string> fields;
  for (const MetricType& each : kMetricTypes) {
    if (type.is(each.type)) expected_field = each.field;
    if (metric[each.field].exists()) fields.emplace_back(each.field);
  }
  const std::vector<std::string> types{"ContainerResource", "External", "Object", "Pods",
                                       "Resource"};
  ValidateEnum(type, types, errors);
  for (const MetricType& each : kMetricTypes) {
    if (!fields.empty() && fields.front() == each.field) each.validate(metric[each.field], errors);
  }
  if (expected_field.empty()) return ValidateEnum(type, types, errors);  // as kube-apiserver: twice
  if (!metric[expected_field].exists()) {
    errors.push_back(Required(metric[expected_field].path(),
                              "must populate information for the given metric source"));
  }
  if (fields.size() == 1) return;
  for (const std::string& field : fields) {
    if (field == expected_field) continue;
    errors.push_back(
        ForbiddenField(metric[field].path(), "must populate the given metric source only"));
  }
}

/// Requires a number from `min` to `max`, and describes these limits with `too_small` and "must be
/// less than or equal to MAX".
void ValidateRange(const FieldRef& number, int min, int max, const char* too_small,
                   FieldErrors& errors) {
  if (number.number() < min) AddInvalid(number, too_small, errors);
  if (number.number() > max) {
    errors.push_back(InvalidValue(number.path(), number.value(),
                                  "must be less than or equal to " + std::to_string(max)));
  }
}

void ValidateScalingRules(const FieldRef& rules, FieldErrors& errors) {
  constexpr int kMaxWindow = 3600;
  constexpr int kMaxPeriod = 1800;
  ValidateRange(rules["stabilizationWindowSeconds"], 0, kMaxWindow,
                "must be greater than or equal to zero", errors);
  ValidateEnum(rules["selectPolicy"], {"Disabled", "Max", "Min"}, errors);
  const FieldRef policies = rules["policies"];
  if (policies.size() == 0) {
    errors.push_back(Required(policies.path(), "must specify at least one Policy"));
  }
  for (const FieldRef& policy : policies.items()) {
    ValidateEnum(policy["type"], {"Percent", "Pods"}, errors);
    if (policy["value"].number() < 1) {
      AddInvalid(policy["value"], "must be greater than zero", errors);
    }
    ValidateRange(policy["periodSeconds"], 1, kMaxPeriod, "must be greater than zero", errors);
  }
}

void ValidateReplicas(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef min = spec["minReplicas"];
  const FieldRef max = spec["maxReplicas"];
  if (min.number() < 1) AddInvalid(min, "must be greater than or equal to 1", errors);
  if (max.number() < 1) AddInvalid(max, "must be greater than 0", errors);
  if (max.number() < min.number()) {
    AddInvalid(max, "must be greater than or equal to `minReplicas`", errors);
  }
}

void ValidateAutoscaler(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  ValidateReplicas(spec, errors);
  ValidateObjectReference(spec["scaleTargetRef"], errors);
  ValidateTargetApiVersion(spec["scaleTargetRef"], errors);
  const auto metrics = spec["metrics"].items();
  for (const FieldRef& metric : metrics) ValidateMetric(metric, errors);
  const bool has_external_metric =
      std::any_of(metrics.begin(), metrics.end(), [](const FieldRef& metric) {
        return metric["type"].is("Object") || metric["type"].is("External");
      });
  if (spec["minReplicas"].number() == 0 && !has_external_metric) {
    errors.push_back(ForbiddenField(
        spec["metrics"].path(),
        "must specify at least one Object or External metric to support scaling to zero replicas"));
  }
  for (const char* direction : {"scaleUp", "scaleDown"}) {
    const FieldRef rules = spec["behavior"][direction];
    if (rules.exists()) ValidateScalingRules(rules, errors);
  }
}

void ValidateAutoscalerStatus(const json& object, FieldErrors& errors) {
  const FieldRef status = FieldRef(object)["status"];
  ValidateNonNegative(status["currentReplicas"], errors);
  ValidateNonNegative(status["desiredReplicas"], errors);
}

/// Removes the fields of features that are disabled by default.
void AssignAutoscalerFields(ServerContext&, const json&, json& autoscaler) {
  const json::json_pointer behavior("/spec/behavior");
  if (!autoscaler.contains(behavior)) return;
  for (json& rules : autoscaler[behavior]) rules.erase("tolerance");
}

}  // namespace

void AddAutoscalingStrategies(StrategiesByKind& strategies) {
  KindStrategy& autoscalers = strategies["horizontalpodautoscalers.autoscaling"];
  autoscalers.status_metadata = KindStrategy::StatusMetadata::kAll;
  autoscalers.assign_fields = &AssignAutoscalerFields;
  autoscalers.validate = &ValidateAutoscaler;
  autoscalers.validate_status = &ValidateAutoscalerStatus;
}

}  // namespace kopp::apiserver
