// HorizontalPodAutoscalers: defaults, Tables and validation.
#include "kinds/kinds.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

const StoredObject stored_autoscaling_objects[] = {
    {"AutoscalerHasDefaults", "autoscaling/v2", "horizontalpodautoscalers",
     R"({"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "maxReplicas": 3}})",
     R"({"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
        "minReplicas": 1, "maxReplicas": 3, "metrics": [{"type": "Resource", "resource": {"name":
        "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]}, "status":
        {"desiredReplicas": 0, "currentMetrics": null}})",
     R"(["NAME", "Deployment/d", "cpu: <unknown>/80%", "1", 3, 0, "AGE"])"},
    {"AutoscalerWithAllTypesOfMetrics", "autoscaling/v2", "horizontalpodautoscalers",
     R"({"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "maxReplicas": 3, "metrics": [{"type": "Resource", "resource": {"name": "memory",
        "target": {"type": "AverageValue", "averageValue": "1"}}}, {"type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}},
        {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c",
        "target": {"type": "Utilization", "averageUtilization": 50}}}, {"type":
        "ContainerResource", "containerResource": {"name": "cpu", "container": "c", "target":
        {"type": "AverageValue", "averageValue": "1"}}}, {"type": "Pods", "pods": {"metric":
        {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}}}, {"type":
        "Object", "object": {"describedObject": {"kind": "Service", "name": "s"}, "metric":
        {"name": "m", "selector": {"matchLabels": {"a": "b"}}}, "target": {"type": "Value",
        "value": "1k"}}}, {"type": "Object", "object": {"describedObject": {"kind": "Service",
        "name": "s"}, "metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue":
        "1"}}}, {"type": "External", "external": {"metric": {"name": "m"}, "target": {"type":
        "Value", "value": "1000"}}}, {"type": "External", "external": {"metric": {"name": "m"},
        "target": {"type": "AverageValue", "averageValue": "1"}}}]}})",
     R"({"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
        "minReplicas": 1, "maxReplicas": 3, "metrics": [{"type": "Resource", "resource": {"name":
        "memory", "target": {"type": "AverageValue", "averageValue": "1"}}}, {"type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}},
        {"type": "ContainerResource", "containerResource": {"name": "cpu", "target": {"type":
        "Utilization", "averageUtilization": 50}, "container": "c"}}, {"type":
        "ContainerResource", "containerResource": {"name": "cpu", "target": {"type":
        "AverageValue", "averageValue": "1"}, "container": "c"}}, {"type": "Pods", "pods":
        {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}}},
        {"type": "Object", "object": {"describedObject": {"kind": "Service", "name": "s"},
        "target": {"type": "Value", "value": "1k"}, "metric": {"name": "m", "selector":
        {"matchLabels": {"a": "b"}}}}}, {"type": "Object", "object": {"describedObject": {"kind":
        "Service", "name": "s"}, "target": {"type": "AverageValue", "averageValue": "1"},
        "metric": {"name": "m"}}}, {"type": "External", "external": {"metric": {"name": "m"},
        "target": {"type": "Value", "value": "1k"}}}, {"type": "External", "external": {"metric":
        {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}}}]}, "status":
        {"desiredReplicas": 0, "currentMetrics": null}})",
     R"(["NAME", "Deployment/d", "memory: <unknown>/1, cpu: <unknown>/50% + 7 more...", "1", 3, 0,
        "AGE"])"},
    {"AutoscalerWithABehavior", "autoscaling/v2", "horizontalpodautoscalers",
     R"({"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "maxReplicas": 3, "behavior": {"scaleDown": {"stabilizationWindowSeconds": 10}, "scaleUp":
        {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 10}], "selectPolicy":
        "Min"}}}})",
     R"({"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
        "minReplicas": 1, "maxReplicas": 3, "metrics": [{"type": "Resource", "resource": {"name":
        "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}], "behavior":
        {"scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Min", "policies": [{"type":
        "Pods", "value": 1, "periodSeconds": 10}]}, "scaleDown": {"stabilizationWindowSeconds":
        10, "selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds":
        15}]}}}, "status": {"desiredReplicas": 0, "currentMetrics": null}})",
     R"(["NAME", "Deployment/d", "cpu: <unknown>/80%", "1", 3, 0, "AGE"])"},
    {"AutoscalerWithAnEmptyBehavior", "autoscaling/v2", "horizontalpodautoscalers",
     R"({"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "maxReplicas": 3, "behavior": {}}})",
     R"({"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
        "minReplicas": 1, "maxReplicas": 3, "metrics": [{"type": "Resource", "resource": {"name":
        "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}], "behavior":
        {"scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [{"type":
        "Pods", "value": 4, "periodSeconds": 15}, {"type": "Percent", "value": 100,
        "periodSeconds": 15}]}, "scaleDown": {"selectPolicy": "Max", "policies": [{"type":
        "Percent", "value": 100, "periodSeconds": 15}]}}}, "status": {"desiredReplicas": 0,
        "currentMetrics": null}})",
     R"(["NAME", "Deployment/d", "cpu: <unknown>/80%", "1", 3, 0, "AGE"])"},
};
INSTANTIATE_TEST_SUITE_P(Autoscaling, StoredObjectTest,
                         ::testing::ValuesIn(stored_autoscaling_objects), StoredObjectTestName);

