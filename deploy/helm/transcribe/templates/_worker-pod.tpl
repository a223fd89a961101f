{{/* The pod of a worker. "isPool" tells one of a pool, which has a name and probes. */}}
{{- define "transcribe.workerPod" -}}
{{- $root := .root -}}
{{- $worker := .worker -}}
metadata:
  labels:
    {{- include "transcribe.labels" $root | nindent 4 }}
    app.kubernetes.io/component: worker
    transcribe-machine: {{ $worker.name | quote }}
  {{- with $worker.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  # Ten seconds more than the worker's own time.
  terminationGracePeriodSeconds: {{ ternary (add (int $worker.drainSeconds) 10) 30 .isPool }}
  securityContext:
    {{- include "transcribe.podSecurity" $root | nindent 4 }}
    fsGroupChangePolicy: OnRootMismatch
  {{- include "transcribe.pullSecrets" $root | nindent 2 }}
  {{- include "transcribe.scheduling" $worker | nindent 2 }}
  containers:
    - name: worker
      image: {{ include "transcribe.image" (dict "root" $root "image" $worker.image) | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: [worker]
      env:
        - name: TRANSCRIBE_CONFIG
          value: /etc/transcribe/fleet.toml
        - name: TRANSCRIBE_DATA_DIR
          value: /var/lib/transcribe/data
        {{- if .isPool }}
        - name: TRANSCRIBE_FLEET_MACHINE
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        - name: TRANSCRIBE_FLEET_DRAIN_SECONDS
          value: {{ int $worker.drainSeconds | quote }}
        # For the probes alone: no Service leads there, and the network policies let no pod in.
        - name: TRANSCRIBE_FLEET_HEALTH
          value: "0.0.0.0:8788"
        {{- end }}
        {{- if $worker.gpu.resource }}
        # Vulkan is among the graphics capabilities of NVIDIA's container toolkit.
        - name: NVIDIA_DRIVER_CAPABILITIES
          value: compute,graphics,utility
        {{- end }}
        {{- with $root.Values.model }}
        - name: TRANSCRIBE_ENGINE_WHISPER_MODEL
          value: {{ . | toJson }}
        {{- end }}
        {{- range $group, $settings := $worker.settings }}
        {{- range $name, $value := $settings }}
        - name: TRANSCRIBE_{{ upper $group }}_{{ upper $name }}
          value: {{ include "transcribe.value" $value }}
        {{- end }}
        {{- end }}
      {{- if .isPool }}
      ports:
        - name: health
          containerPort: 8788
      # The first start unpacks 260 MB and tests the engine.
      startupProbe:
        httpGet:
          path: /healthz
          port: health
        periodSeconds: 5
        failureThreshold: 60
      livenessProbe:
        httpGet:
          path: /healthz
          port: health
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet:
          path: /readyz
          port: health
        periodSeconds: 5
        timeoutSeconds: 5
      {{- end }}
      resources:
        {{- include "transcribe.resources" $worker | nindent 8 }}
      securityContext:
        {{- include "transcribe.containerSecurity" $root | nindent 8 }}
      volumeMounts:
        - name: data
          mountPath: /var/lib/transcribe
        - name: fleet
          mountPath: /etc/transcribe
          readOnly: true
        - name: tmp
          mountPath: /tmp
  volumes:
    # Not an emptyDir: every user may write to its top, and the program loads no code from such a folder.
    - name: data
      ephemeral:
        volumeClaimTemplate:
          spec:
            {{- include "transcribe.claim" $worker.storage | nindent 12 }}
    - name: fleet
      secret:
        secretName: {{ $worker.secret | default (printf "transcribe-fleet-%s" $worker.name) | quote }}
        # 0440
        defaultMode: 288
    - name: tmp
      emptyDir:
        sizeLimit: 1Gi
{{- end -}}
