{{/* The panels of the Grafana dashboard, as a YAML list. Each query gets the labels of the chosen Pods for SELECTOR; a legend is a
list of labels. */}}
{{- define "operator.panels" -}}
- {title: Reconciles per second, unit: ops, legend: controller result, query: 'sum by (controller, result) (rate(controller_runtime_reconcile_total{SELECTOR}[$__rate_interval]))'}
- {title: Failed reconciles per second, unit: ops, legend: controller, query: 'sum by (controller) (rate(controller_runtime_reconcile_errors_total{SELECTOR}[$__rate_interval]))'}
- {title: "Duration of reconciles, 99th percentile", unit: s, legend: controller, query: 'histogram_quantile(0.99, sum by (controller, le) (rate(controller_runtime_reconcile_time_seconds_bucket{SELECTOR}[$__rate_interval])))'}
- {title: Busy workers, unit: short, legend: controller, query: 'sum by (controller) (controller_runtime_active_workers{SELECTOR})'}
- {title: Objects in the queue, unit: short, legend: name, query: 'sum by (name) (workqueue_depth{SELECTOR})'}
- {title: Objects that wait for a retry or a delay, unit: short, legend: controller, query: 'sum by (controller) (kopp_controller_waiting_keys{SELECTOR})'}
- {title: Objects whose last reconcile failed, unit: short, legend: controller, query: 'sum by (controller) (kopp_controller_failing_keys{SELECTOR})'}
- {title: Adds to the queue per second, unit: ops, legend: name, query: 'sum by (name) (rate(workqueue_adds_total{SELECTOR}[$__rate_interval]))'}
- {title: Retries per second, unit: ops, legend: name, query: 'sum by (name) (rate(workqueue_retries_total{SELECTOR}[$__rate_interval]))'}
- {title: "Time in the queue, 99th percentile", unit: s, legend: name, query: 'histogram_quantile(0.99, sum by (name, le) (rate(workqueue_queue_duration_seconds_bucket{SELECTOR}[$__rate_interval])))'}
- {title: "Time of work, 99th percentile", unit: s, legend: name, query: 'histogram_quantile(0.99, sum by (name, le) (rate(workqueue_work_duration_seconds_bucket{SELECTOR}[$__rate_interval])))'}
- {title: Unfinished work, unit: s, legend: name, query: 'sum by (name) (workqueue_unfinished_work_seconds{SELECTOR})'}
- {title: Longest running reconcile, unit: s, legend: name, query: 'max by (name) (workqueue_longest_running_processor_seconds{SELECTOR})'}
- {title: Requests to the API server per second, unit: ops, legend: method code, query: 'sum by (method, code) (rate(rest_client_requests_total{SELECTOR}[$__rate_interval]))'}
- {title: Requests to webhooks per second, unit: ops, legend: webhook code, query: 'sum by (webhook, code) (rate(controller_runtime_webhook_requests_total{SELECTOR}[$__rate_interval]))'}
- {title: "Duration of requests to webhooks, 99th percentile", unit: s, legend: webhook, query: 'histogram_quantile(0.99, sum by (webhook, le) (rate(controller_runtime_webhook_latency_seconds_bucket{SELECTOR}[$__rate_interval])))'}
- {title: Leader, unit: short, legend: pod, query: 'max by (pod) (leader_election_master_status{SELECTOR})'}
- {title: CPU, unit: short, legend: pod, query: 'sum by (pod) (rate(process_cpu_seconds_total{SELECTOR}[$__rate_interval]))'}
- {title: Resident memory, unit: bytes, legend: pod, query: 'sum by (pod) (process_resident_memory_bytes{SELECTOR})'}
- {title: Informers that are not synced, unit: short, legend: pod, query: 'count by (pod) (kopp_informer_synced{SELECTOR} == 0)'}
{{- end -}}

{{/* The Grafana dashboard as JSON: two panels in a row. */}}
{{- define "operator.dashboard" -}}
{{- $selector := "namespace=~\"$namespace\",pod=~\"$pod\"" -}}
{{- $source := dict "type" "prometheus" "uid" "$datasource" -}}
{{- $panels := list -}}
{{- range $index, $panel := include "operator.panels" . | fromYamlArray -}}
{{- $panels = append $panels (dict
  "id" (add1 $index) "type" "timeseries" "title" .title "datasource" $source
  "gridPos" (dict "h" 8 "w" 12 "x" (mul 12 (mod $index 2)) "y" (mul 8 (div $index 2)))
  "fieldConfig" (dict "defaults" (dict "unit" .unit "min" 0) "overrides" list)
  "targets" (list (dict "refId" "A" "datasource" $source "legendFormat" (regexReplaceAll "[a-z]+" .legend "{{$0}}") "expr" (.query | replace "SELECTOR" $selector)))) -}}
{{- end -}}
{{- $variables := list
  (dict "name" "datasource" "label" "Data source" "type" "datasource" "query" "prometheus")
  (dict "name" "namespace" "label" "Namespace" "type" "query" "datasource" $source "refresh" 2
    "query" "label_values(controller_runtime_reconcile_total, namespace)"
    "current" (dict "text" (include "operator.namespace" .) "value" (include "operator.namespace" .)))
  (dict "name" "pod" "label" "Pod" "type" "query" "datasource" $source "refresh" 2 "includeAll" true "allValue" (printf "%s-.*" (include "operator.fullname" .))
    "query" "label_values(controller_runtime_reconcile_total{namespace=~\"$namespace\"}, pod)"
    "current" (dict "text" "All" "value" "$__all")) -}}
{{- dict "title" (printf "Operator %s" (include "operator.fullname" .)) "uid" (include "operator.clusterName" . | sha256sum | trunc 40)
  "schemaVersion" 38 "editable" true "refresh" "30s" "tags" (list "kubernetes" "operator") "time" (dict "from" "now-1h" "to" "now")
  "templating" (dict "list" $variables) "panels" $panels | toPrettyJson -}}
{{- end -}}
