{{- define "transcribe.fullname" -}}
{{- /* A release may have a name with dots, and a Service may not. */ -}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains "transcribe" $release -}}
{{- $release | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-transcribe" ($release | trunc 29 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{/* Labels by which objects select pods. They never change. */}}
{{- define "transcribe.selector" -}}
app.kubernetes.io/name: transcribe
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* Labels of objects and pods, without the component. */}}
{{- define "transcribe.labels" -}}
{{ include "transcribe.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* The image of a pod. "image" has its own repository and tag, which may be empty. */}}
{{- define "transcribe.image" -}}
{{- $image := .image | default dict -}}
{{- printf "%s:%s" ($image.repository | default .root.Values.image.repository) ($image.tag | default .root.Values.image.tag | default .root.Chart.AppVersion) -}}
{{- end -}}

{{- define "transcribe.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "transcribe.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Where a pod may run, and what it is called for. */}}
{{- define "transcribe.scheduling" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .runtimeClassName }}
runtimeClassName: {{ . | quote }}
{{- end }}
{{- end -}}

{{/* Keeps the standby from the server's node: one that is lost would take both. */}}
{{- define "transcribe.apartFromServer" -}}
podAntiAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    - topologyKey: kubernetes.io/hostname
      labelSelector:
        matchLabels:
          {{- include "transcribe.selector" . | nindent 10 }}
          app.kubernetes.io/component: server
{{- end -}}

{{/* Keeps the broker, which is the fence, from the nodes of the server and of its standby, if there are others. */}}
{{- define "transcribe.apartFromServers" -}}
podAntiAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      podAffinityTerm:
        topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels:
            {{- include "transcribe.selector" . | nindent 12 }}
            transcribe-api: "true"
{{- end -}}

{{- define "transcribe.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Requests and limits of a container, with its GPU. */}}
{{- define "transcribe.resources" -}}
{{- $limits := .resources.limits | default dict -}}
{{- if .gpu.resource -}}
{{- $limits = merge (dict .gpu.resource (int .gpu.count)) $limits -}}
{{- end -}}
{{- toYaml (dict "requests" (.resources.requests | default dict) "limits" $limits) -}}
{{- end -}}

{{/* The size and the class of a claim. */}}
{{- define "transcribe.claim" -}}
accessModes: [ReadWriteOnce]
resources:
  requests:
    storage: {{ .size | quote }}
{{- with .className }}
storageClassName: {{ . | quote }}
{{- end }}
{{- end -}}

{{/* A text, number, truth value or list in the form of an environment variable. */}}
{{- define "transcribe.value" -}}
{{- if kindIs "slice" . -}}
{{- join "," . | toJson -}}
{{- else if kindIs "string" . -}}
{{- . | toJson -}}
{{- else -}}
{{- . | toJson | quote -}}
{{- end -}}
{{- end -}}

{{- define "transcribe.hosts" -}}
{{- $name := include "transcribe.fullname" . -}}
{{- $hosts := list $name (printf "%s.%s.svc" $name .Release.Namespace) (printf "%s.%s.svc.%s" $name .Release.Namespace .Values.clusterDomain) -}}
{{- if .Values.ingress.enabled -}}
{{- $hosts = append $hosts .Values.ingress.host -}}
{{- end -}}
{{- join "," (concat $hosts .Values.hosts | uniq) -}}
{{- end -}}

{{/* The values of a worker or pool, over those of workerDefaults. Maps are merged, also with empty values. */}}
{{- define "transcribe.worker" -}}
{{- $worker := deepCopy .root.Values.workerDefaults -}}
{{- range $name, $value := .own -}}
{{- $default := get $worker $name -}}
{{- if and (kindIs "map" $value) (kindIs "map" $default) -}}
{{- range $inner, $each := $value -}}
{{- $_ := set $default $inner $each -}}
{{- end -}}
{{- else -}}
{{- $_ := set $worker $name $value -}}
{{- end -}}
{{- end -}}
{{- toYaml $worker -}}
{{- end -}}

{{/* The number of workers that the server wants at most: that of the pools, if no setting says otherwise. */}}
{{- define "transcribe.maxWorkers" -}}
{{- $most := 8 -}}
{{- range .Values.pools -}}
{{- $pool := fromYaml (include "transcribe.worker" (dict "root" $ "own" .)) -}}
{{- if ne $pool.autoscaling.type "none" -}}
{{- $most = max $most (int $pool.autoscaling.max) -}}
{{- end -}}
{{- end -}}
{{- $most -}}
{{- end -}}
