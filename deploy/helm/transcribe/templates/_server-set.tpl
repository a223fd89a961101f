{{/* The StatefulSet of the server, or that of its standby: they differ by name, certificate, volume and nodes. */}}
{{- define "transcribe.serverSet" -}}
{{- $root := .root -}}
{{- $server := .root.Values.server -}}
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ .name }}
  labels:
    {{- include "transcribe.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  serviceName: {{ .serviceName }}
  {{- if eq .component "standby" }}
  # A standby is not ready, and an update must not wait until it is.
  podManagementPolicy: Parallel
  {{- end }}
  # The database has one owner: never more than one.
  replicas: 1
  selector:
    matchLabels:
      {{- include "transcribe.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  template:
    metadata:
      labels:
        {{- include "transcribe.labels" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
        # The Service of the API leads to those of these pods that are ready.
        transcribe-api: "true"
      annotations:
        # Changed settings restart the pod.
        checksum/settings: {{ include "transcribe.settings" $root | sha256sum }}
        {{- with $server.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      automountServiceAccountToken: false
      # Kubernetes would set TRANSCRIBE_PORT and others for the Service, and the program refuses unknown settings.
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ int $server.terminationGracePeriodSeconds }}
      securityContext:
        {{- include "transcribe.podSecurity" $root | nindent 8 }}
        fsGroupChangePolicy: OnRootMismatch
      {{- include "transcribe.pullSecrets" $root | nindent 6 }}
      {{- include "transcribe.scheduling" .scheduling | nindent 6 }}
      containers:
        - name: transcribe
          image: {{ include "transcribe.image" (dict "root" $root) | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: [serve]
          envFrom:
            - configMapRef:
                name: {{ include "transcribe.fullname" $root }}-settings
          {{- $env := list (include "transcribe.serverEnvironment" $root) (include "transcribe.standbyEnvironment" .) | compact }}
          {{- with $env }}
          env:
            {{- join "\n" . | nindent 12 }}
          {{- end }}
          ports:
            - name: http
              containerPort: 8787
            {{- if $root.Values.live.wyoming.enabled }}
            - name: wyoming
              containerPort: 10300
            {{- end }}
            {{- if $root.Values.standby.enabled }}
            - name: standby
              containerPort: 8788
            {{- end }}
          # The first start unpacks 260 MB.
          startupProbe:
            httpGet:
              path: /healthz
              port: http
              {{- if $root.Values.tls.secret }}
              scheme: HTTPS
              {{- end }}
            periodSeconds: 5
            failureThreshold: 60
          livenessProbe:
            httpGet:
              path: /healthz
              port: http
              {{- if $root.Values.tls.secret }}
              scheme: HTTPS
              {{- end }}
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet:
              path: /readyz
              port: http
              {{- if $root.Values.tls.secret }}
              scheme: HTTPS
              {{- end }}
            periodSeconds: 15
            timeoutSeconds: 10
          resources:
            {{- include "transcribe.resources" $server | nindent 12 }}
          securityContext:
            {{- include "transcribe.containerSecurity" $root | nindent 12 }}
          volumeMounts:
            - name: data
              mountPath: /var/lib/transcribe
            - name: tmp
              mountPath: /tmp
            {{- if $root.Values.fleet.enabled }}
            - name: fleet
              mountPath: /etc/transcribe
              readOnly: true
            {{- end }}
            {{- range $volume, $secret := fromYaml (include "transcribe.serverSecrets" $root) }}
            - name: {{ $volume }}
              mountPath: /etc/transcribe-secrets/{{ $volume }}
              readOnly: true
            {{- end }}
            {{- if $root.Values.standby.enabled }}
            - name: standby
              mountPath: /etc/transcribe-secrets/standby
              readOnly: true
            {{- if $root.Values.standby.fenceClaim }}
            - name: fence
              mountPath: /var/lib/transcribe-fence
            {{- end }}
            {{- end }}
            {{- with $server.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
      volumes:
        - name: tmp
          emptyDir:
            sizeLimit: 1Gi
        {{- if $root.Values.fleet.enabled }}
        - name: fleet
          secret:
            secretName: {{ $root.Values.fleet.coordinatorSecret | quote }}
            # 0440
            defaultMode: 288
        {{- end }}
        {{- range $volume, $secret := fromYaml (include "transcribe.serverSecrets" $root) }}
        - name: {{ $volume }}
          secret:
            secretName: {{ $secret | quote }}
            defaultMode: 288
        {{- end }}
        {{- if $root.Values.standby.enabled }}
        - name: standby
          secret:
            secretName: {{ .standbySecret | quote }}
            defaultMode: 288
        {{- with $root.Values.standby.fenceClaim }}
        - name: fence
          persistentVolumeClaim:
            claimName: {{ . | quote }}
        {{- end }}
        {{- end }}
        {{- with $server.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        {{- include "transcribe.claim" .storage | nindent 8 }}
{{- end -}}
