{{/* The name of the chart in labels. */}}
{{- define "operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* The name of the objects. It is cut to 52 characters, so that suffixes such as "-leader-election" fit in 63 or 253. */}}
{{- define "operator.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains (include "operator.name" .) .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "operator.name" .) | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The name of a cluster-scoped object: releases of the same name in two namespaces do not share it. */}}
{{- define "operator.clusterName" -}}
{{- $fullname := include "operator.fullname" . -}}
{{- $namespace := include "operator.namespace" . -}}
{{- if eq $fullname $namespace -}}{{ $fullname }}{{- else -}}{{ $namespace }}-{{ $fullname }}{{- end -}}
{{- end -}}

{{- define "operator.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "operator.leaderElectionNamespace" -}}
{{- default (include "operator.namespace" .) .Values.leaderElection.namespace -}}
{{- end -}}

{{/* The name of the Lease. In a namespace that other releases may use, too, it starts with the operator's namespace. */}}
{{- define "operator.leaseName" -}}
{{- if eq (include "operator.leaderElectionNamespace" .) (include "operator.namespace" .) -}}
{{- include "operator.fullname" . -}}
{{- else -}}
{{- include "operator.clusterName" . -}}
{{- end -}}
{{- end -}}

{{/* The watched namespaces, separated by commas; empty: all. */}}
{{- define "operator.watchNamespaces" -}}
{{- if .Values.watchNamespaces -}}
{{- join "," .Values.watchNamespaces -}}
{{- else if .Values.rbac.namespaced -}}
{{- include "operator.namespace" . -}}
{{- end -}}
{{- end -}}

{{/* The number of replicas. With webhooks there are at least two: the API server rejects writes while it cannot call them. */}}
{{- define "operator.replicas" -}}
{{- .Values.webhook.enabled | ternary (max 2 (int .Values.replicaCount)) (int .Values.replicaCount) -}}
{{- end -}}

{{/* The time that a Pod gets to stop. With webhooks it includes the delay in which they are still served. */}}
{{- define "operator.terminationGracePeriodSeconds" -}}
{{- $webhooks := add .Values.webhook.shutdownDelaySeconds 35 -}}
{{- .Values.webhook.enabled | ternary (max $webhooks (int .Values.terminationGracePeriodSeconds)) (int .Values.terminationGracePeriodSeconds) -}}
{{- end -}}

{{/* The Service of the webhooks. */}}
{{- define "operator.webhookService" -}}
{{- printf "%s-webhooks" (include "operator.fullname" .) -}}
{{- end -}}

{{/* The Secret with the certificate of cert-manager for the webhooks, if it is used. */}}
{{- define "operator.webhookSecret" -}}
{{- if and .Values.webhook.enabled .Values.webhook.certManager.enabled -}}
{{- include "operator.webhookService" . }}-server-cert
{{- end -}}
{{- end -}}

{{- define "operator.serviceAccountName" -}}
{{- default (include "operator.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "operator.image" -}}
{{- $repository := default .Chart.Name .Values.image.repository -}}
{{- with .Values.image.registry }}{{ $repository = printf "%s/%s" . $repository }}{{ end -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* The labels that select the Pods. They must never change, because a Deployment's selector is immutable. */}}
{{- define "operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: operator
{{- end -}}

{{- define "operator.labels" -}}
{{- $labels := dict
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-")
  "app.kubernetes.io/name" (include "operator.name" .)
  "app.kubernetes.io/instance" .Release.Name
  "app.kubernetes.io/version" (.Chart.AppVersion | replace "+" "_" | trunc 63)
  "app.kubernetes.io/managed-by" .Release.Service
  "app.kubernetes.io/component" "operator"
  "app.kubernetes.io/part-of" (include "operator.name" .) -}}
{{- toYaml (merge $labels .Values.commonLabels) -}}
{{- end -}}

{{/*
The metadata of an object. The argument is a dictionary: root, name, and optionally namespace ("" for
cluster-scoped objects), labels and annotations.
*/}}
{{- define "operator.metadata" -}}
{{- $labels := mergeOverwrite (include "operator.labels" .root | fromYaml) (default dict .labels) -}}
{{- $annotations := merge (deepCopy (default dict .annotations)) .root.Values.commonAnnotations -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ . }}
{{- end }}
labels:
  {{- toYaml $labels | nindent 2 }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The flags of the operator, as a YAML list. */}}
{{- define "operator.args" -}}
- --health-probe-bind-address=:{{ .Values.healthProbe.port }}
{{- if .Values.metrics.enabled }}
- --metrics-bind-address=:{{ .Values.metrics.port }}
- --metrics-secure={{ .Values.metrics.secure }}
{{- if include "operator.certSecret" . }}
- --metrics-cert-path=/etc/operator/metrics
{{- end }}
{{- end }}
{{- if .Values.leaderElection.enabled }}
- --leader-elect
- --leader-election-id={{ include "operator.leaseName" . }}
- --leader-election-namespace={{ include "operator.leaderElectionNamespace" . }}
- --leader-election-lease-duration={{ .Values.leaderElection.leaseDuration }}
- --leader-election-renew-deadline={{ .Values.leaderElection.renewDeadline }}
- --leader-election-retry-period={{ .Values.leaderElection.retryPeriod }}
{{- end }}
{{- with include "operator.watchNamespaces" . }}
- --namespace={{ . }}
{{- end }}
{{- with .Values.controller.concurrency }}
- --max-concurrent-reconciles={{ . }}
{{- end }}
{{- with .Values.controller.syncPeriod }}
- --sync-period={{ . }}
{{- end }}
{{- with .Values.controller.kubeApiQps }}
- --kube-api-qps={{ . }}
{{- end }}
{{- with .Values.controller.kubeApiBurst }}
- --kube-api-burst={{ . }}
{{- end }}
{{- if .Values.webhook.enabled }}
- --webhook-port={{ .Values.webhook.port }}
- --webhook-service={{ include "operator.namespace" . }}/{{ include "operator.webhookService" . }}
- --webhook-shutdown-delay={{ .Values.webhook.shutdownDelaySeconds }}s
- --install-webhooks
{{- if .Values.webhook.certManager.enabled }}
- --webhook-cert-path=/etc/operator/webhooks
- --webhook-cert-manager
{{- end }}
{{- else }}
- --webhook-port=-1
{{- end }}
- --graceful-shutdown-timeout={{ sub (include "operator.terminationGracePeriodSeconds" .) 5 }}s
- --v={{ .Values.log.level }}
- --logging-format={{ .Values.log.format }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/*
Whether an object of the Prometheus operator is rendered: "true" or "". The argument is a dictionary: root, kind and enabled.
*/}}
{{- define "operator.renderMonitor" -}}
{{- $mode := .root.Values.metrics.serviceMonitor.renderMode -}}
{{- $served := .root.Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" .kind) -}}
{{- if and .enabled .root.Values.metrics.enabled -}}
{{- if or $served (eq $mode "alwaysRender") -}}
true
{{- else if eq $mode "failIfMissing" -}}
{{- fail (printf "The cluster does not serve the kind %s (monitoring.coreos.com/v1). Install the Prometheus operator first, or set metrics.serviceMonitor.renderMode to skipIfMissing." .kind) -}}
{{- end -}}
{{- end -}}
{{- end -}}
