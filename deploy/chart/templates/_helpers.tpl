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
{{- end -}}

{{- define "controller.environment" -}}
{{- range $key := list "DATABASE_URL" "REDIS_URL" "SECRET_KEY" }}
{{ include "controller.secretVariable" (dict "root" $ "key" $key) }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/*
Migrations take a lock, so that every pod may try: the others wait and find nothing to do. The
API's pods also make the first admin.
*/}}
{{- define "controller.migrate" -}}
- name: migrate
  image: {{ include "controller.image" .root }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  args: {{ .command | toJson }}
  env:
    {{- include "controller.environment" .root | trim | nindent 4 }}
    - name: MIGRATION_DATABASE_URL
      valueFrom:
        secretKeyRef:
          name: {{ include "controller.secret" .root }}
          key: MIGRATION_DATABASE_URL
          optional: true
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

{{/* The account of both images of Debian. */}}
{{- define "controller.datastoreSecurity" -}}
runAsNonRoot: true
runAsUser: 999
runAsGroup: 999
fsGroup: 999
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{/*
For workers that isolate runs: user namespaces, mounts and /proc of their own. It takes the pod's
own user namespace, so that nothing in it is an account of the node.
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
