{{/* The server's settings by their environment variables. */}}
{{- define "transcribe.settings" -}}
# A folder of the volume, so that it belongs to the program's user and nobody else may read it.
TRANSCRIBE_DATA_DIR: /var/lib/transcribe/data
# Names by which clients reach the server.
TRANSCRIBE_SERVER_HOSTS: {{ include "transcribe.hosts" . | toJson }}
{{- with .Values.trustedProxies }}
TRANSCRIBE_SERVER_TRUSTED_PROXIES: {{ join "," . | toJson }}
{{- end }}
{{- with .Values.model }}
TRANSCRIBE_ENGINE_WHISPER_MODEL: {{ . | toJson }}
{{- end }}
{{- range $name, $value := .Values.objectStore }}
{{- if and $value (has $name (list "endpoint" "region" "encryption")) }}
TRANSCRIBE_S3_{{ upper $name }}: {{ $value | toJson }}
{{- end }}
{{- end }}
{{- with .Values.objectStore.audio }}
TRANSCRIBE_STORAGE_AUDIO: {{ . | toJson }}
{{- end }}
{{- if .Values.console.enabled }}
TRANSCRIBE_CONSOLE_ENABLED: "true"
{{- end }}
{{- with .Values.oidc.issuer }}
TRANSCRIBE_OIDC_ISSUER: {{ . | toJson }}
{{- end }}
{{- with .Values.oidc.clientId }}
TRANSCRIBE_OIDC_CLIENT_ID: {{ . | toJson }}
{{- end }}
{{- with .Values.oidc.rules }}
TRANSCRIBE_OIDC_RULES: {{ join "," . | toJson }}
{{- end }}
{{- if not .Values.live.enabled }}
TRANSCRIBE_LIVE_ENABLED: "false"
{{- end }}
{{- if .Values.live.wyoming.enabled }}
TRANSCRIBE_LIVE_WYOMING: 0.0.0.0:10300
TRANSCRIBE_LIVE_WYOMING_ACCOUNT: {{ .Values.live.wyoming.account | toJson }}
TRANSCRIBE_LIVE_WYOMING_NETWORKS: {{ join "," .Values.live.wyoming.networks | toJson }}
{{- end }}
{{- if not .Values.webhooks.enabled }}
TRANSCRIBE_WEBHOOKS_ENABLED: "false"
{{- end }}
{{- with .Values.webhooks.allow }}
TRANSCRIBE_WEBHOOKS_ALLOW: {{ join "," . | toJson }}
{{- end }}
{{- if and .Values.fleet.enabled (not .Values.fleet.workHere) }}
TRANSCRIBE_FLEET_WORK_HERE: "false"
{{- end }}
{{- if gt (int (include "transcribe.maxWorkers" .)) 8 }}
{{- if not (hasKey (.Values.settings.fleet | default dict) "max_workers") }}
TRANSCRIBE_FLEET_MAX_WORKERS: {{ include "transcribe.maxWorkers" . | quote }}
{{- end }}
{{- end }}
{{- range $group, $settings := .Values.settings }}
{{- range $name, $value := $settings }}
TRANSCRIBE_{{ upper $group }}_{{ upper $name }}: {{ include "transcribe.value" $value }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The secrets that the server mounts, by the names of their volumes. */}}
{{- define "transcribe.serverSecrets" -}}
{{- with .Values.metrics.tokenSecret }}
metrics: {{ . | quote }}
{{- end }}
{{- with .Values.oidc.clientSecret }}
oidc: {{ . | quote }}
{{- end }}
{{- with .Values.tls.secret }}
tls: {{ . | quote }}
{{- end }}
{{- with .Values.objectStore.credentialsSecret }}
s3: {{ . | quote }}
{{- end }}
{{- with .Values.objectStore.caSecret }}
s3-ca: {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "transcribe.serverEnvironment" -}}
{{- if .Values.fleet.enabled }}
- name: TRANSCRIBE_CONFIG
  value: /etc/transcribe/fleet.toml
{{- end }}
{{- if .Values.metrics.tokenSecret }}
- name: TRANSCRIBE_METRICS_TOKEN_FILE
  value: /etc/transcribe-secrets/metrics/token
{{- end }}
{{- if .Values.oidc.clientSecret }}
- name: TRANSCRIBE_OIDC_CLIENT_SECRET_FILE
  value: /etc/transcribe-secrets/oidc/client-secret
{{- end }}
{{- if .Values.objectStore.credentialsSecret }}
- name: TRANSCRIBE_S3_CREDENTIALS_FILE
  value: /etc/transcribe-secrets/s3/credentials
{{- end }}
{{- if .Values.objectStore.caSecret }}
- name: TRANSCRIBE_S3_CA_FILE
  value: /etc/transcribe-secrets/s3-ca/ca.pem
{{- end }}
{{- if .Values.tls.secret }}
- name: TRANSCRIBE_SERVER_TLS_CERTIFICATE
  value: /etc/transcribe-secrets/tls/tls.crt
- name: TRANSCRIBE_SERVER_TLS_KEY
  value: /etc/transcribe-secrets/tls/tls.key
{{- end }}
{{- if .Values.server.gpu.resource }}
# Vulkan is among the graphics capabilities of NVIDIA's container toolkit.
- name: NVIDIA_DRIVER_CAPABILITIES
  value: compute,graphics,utility
{{- end }}
{{- end -}}

{{/* The settings of a server and its standby, which are the same but for the name of the other one. */}}
{{- define "transcribe.standbyEnvironment" -}}
{{- $standby := .root.Values.standby -}}
{{- if $standby.enabled }}
- name: TRANSCRIBE_STANDBY_LISTEN
  value: "0.0.0.0:8788"
- name: TRANSCRIBE_STANDBY_FROM
  value: tls://{{ .other }}:8788
{{- if eq .component "standby" }}
- name: TRANSCRIBE_STANDBY_FOLLOW
  value: "true"
{{- end }}
- name: TRANSCRIBE_STANDBY_CA
  value: /etc/transcribe-secrets/standby/ca.pem
- name: TRANSCRIBE_STANDBY_CERTIFICATE
  value: /etc/transcribe-secrets/standby/certificate.pem
- name: TRANSCRIBE_STANDBY_KEY
  value: /etc/transcribe-secrets/standby/key.pem
- name: TRANSCRIBE_STANDBY_FENCE
  value: {{ ternary "/var/lib/transcribe-fence" "broker" (ne $standby.fenceClaim "") }}
{{- if $standby.wait }}
- name: TRANSCRIBE_STANDBY_WAIT
  value: "true"
{{- end }}
{{- if $standby.rejoin }}
- name: TRANSCRIBE_STANDBY_REJOIN
  value: "true"
{{- end }}
{{- end }}
{{- end -}}
