{{/* The fields of a Pod's spec that the operator and the Pod of `helm test` have in common. */}}
{{- define "operator.podSpec" -}}
serviceAccountName: {{ include "operator.serviceAccountName" . }}
automountServiceAccountToken: {{ .Values.serviceAccount.automount }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- if .Values.hostNetwork }}
hostNetwork: true
{{- end }}
{{- with .Values.dnsPolicy }}
dnsPolicy: {{ . }}
{{- end }}
{{- with .Values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if or (include "operator.certSecret" .) (include "operator.webhookSecret" .) .Values.extraVolumes }}
volumes:
  {{- with include "operator.certSecret" . }}
  - name: metrics-certificate
    secret:
      secretName: {{ . }}
  {{- end }}
  {{- with include "operator.webhookSecret" . }}
  - name: webhook-certificate
    secret:
      secretName: {{ . }}
  {{- end }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* The fields of a container that the operator and the Pod of `helm test` have in common. */}}
{{- define "operator.container" -}}
image: {{ include "operator.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  - name: POD_NAME
    valueFrom:
      fieldRef:
        fieldPath: metadata.name
  - name: POD_NAMESPACE
    valueFrom:
      fieldRef:
        fieldPath: metadata.namespace
  {{- with .Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .Values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  {{- toYaml .Values.securityContext | nindent 2 }}
{{- if or (include "operator.certSecret" .) (include "operator.webhookSecret" .) .Values.extraVolumeMounts }}
volumeMounts:
  {{- if include "operator.certSecret" . }}
  - name: metrics-certificate
    mountPath: /etc/operator/metrics
    readOnly: true
  {{- end }}
  {{- if include "operator.webhookSecret" . }}
  - name: webhook-certificate
    mountPath: /etc/operator/webhooks
    readOnly: true
  {{- end }}
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* The Secret with the certificate for metrics, if it is used. */}}
{{- define "operator.certSecret" -}}
{{- if and .Values.metrics.enabled .Values.metrics.secure -}}
{{- .Values.metrics.certSecret -}}
{{- end -}}
{{- end -}}