const InvalidKind invalid_autoscaling_objects[] = {
    {"EmptyAutoscaler",
     "autoscaling/v2",
     "horizontalpodautoscalers",
     R"({})",
     {"FieldValueInvalid spec.maxReplicas: Invalid value: 0: must be greater than 0",
      ("FieldValueInvalid spec.maxReplicas: Invalid value: 0: must be greater than or equal to "
       "`minReplicas`"),
      "FieldValueRequired spec.scaleTargetRef.kind: Required value",
      "FieldValueRequired spec.scaleTargetRef.name: Required value",
      R"(FieldValueInvalid spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group)"}},
    {"AutoscalerToZeroReplicas",
     "autoscaling/v2",
     "horizontalpodautoscalers",
     R"({"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "maxReplicas": 0, "minReplicas": 0}})",
     {"FieldValueInvalid spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
      "FieldValueInvalid spec.maxReplicas: Invalid value: 0: must be greater than 0",
      ("FieldValueForbidden spec.metrics: Forbidden: must specify at least one Object or External "
       "metric to support scaling to zero replicas")}},
    {"AutoscalerWithTooManyMinReplicas",
     "autoscaling/v2",
     "horizontalpodautoscalers",
     R"({"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "maxReplicas": 3, "minReplicas": 5}})",
     {("FieldValueInvalid spec.maxReplicas: Invalid value: 3: must be greater than or equal to "
       "`minReplicas`")}},
    {"AutoscalerWithAnInvalidTarget",
     "autoscaling/v2",
     "horizontalpodautoscalers",
     R"({"spec": {"scaleTargetRef": {"kind": "a/b", "name": "..", "apiVersion": "a/b/c"},
        "maxReplicas": 3}})",
     {R"(FieldValueInvalid spec.scaleTargetRef.kind: Invalid value: "a/b": may not contain '/')",
      R"(FieldValueInvalid spec.scaleTargetRef.name: Invalid value: "..": may not be '..')",
      R"(FieldValueInvalid spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c)"}},
    {"AutoscalerWithInvalidMetrics",
     "autoscaling/v2",
     "horizontalpodautoscalers",
     R"({"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "maxReplicas": 3, "metrics": [{}, {"type": "x"}, {"type": "Resource"}, {"type":
        "Resource", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue",
        "averageValue": "1"}}}, {"type": "Resource", "resource": {"name": "", "target": {}}},
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Value", "value":
        "1"}}}, {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "x",
        "averageUtilization": 0, "averageValue": "0", "value": "-1"}}}, {"type": "Resource",
        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50,
        "averageValue": "1"}}}, {"type": "ContainerResource", "containerResource": {"name": "",
        "container": "", "target": {}}}, {"type": "ContainerResource", "containerResource":
        {"name": "cpu", "container": "A", "target": {"type": "Utilization", "averageUtilization":
        50, "averageValue": "1"}}}, {"type": "Pods", "pods": {"metric": {"name": ""}, "target":
        {}}}, {"type": "Pods", "pods": {"metric": {"name": "a/b"}, "target": {"type":
        "AverageValue", "averageValue": "0"}}}, {"type": "Object", "object": {"metric": {"name":
        ""}, "describedObject": {}, "target": {}}}, {"type": "Object", "object": {"metric":
        {"name": "m"}, "describedObject": {"kind": "a", "name": "b"}, "target": {"type": "Value",
        "value": "1", "averageValue": "1"}}}, {"type": "External", "external": {"metric": {"name":
        ""}, "target": {}}}, {"type": "External", "external": {"metric": {"name": "m", "selector":
        {"matchExpressions": [{"key": "a", "operator": "X"}]}}, "target": {"type": "Value",
        "value": "1", "averageValue": "1"}}}, {"type": "External", "external": {"metric": {"name":
        "m"}, "target": {"type": "Utilization", "averageUtilization": 1}}}]}})",
     {"FieldValueRequired spec.metrics[0].type: Required value: must specify a metric source type",
      R"(FieldValueNotSupported spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource")",
      R"(FieldValueNotSupported spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource")",
      R"(FieldValueNotSupported spec.metrics[1].type: Unsupported value: "x": supported values: "ContainerResource", "External", "Object", "Pods", "Resource")",
      R"(FieldValueNotSupported spec.metrics[1].type: Unsupported value: "x": supported values: "ContainerResource", "External", "Object", "Pods", "Resource")",
      ("FieldValueRequired spec.metrics[2].resource: Required value: must populate information for "
       "the given metric source"),
      ("FieldValueRequired spec.metrics[3].resource: Required value: must populate information for "
       "the given metric source"),
      ("FieldValueRequired spec.metrics[4].resource.name: Required value: must specify a resource "
       "name"),
      ("FieldValueRequired spec.metrics[4].resource.target.type: Required value: must specify a "
       "metric target type"),
      R"(FieldValueInvalid spec.metrics[4].resource.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue)",
      ("FieldValueRequired spec.metrics[4].resource.target.averageUtilization: Required value: "
       "must "
       "set either a target raw value or a target utilization"),
      ("FieldValueRequired spec.metrics[5].resource.target.averageUtilization: Required value: "
       "must "
       "set either a target raw value or a target utilization"),
      R"(FieldValueInvalid spec.metrics[6].resource.target.type: Invalid value: "x": must be either Utilization, Value, or AverageValue)",
      R"(FieldValueInvalid spec.metrics[6].resource.target.value: Invalid value: "-1": must be positive)",
      R"(FieldValueInvalid spec.metrics[6].resource.target.averageValue: Invalid value: "0": must be positive)",
      ("FieldValueInvalid spec.metrics[6].resource.target.averageUtilization: Invalid value: 0: "
       "must be greater than 0"),
      ("FieldValueForbidden spec.metrics[6].resource.target.averageValue: Forbidden: may not set "
       "both a target raw value and a target utilization"),
      ("FieldValueForbidden spec.metrics[7].resource.target.averageValue: Forbidden: may not set "
       "both a target raw value and a target utilization"),
      ("FieldValueRequired spec.metrics[8].containerResource.name: Required value: must specify a "
       "resource name"),
      ("FieldValueRequired spec.metrics[8].containerResource.container: Required value: must "
       "specify a container"),
      ("FieldValueRequired spec.metrics[8].containerResource.target.type: Required value: must "
       "specify a metric target type"),
      R"(FieldValueInvalid spec.metrics[8].containerResource.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue)",
      ("FieldValueRequired spec.metrics[8].containerResource.target.averageUtilization: Required "
       "value: must set either a target raw value or a target utilization"),
      R"(FieldValueInvalid spec.metrics[9].containerResource.container: Invalid value: "A": )" +
          dns1123_label_error,
      ("FieldValueForbidden spec.metrics[9].containerResource.target.averageValue: Forbidden: may "
       "not set both a target raw value and a target utilization"),
      ("FieldValueRequired spec.metrics[10].pods.metric.name: Required value: must specify a "
       "metric "
       "name"),
      ("FieldValueRequired spec.metrics[10].pods.target.type: Required value: must specify a "
       "metric "
       "target type"),
      R"(FieldValueInvalid spec.metrics[10].pods.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue)",
      ("FieldValueRequired spec.metrics[10].pods.target.averageValue: Required value: must specify "
       "a positive target averageValue"),
      R"(FieldValueInvalid spec.metrics[11].pods.metric.name: Invalid value: "a/b": may not contain '/')",
      R"(FieldValueInvalid spec.metrics[11].pods.target.averageValue: Invalid value: "0": must be positive)",
      "FieldValueRequired spec.metrics[12].object.describedObject.kind: Required value",
      "FieldValueRequired spec.metrics[12].object.describedObject.name: Required value",
      ("FieldValueRequired spec.metrics[12].object.metric.name: Required value: must specify a "
       "metric name"),
      ("FieldValueRequired spec.metrics[12].object.target.type: Required value: must specify a "
       "metric target type"),
      R"(FieldValueInvalid spec.metrics[12].object.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue)",
      ("FieldValueRequired spec.metrics[12].object.target.averageValue: Required value: must set "
       "either a target value or averageValue"),
      ("FieldValueRequired spec.metrics[14].external.metric.name: Required value: must specify a "
       "metric name"),
      ("FieldValueRequired spec.metrics[14].external.target.type: Required value: must specify a "
       "metric target type"),
      R"(FieldValueInvalid spec.metrics[14].external.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue)",
      ("FieldValueRequired spec.metrics[14].external.target.averageValue: Required value: must set "
       "either a target value for metric or a per-pod target"),
      ("FieldValueForbidden spec.metrics[15].external.target.value: Forbidden: may not set both a "
       "target value for metric and a per-pod target"),
      ("FieldValueRequired spec.metrics[16].external.target.averageValue: Required value: must set "
       "either a target value for metric or a per-pod target")}},
    {"AutoscalerWithAnInvalidBehavior",
     "autoscaling/v2",
     "horizontalpodautoscalers",
     R"({"spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
        "maxReplicas": 3, "behavior": {"scaleDown": {"stabilizationWindowSeconds": 4000,
        "selectPolicy": "x"}, "scaleUp": {"stabilizationWindowSeconds": -1, "policies": [{"type":
        "x", "value": 0, "periodSeconds": 0}, {"type": "Pods", "value": 1, "periodSeconds":
        2000}], "tolerance": "0.1"}}}})",
     {("FieldValueInvalid spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: -1: "
       "must "
       "be greater than or equal to zero"),
      R"(FieldValueNotSupported spec.behavior.scaleUp.policies[0].type: Unsupported value: "x": supported values: "Percent", "Pods")",
      ("FieldValueInvalid spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be "
       "greater than zero"),
      ("FieldValueInvalid spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 0: must "
       "be greater than zero"),
      ("FieldValueInvalid spec.behavior.scaleUp.policies[1].periodSeconds: Invalid value: 2000: "
       "must be less than or equal to 1800"),
      ("FieldValueInvalid spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 4000: "
       "must be less than or equal to 3600"),
      R"(FieldValueNotSupported spec.behavior.scaleDown.selectPolicy: Unsupported value: "x": supported values: "Disabled", "Max", "Min")"}},
};
INSTANTIATE_TEST_SUITE_P(Autoscaling, InvalidKindTest,
                         ::testing::ValuesIn(invalid_autoscaling_objects), InvalidKindTestName);

}  // namespace
}  // namespace kopp::conformance
