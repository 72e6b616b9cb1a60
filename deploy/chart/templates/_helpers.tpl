{{- define "controller.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "controller.labels" -}}
app.kubernetes.io/name: automation-controller
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "controller.image" -}}
{{- with .Values.image.digest -}}
{{ $.Values.image.repository }}@{{ . }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "controller.secret" -}}
{{ .Values.existingSecret | default (include "controller.name" .) }}
{{- end -}}

{{- define "controller.secretVariable" -}}
- name: {{ .key }}
  valueFrom:
    secretKeyRef:
      name: {{ include "controller.secret" .root }}
      key: {{ .key }}
      {{- if .optional }}
      optional: true
      {{- end }}
{{- end -}}

{{- define "controller.environment" -}}
{{- range $key := list "DATABASE_URL" "REDIS_URL" "SECRET_KEY" }}
{{ include "controller.secretVariable" (dict "root" $ "key" $key) }}
{{- end }}
{{ include "controller.secretVariable" (dict "root" . "key" "SECRET_KEY_OLD" "optional" true) }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/*
Every pod runs the migrations. They take a lock: the other pods wait and find nothing to do. The pods of
the API also create the first admin.
*/}}
{{- define "controller.migrate" -}}
- name: migrate
  image: {{ include "controller.image" .root }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  args: {{ .command | toJson }}
  env:
    {{- include "controller.environment" .root | trim | nindent 4 }}
    {{- include "controller.secretVariable" (dict "root" .root "key" "MIGRATION_DATABASE_URL" "optional" true) | nindent 4 }}
    {{- if .admin }}
    {{- include "controller.secretVariable" (dict "root" .root "key" "ADMIN_PASSWORD") | nindent 4 }}
    - name: ADMIN_USERNAME
      value: {{ .root.Values.admin.username | quote }}
    - name: DEMO_DATA
      value: {{ ternary "1" "0" .root.Values.demoData | quote }}
    {{- end }}
  securityContext:
    {{- include "controller.containerSecurity" . | nindent 4 }}
  volumeMounts:
    {{- include "controller.mounts" . | nindent 4 }}
{{- end -}}

{{- define "controller.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/* The user of the Debian images of PostgreSQL and Redis. */}}
{{- define "controller.datastoreSecurity" -}}
runAsNonRoot: true
runAsUser: 999
runAsGroup: 999
fsGroup: 999
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/*
For workers that isolate runs in separate user namespaces, with separate mounts and /proc. Requires
hostUsers: false, so that no user of the pod is a user of the node.
*/}}
{{- define "controller.isolatingSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: ['ALL']
procMount: Unmasked
seccompProfile:
  type: Unconfined
{{- end -}}

{{- define "controller.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: ['ALL']
{{- end -}}

{{- define "controller.mounts" -}}
- name: data
  mountPath: /data
- name: tmp
  mountPath: /tmp
- name: home
  mountPath: /home/node
{{- end -}}

{{- define "controller.volumes" -}}
- name: data
  emptyDir: {}
- name: tmp
  emptyDir: {}
- name: home
  emptyDir: {}
{{- end -}}
