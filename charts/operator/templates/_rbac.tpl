{{/* The rules of the operator itself: those of files/rbac.yaml, the output of `--print-rbac`, and rbac.extraRules. */}}
{{- define "operator.rules" -}}
{{- $rules := list -}}
{{- with .Files.Get "files/rbac.yaml" -}}
{{- $role := fromYaml . -}}
{{- if $role.Error -}}{{- fail (printf "files/rbac.yaml is not one ClusterRole: %s" $role.Error) -}}{{- end -}}
{{- $rules = $role.rules -}}
{{- end -}}
{{- toYaml (concat $rules .Values.rbac.extraRules) -}}
{{- end -}}

{{/* The rules for the reviews with which the operator checks the clients of its metrics. */}}
{{- define "operator.reviewRules" -}}
- apiGroups: ["authentication.k8s.io"]
  resources: ["tokenreviews"]
  verbs: ["create"]
- apiGroups: ["authorization.k8s.io"]
  resources: ["subjectaccessreviews"]
  verbs: ["create"]
{{- end -}}

{{/* The rules for the webhook configurations of the operator, which have the name of their Service. */}}
{{- define "operator.webhookConfigurationRules" -}}
- apiGroups: ["admissionregistration.k8s.io"]
  resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]
  verbs: ["create"]
- apiGroups: ["admissionregistration.k8s.io"]
  resources: ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]
  resourceNames: ["{{ include "operator.webhookService" . }}.{{ include "operator.namespace" . }}"]
  verbs: ["delete", "get", "list", {{ if not .Values.webhook.certManager.enabled }}"patch", {{ end }}"update", "watch"]
{{- end -}}

{{/* The rules for the endpoints of the webhooks, and for the Secret with their certificates. */}}
{{- define "operator.webhookRules" -}}
- apiGroups: ["discovery.k8s.io"]
  resources: ["endpointslices"]
  verbs: ["list"]
{{- if not .Values.webhook.certManager.enabled }}
- apiGroups: [""]
  resources: ["secrets"]
  verbs: ["create"]
- apiGroups: [""]
  resources: ["secrets"]
  resourceNames: ["{{ include "operator.webhookService" . }}-cert"]
  verbs: ["get", "list", "update", "watch"]
{{- end }}
{{- end -}}

{{/* The rules for the Lease, and for the Events about it if no other Role allows them. */}}
{{- define "operator.leaderElectionRules" -}}
{{- $watched := splitList "," (include "operator.watchNamespaces" .) | compact -}}
{{- if and $watched (not (has (include "operator.leaderElectionNamespace" .) $watched)) -}}
- apiGroups: [""]
  resources: ["events"]
  verbs: ["create", "patch"]
{{ end -}}
- apiGroups: ["coordination.k8s.io"]
  resources: ["leases"]
  verbs: ["create"]
- apiGroups: ["coordination.k8s.io"]
  resources: ["leases"]
  resourceNames: [{{ include "operator.leaseName" . | quote }}]
  verbs: ["get", "update"]
{{- end -}}

{{/* A Role, ClusterRole or one of their bindings: a dictionary with root, kind, name, namespace and rules (YAML). */}}
{{- define "operator.role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
metadata:
  {{- include "operator.metadata" . | nindent 2 }}
rules:
  {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}Binding
metadata:
  {{- include "operator.metadata" . | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "operator.serviceAccountName" .root }}
    namespace: {{ include "operator.namespace" .root }}
{{- end -}}
