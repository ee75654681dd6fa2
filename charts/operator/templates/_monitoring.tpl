{{/* The fields of an endpoint that ServiceMonitor and PodMonitor have in common: a dictionary with root and monitor, its values. */}}
{{- define "operator.endpoint" -}}
path: /metrics
{{- if .root.Values.metrics.secure }}
scheme: https
{{- with .monitor.tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with .monitor.interval }}
interval: {{ . }}
{{- end }}
{{- with .monitor.scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
{{- with .monitor.relabelings }}
relabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .monitor.metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The alerts, as a YAML list. */}}
{{- define "operator.alerts" -}}
{{- $selector := printf "namespace=%q,pod=~%q" (include "operator.namespace" .) (printf "%s-.*" (include "operator.fullname" .)) -}}
{{- $name := include "operator.fullname" . -}}
- alert: OperatorDown
  expr: absent(process_start_time_seconds{ {{- $selector -}} })
  for: 10m
  labels: {severity: critical}
  annotations:
    summary: Prometheus finds no replica of {{ $name }}.
    description: Check that its Pods run, and that Prometheus may read their metrics.
{{- if .Values.leaderElection.enabled }}
- alert: OperatorHasNoLeader
  expr: sum(leader_election_master_status{ {{- $selector -}} }) == 0
  for: 5m
  labels: {severity: critical}
  annotations:
    summary: No replica of {{ $name }} is the leader, so nothing is reconciled.
    description: Look for the reason in the logs, and at the Lease {{ include "operator.leaseName" . }} in namespace {{ include "operator.leaderElectionNamespace" . }}.
{{- end }}
- alert: OperatorReconcileErrors
  expr: |
    sum by (controller) (rate(controller_runtime_reconcile_total{ {{- $selector -}} ,result="error"}[5m]))
      / sum by (controller) (rate(controller_runtime_reconcile_total{ {{- $selector -}} }[5m])) > 0.1
  for: 15m
  labels: {severity: warning}
  annotations:
    summary: More than a tenth of the reconciles of {{ "{{ $labels.controller }}" }} fail.
    description: The log of {{ $name }} and the Events of the objects have the errors.
- alert: OperatorObjectsFail
  expr: min_over_time(sum by (controller) (kopp_controller_failing_keys{ {{- $selector -}} })[30m:1m]) > 0
  for: 15m
  labels: {severity: warning}
  annotations:
    summary: Objects of {{ "{{ $labels.controller }}" }} have failed for 45 minutes.
    description: The log of {{ $name }} and the Events of the objects have the errors.
- alert: OperatorReconcileIsStuck
  expr: max by (name) (workqueue_longest_running_processor_seconds{ {{- $selector -}} }) > 600
  for: 5m
  labels: {severity: warning}
  annotations:
    summary: A reconcile of {{ "{{ $labels.name }}" }} has been running for more than 10 minutes.
    description: If it does not end, the liveness probe of {{ $name }} fails later and the Pod is restarted.
- alert: OperatorQueueGrows
  expr: min_over_time(sum by (name) (workqueue_depth{ {{- $selector -}} })[15m:1m]) > 100
  for: 15m
  labels: {severity: warning}
  annotations:
    summary: The queue {{ "{{ $labels.name }}" }} has had more than 100 objects for 30 minutes.
    description: Set controller.concurrency to a higher number, or look for slow reconciles.
- alert: OperatorInformerIsNotSynced
  expr: min(kopp_informer_synced{ {{- $selector -}} }) == 0
  for: 10m
  labels: {severity: warning}
  annotations:
    summary: A cache of {{ $name }} does not have the objects of the API server.
    description: The log has the errors of its lists and watches, for example missing permissions.
- alert: OperatorWebhooksFail
  expr: |
    sum(rate(controller_runtime_webhook_requests_total{ {{- $selector -}} ,code!="200"}[5m]))
      + sum(rate(controller_runtime_webhook_panics_total{ {{- $selector -}} }[5m])) > 0
  for: 15m
  labels: {severity: warning}
  annotations:
    summary: Webhooks of {{ $name }} fail, so the API server may reject writes.
    description: The log of {{ $name }} has the exceptions and the objects. Code 429 means too many requests at the same time.
- alert: OperatorWebhookCertificateExpires
  expr: min by (pod) (kopp_webhook_certificate_expiration_timestamp_seconds{ {{- $selector -}} }) - time() < {{ mul .Values.metrics.prometheusRule.webhookCertificateDays 86400 }}
  for: 15m
  labels: {severity: critical}
  annotations:
    summary: The certificate of the webhooks of {{ "{{ $labels.pod }}" }} expires in less than {{ .Values.metrics.prometheusRule.webhookCertificateDays }} days.
    description: Then the API server rejects writes. The log of {{ $name }} has the reason, if it issues the certificate itself.
{{- with .Values.metrics.prometheusRule.rules }}
{{ toYaml . }}
{{- end }}
{{- end -}}
