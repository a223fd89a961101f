import { type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";

/** Returns an object of exactly these fields, so that a misspelt field is found. */
function exact<T extends TProperties>(properties: T): TObject<T> {
  return Type.Object(properties, { additionalProperties: false });
}

const optional = <T extends TSchema>(schema: T) => Type.Optional(schema);
const text = Type.String({ minLength: 1 });
const labels = Type.Record(Type.String(), Type.String());
const expressions = Type.Array(exact({ key: text, operator: Type.Literal("In"), values: Type.Array(text) }));
const selector = exact({ matchLabels: optional(labels), matchExpressions: optional(expressions) });
const metadata = exact({ name: text, labels: optional(labels) });
const quantities = Type.Record(Type.String(), Type.Union([Type.String(), Type.Integer()]));
const resources = exact({ requests: optional(quantities), limits: optional(quantities) });
const claim = exact({ accessModes: Type.Array(Type.Literal("ReadWriteOnce")), resources });
const seconds = Type.Integer({ minimum: 1 });

const probe = exact({
  httpGet: optional(exact({ path: text, port: text, scheme: optional(Type.Literal("HTTPS")) })),
  tcpSocket: optional(exact({ port: text })),
  ...{ periodSeconds: seconds, timeoutSeconds: optional(seconds), failureThreshold: optional(seconds) },
});

const container = exact({
  ...{ name: text, image: text, imagePullPolicy: optional(Type.Literal("IfNotPresent")) },
  ...{ args: Type.Array(text), workingDir: optional(text) },
  env: optional(
    Type.Array(
      Type.Union([
        exact({ name: text, value: text }),
        exact({ name: text, valueFrom: exact({ fieldRef: exact({ fieldPath: Type.Literal("metadata.name") }) }) }),
      ]),
    ),
  ),
  envFrom: optional(Type.Array(exact({ configMapRef: exact({ name: text }) }))),
  ports: optional(Type.Array(exact({ name: text, containerPort: Type.Integer() }))),
  ...{ startupProbe: optional(probe), livenessProbe: optional(probe), readinessProbe: optional(probe), resources },
  // The profile "restricted" of Kubernetes' Pod Security Standards, and no writable root.
  securityContext: exact({
    allowPrivilegeEscalation: Type.Literal(false),
    readOnlyRootFilesystem: Type.Literal(true),
    capabilities: exact({ drop: Type.Tuple([Type.Literal("ALL")]) }),
  }),
  volumeMounts: Type.Array(
    exact({ name: text, mountPath: text, subPath: optional(text), readOnly: optional(Type.Literal(true)) }),
  ),
});

const volume = exact({
  name: text,
  emptyDir: optional(exact({ sizeLimit: text, medium: optional(Type.Literal("Memory")) })),
  secret: optional(exact({ secretName: text, defaultMode: Type.Literal(0o440) })),
  persistentVolumeClaim: optional(exact({ claimName: text })),
  ephemeral: optional(exact({ volumeClaimTemplate: exact({ spec: claim }) })),
});

const nodes = exact({
  topologyKey: Type.Literal("kubernetes.io/hostname"),
  labelSelector: exact({ matchLabels: labels }),
});
/** Only what keeps pods from each other's nodes. */
const affinity = exact({
  podAntiAffinity: exact({
    requiredDuringSchedulingIgnoredDuringExecution: optional(Type.Array(nodes)),
    preferredDuringSchedulingIgnoredDuringExecution: optional(
      Type.Array(exact({ weight: Type.Literal(100), podAffinityTerm: nodes })),
    ),
  }),
});

const pod = exact({
  affinity: optional(affinity),
  ...{ automountServiceAccountToken: Type.Literal(false), enableServiceLinks: Type.Literal(false) },
  terminationGracePeriodSeconds: optional(seconds),
  securityContext: exact({
    ...{ runAsNonRoot: Type.Literal(true), runAsUser: Type.Integer(), runAsGroup: Type.Integer() },
    ...{ fsGroup: Type.Integer(), fsGroupChangePolicy: optional(Type.Literal("OnRootMismatch")) },
    seccompProfile: exact({ type: Type.Literal("RuntimeDefault") }),
  }),
  ...{ containers: Type.Array(container, { minItems: 1, maxItems: 1 }), volumes: Type.Array(volume) },
});

const template = exact({ metadata: exact({ labels }), spec: pod });
const matching = exact({ matchLabels: labels });
const place = Type.Literal("apps/v1");

export const workloadSchema = Type.Union([
  exact({
    ...{ apiVersion: place, kind: Type.Literal("StatefulSet"), metadata },
    spec: exact({
      podManagementPolicy: optional(Type.Literal("Parallel")),
      ...{ serviceName: text, replicas: Type.Literal(1), selector: matching, template },
      volumeClaimTemplates: Type.Array(exact({ metadata, spec: claim })),
    }),
  }),
  exact({
    ...{ apiVersion: place, kind: Type.Literal("Deployment"), metadata },
    spec: exact({
      ...{ replicas: Type.Literal(1), strategy: exact({ type: Type.Literal("Recreate") }) },
      ...{ selector: matching, template },
    }),
  }),
  // A pool of workers: its autoscaler sets the number of replicas.
  exact({
    ...{ apiVersion: place, kind: Type.Literal("Deployment"), metadata },
    spec: exact({
      strategy: exact({
        type: Type.Literal("RollingUpdate"),
        rollingUpdate: exact({ maxSurge: Type.Integer(), maxUnavailable: Type.Integer() }),
      }),
      ...{ selector: matching, template },
    }),
  }),
]);

export const serviceSchema = exact({
  ...{ apiVersion: Type.Literal("v1"), kind: Type.Literal("Service"), metadata },
  spec: exact({
    publishNotReadyAddresses: optional(Type.Literal(true)),
    selector: labels,
    ports: Type.Array(exact({ name: text, port: Type.Integer(), targetPort: text })),
  }),
});

export const configMapSchema = exact({
  ...{ apiVersion: Type.Literal("v1"), kind: Type.Literal("ConfigMap"), metadata, data: labels },
});

const peer = exact({
  podSelector: optional(selector),
  namespaceSelector: optional(selector),
  ipBlock: optional(exact({ cidr: text, except: optional(Type.Array(text)) })),
});
const policyPorts = Type.Array(
  exact({ protocol: Type.Union([Type.Literal("TCP"), Type.Literal("UDP")]), port: Type.Integer() }),
);

export const policySchema = exact({
  ...{ apiVersion: Type.Literal("networking.k8s.io/v1"), kind: Type.Literal("NetworkPolicy"), metadata },
  spec: exact({
    podSelector: selector,
    policyTypes: Type.Array(Type.Union([Type.Literal("Ingress"), Type.Literal("Egress")]), { minItems: 1 }),
    ingress: optional(Type.Array(exact({ from: Type.Array(peer), ports: policyPorts }))),
    egress: optional(Type.Array(exact({ to: Type.Array(peer), ports: policyPorts }))),
  }),
});

export const namespaceSchema = exact({ apiVersion: Type.Literal("v1"), kind: Type.Literal("Namespace"), metadata });

/** A patch changes the object of its name, or all StatefulSets. */
const patches = Type.Array(exact({ path: text, target: optional(exact({ kind: Type.Literal("StatefulSet") })) }));

export const kustomizationSchema = exact({
  apiVersion: Type.Literal("kustomize.config.k8s.io/v1beta1"),
  ...{ kind: Type.Literal("Kustomization"), namespace: text, resources: Type.Array(text) },
  patches: optional(patches),
});

export const componentSchema = exact({
  apiVersion: Type.Literal("kustomize.config.k8s.io/v1alpha1"),
  ...{ kind: Type.Literal("Component"), resources: Type.Array(text) },
  patches: optional(patches),
});

const count = Type.Integer({ minimum: 0 });
const scalingRules = exact({
  stabilizationWindowSeconds: count,
  policies: Type.Array(exact({ type: Type.Literal("Pods"), value: count, periodSeconds: seconds })),
});

/** The autoscalers of a pool: that of Kubernetes, and that of KEDA. */
export const autoscalerSchema = Type.Union([
  exact({
    ...{ apiVersion: Type.Literal("autoscaling/v2"), kind: Type.Literal("HorizontalPodAutoscaler"), metadata },
    spec: exact({
      scaleTargetRef: exact({ apiVersion: place, kind: Type.Literal("Deployment"), name: text }),
      ...{ minReplicas: count, maxReplicas: count },
      metrics: Type.Array(
        exact({
          type: Type.Literal("External"),
          external: exact({
            metric: exact({ name: text }),
            target: exact({ type: Type.Literal("AverageValue"), averageValue: Type.Literal("1") }),
          }),
        }),
      ),
      behavior: exact({ scaleUp: scalingRules, scaleDown: scalingRules }),
    }),
  }),
  exact({
    ...{ apiVersion: Type.Literal("keda.sh/v1alpha1"), kind: Type.Literal("ScaledObject"), metadata },
    spec: exact({
      scaleTargetRef: exact({ name: text }),
      ...{ minReplicaCount: count, maxReplicaCount: count, pollingInterval: seconds, cooldownPeriod: seconds },
      triggers: Type.Array(
        exact({
          ...{ type: Type.Literal("prometheus"), metricType: Type.Literal("AverageValue") },
          metadata: exact({
            ...{ serverAddress: text, query: text, threshold: Type.Literal("1") },
            ...{ activationThreshold: Type.Literal("0"), ignoreNullValues: Type.Literal("false") },
          }),
        }),
      ),
    }),
  }),
]);

export const monitorSchema = exact({
  apiVersion: Type.Literal("monitoring.coreos.com/v1"),
  ...{ kind: Type.Literal("ServiceMonitor"), metadata },
  spec: exact({
    jobLabel: Type.Literal("app.kubernetes.io/name"),
    selector: matching,
    endpoints: Type.Array(
      exact({
        ...{ port: text, path: text, interval: text },
        authorization: exact({ credentials: exact({ name: text, key: text }) }),
      }),
    ),
  }),
});

export const budgetSchema = exact({
  ...{ apiVersion: Type.Literal("policy/v1"), kind: Type.Literal("PodDisruptionBudget"), metadata },
  spec: exact({
    // A budget with a least number of pods could keep the last one from leaving.
    maxUnavailable: Type.String({ pattern: "^[1-9][0-9]*%$" }),
    ...{ unhealthyPodEvictionPolicy: Type.Literal("AlwaysAllow"), selector: matching },
  }),
});

export const rulesSchema = exact({
  apiVersion: Type.Literal("monitoring.coreos.com/v1"),
  ...{ kind: Type.Literal("PrometheusRule"), metadata },
  spec: exact({
    groups: Type.Array(exact({ name: text, rules: Type.Array(Type.Object({ alert: text, expr: text })) })),
  }),
});

const probePatch = optional(exact({ httpGet: exact({ scheme: Type.Literal("HTTPS") }) }));

/** The changes of a workload: only what components add. */
export const patchSchema = exact({
  ...{ apiVersion: place, metadata },
  kind: Type.Union([Type.Literal("StatefulSet"), Type.Literal("Deployment")]),
  spec: exact({
    template: exact({
      spec: exact({
        affinity: optional(affinity),
        containers: optional(
          Type.Array(
            exact({
              name: text,
              ...Type.Partial(Type.Pick(container, ["env", "ports", "volumeMounts"])).properties,
              ...{ startupProbe: probePatch, livenessProbe: probePatch, readinessProbe: probePatch },
            }),
          ),
        ),
        volumes: optional(Type.Array(volume)),
      }),
    }),
  }),
});
