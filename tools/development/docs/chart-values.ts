import { type TObject, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { settingEntries } from "../../../src/config/index.ts";

/** Settings that the chart derives from other values, so that nobody sets them twice. */
const MANAGED = new Set([
  ...["server.host", "server.port", "server.hosts", "server.trusted_proxies", "server.tls_certificate"],
  ...["server.tls_key", "storage.data_dir", "storage.audio", "s3.endpoint", "s3.region", "s3.encryption"],
  ...["s3.credentials_file", "s3.ca_file", "engine.whisper_model", "console.enabled", "oidc.issuer", "oidc.client_id"],
  ...["oidc.client_secret_file", "oidc.rules", "live.enabled", "live.wyoming", "live.wyoming_account"],
  ...["live.wyoming_networks", "webhooks.enabled", "webhooks.allow", "metrics.token_file", "fleet.broker", "fleet.ca"],
  ...["fleet.certificate", "fleet.key", "fleet.machine", "fleet.pool", "fleet.health", "fleet.drain_seconds"],
  ...["fleet.work_here", "standby.listen", "standby.from", "standby.follow", "standby.rejoin", "standby.ca"],
  ...["standby.certificate", "standby.key", "standby.wait", "standby.fence"],
]);

/** Returns an object of exactly these values, so that a misspelt name is refused. */
function exact<T extends TProperties>(properties: T, options: { description?: string; required?: string[] } = {}) {
  const { required = [], ...rest } = options;
  const optional = Object.entries(properties).map(([name, schema]) => [
    name,
    required.includes(name) ? schema : Type.Optional(schema),
  ]);
  return Type.Object(Object.fromEntries(optional) as TProperties, { additionalProperties: false, ...rest });
}

const text = (description: string, pattern?: string) =>
  Type.String(pattern === undefined ? { description } : { description, pattern });
const flag = (description: string) => Type.Boolean({ description });
const count = (description: string, minimum = 1) => Type.Integer({ description, minimum, maximum: 100_000 });
/** Lists are joined by commas in the environment. */
const item = Type.String({ pattern: "^[^,]+$" });
const texts = (description: string) => Type.Array(item, { description });
const networks = (description: string) =>
  Type.Array(Type.String({ pattern: "^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$" }), { description });
/** A part of an object of Kubernetes, which the cluster checks. */
const free = (description: string) => Type.Object({}, { description, additionalProperties: true });
const freeList = (description: string) => Type.Array(Type.Object({}, { additionalProperties: true }), { description });
const labels = (description: string) => Type.Record(Type.String(), Type.String(), { description });
const secret = (description: string) => text(description, "^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)?$");
const quantityPattern = "[0-9]+([.][0-9]+)?([kMGTPE]i?)?";
const quantityOrEmpty = `^(${quantityPattern})?$`;
const quantity = (description: string) => text(description, `^${quantityPattern}$`);
const gpu = exact({
  resource: text("Name of the GPU's resource, `nvidia.com/gpu` or `amd.com/gpu`. Empty: no GPU."),
  count: count("Number of GPUs of a pod."),
});
const resources = free("Requests and limits of the container. The GPU is added to the limits.");
const storage = exact({
  size: quantity("Size of the volume."),
  className: text("Storage class. Empty: the cluster's default. Its volumes must not be open to every user."),
});
const scheduling = {
  nodeSelector: free("Labels of the nodes."),
  tolerations: freeList("Tolerations."),
  affinity: free("Affinity."),
};
const placement = {
  podAnnotations: free("Annotations of the pod."),
  ...scheduling,
  priorityClassName: text("Priority class."),
  runtimeClassName: text("Runtime class, for example `nvidia`."),
};
/** Names of machines: so short that the names of all objects have at most 63 characters. */
const machine = text("Name of the worker or pool in `transcribe fleet init`.", "^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$");

/**
 * Returns the schema of a setting in the chart's values, with its bounds: a pod with a wrong setting does not start. Units
 * may be written, as in the settings file, and the program checks such values.
 */
function settingSchema({ schema, unit }: (typeof settingEntries)[number]): TSchema {
  const { type, pattern, minimum, maximum, anyOf } = schema as TSchema;
  if (type === "boolean") return Type.Boolean();
  if (type === "array") return Type.Array(item);
  if (Array.isArray(anyOf)) return Type.Unsafe<string>({ enum: anyOf.map((each: TSchema) => each.const) });
  if (type !== "integer") return Type.String(pattern === undefined ? {} : { pattern });
  const number = Type.Integer({ minimum, maximum });
  return unit === null ? number : Type.Union([number, Type.String()]);
}

/** Returns the pattern of a setting; undefined if it has none. */
function patternOf(setting: string): string | undefined {
  return settingEntries.find(({ path }) => path === setting)?.schema.pattern;
}

/** Groups of settings that a worker reads, other than those of the fleet. */
const OF_WORKERS = ["engine", "models", "log"];

/** Returns the schema of settings by group and name. */
function settings(description: string, only?: readonly string[]): TObject {
  const known = settingEntries.filter(({ path }) => !MANAGED.has(path));
  const groups = Map.groupBy(known, ({ path }) => path.split(".")[0] ?? "");
  const chosen = [...groups].filter(([group]) => only === undefined || only.includes(group));
  const tables = chosen.map(([group, entries]) => [
    group,
    exact(Object.fromEntries(entries.map((entry) => [entry.path.slice(group.length + 1), settingSchema(entry)]))),
  ]);
  return exact(Object.fromEntries(tables) as TProperties, { description });
}

const worker = {
  image: exact({
    repository: text("Repository of the image. Empty: that of the server."),
    tag: text("Tag of the image, for example that of the image with CUDA. Empty: that of the server."),
  }),
  secret: secret("Secret with the folder of `transcribe fleet init`. Empty: `transcribe-fleet-NAME`."),
  gpu,
  resources,
  storage,
  ...placement,
  settings: settings("Settings of these workers alone: the groups `engine`, `models` and `log`.", OF_WORKERS),
};
const poolOnly = {
  replicas: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: "Number of workers without an autoscaler. Not set: the number of `kubectl scale` stays.",
  }),
  drainSeconds: count("Seconds in which a worker that leaves may finish its parts; Kubernetes waits ten more.", 0),
  autoscaling: exact({
    type: Type.Unsafe<string>({ enum: ["none", "hpa", "keda"], description: "Autoscaler of the pool." }),
    min: count("Smallest number of workers: 0 only with KEDA.", 0),
    max: count("Greatest number of workers. `fleet.max_workers` follows the greatest of all pools, unless it is set."),
    prometheusAddress: text("Address of Prometheus, for KEDA."),
  }),
  disruptionBudget: exact({
    maxUnavailable: Type.Union([Type.Integer({ minimum: 1 }), Type.String({ pattern: "^([1-9][0-9]*%)?$" })], {
      description: "Workers that a drain may stop at once, as a number or percentage. Empty: no budget.",
    }),
  }),
};

/** The values of the Helm chart. */
export const chartValues = exact({
  global: Type.Object({}, { additionalProperties: true, description: "Helm's own; the chart reads nothing of it." }),
  fullnameOverride: text(
    "Beginning of the names of all objects. Empty: the release's name, with `-transcribe` unless it contains that.",
    "^([a-z]([-a-z0-9]{0,38}[a-z0-9])?)?$",
  ),
  image: exact({
    repository: text("Repository of the image."),
    tag: text("Tag of the image. Empty: the version of the chart."),
    pullPolicy: Type.Unsafe<string>({ enum: ["IfNotPresent", "Always", "Never"], description: "Pull policy." }),
    pullSecrets: texts("Names of secrets for the registry."),
  }),
  model: text(
    "Speech model of the server and the workers, which must be installed there. Empty: the one of the image.",
  ),
  hosts: Type.Array(Type.String({ pattern: "^[^/@?#:, ]+$" }), {
    description: "Further names by which clients reach the server. Those of the Service and of the ingress are known.",
  }),
  trustedProxies: networks("Addresses and networks of the ingress controller's pods."),
  clusterDomain: text("Domain of the cluster.", "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"),
  settings: settings(
    "Settings by group and name, see [settings](settings.md). Those of other values are refused here.",
  ),
  server: exact({
    gpu,
    resources,
    terminationGracePeriodSeconds: count("Seconds that Kubernetes waits for the server to stop.", 20),
    ...placement,
    extraVolumes: freeList("Further volumes, for example a watched folder or certificates for the audit log."),
    extraVolumeMounts: freeList("Where they are mounted."),
  }),
  storage,
  tls: exact({
    secret: secret(
      "Secret with the keys `tls.crt` and `tls.key`, for TLS in the pod. Empty: plain HTTP in the cluster.",
    ),
  }),
  objectStore: exact({
    audio: text("`s3://BUCKET/PREFIX`. Empty: the audio stays on the volume.", patternOf("storage.audio")),
    endpoint: text("Address of the store. Empty: Amazon's.", patternOf("s3.endpoint")),
    region: text("Region of the bucket."),
    encryption: text("Encryption by the store."),
    credentialsSecret: secret("Secret with the key `credentials`: the file of `s3.credentials_file`."),
    caSecret: secret("Secret with the key `ca.pem`: the authority of the store's certificate."),
  }),
  ingress: exact({
    enabled: flag("Whether an Ingress leads to the server."),
    className: text("Ingress class. Empty: the cluster's default."),
    host: text("Host name.", "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$"),
    tlsSecret: secret("Secret with the certificate. Empty: no TLS."),
    annotations: labels("Annotations for the ingress controller: sizes of requests, timeouts of WebSockets."),
  }),
  console: exact({ enabled: flag("Whether the server has the console.") }),
  oidc: exact({
    issuer: text("Issuer of the sign-in provider. Empty: none."),
    clientId: text("Id of the server at the provider."),
    clientSecret: secret("Secret with the key `client-secret`. Empty: a public client."),
    rules: texts("Roles of people, see [sign-in](sign-in.md). A rule contains no comma."),
  }),
  live: exact({
    enabled: flag("Whether the server offers live sessions."),
    wyoming: exact({
      enabled: flag("Whether Wyoming's clients are served, on port 10300 of the Service."),
      account: text("Account of their recordings."),
      networks: networks("Addresses and networks of the clients, as the pod sees them."),
    }),
  }),
  webhooks: exact({
    enabled: flag("Whether events are sent."),
    allow: texts("Hosts and networks with non-public addresses. `networkPolicy.extraEgress` must allow them, too."),
  }),
  metrics: exact({
    tokenSecret: secret("Secret with the key `token`, with which Prometheus reads `/metrics`."),
    serviceMonitor: exact({
      enabled: flag("Whether there is a ServiceMonitor, for the Prometheus Operator."),
      interval: text("Time between two scrapes.", "^[0-9]+(s|m)$"),
      labels: labels("Further labels, by which your Prometheus selects monitors."),
      tlsConfig: free("With `tls.secret`: how Prometheus checks the certificate, in the form of a ServiceMonitor."),
    }),
    prometheusRule: exact({
      enabled: flag("Whether there is a PrometheusRule with the [alerts](metrics.md), for the Prometheus Operator."),
      labels: labels("Further labels, by which your Prometheus selects rules."),
    }),
    prometheus: exact({
      namespaceLabels: labels("Namespace of Prometheus, for the network policy."),
      podLabels: labels("Pods of Prometheus, for the network policy."),
    }),
  }),
  networkPolicy: exact({
    enabled: flag("Whether there are network policies."),
    wholeNamespace: flag("Whether they also close the other pods of the namespace."),
    clientNamespaceLabels: labels("Namespaces whose pods are clients, such as the ingress controller."),
    dnsNamespaceLabels: labels("Namespace of the name server."),
    publicEgress: flag("Whether the server reaches public addresses, ports 80 and 443: links, webhooks, providers."),
    extraEgress: freeList("Further egress rules of the server, in the form of a NetworkPolicy."),
  }),
  fleet: exact({
    enabled: flag("Whether the server is the coordinator of a fleet."),
    workHere: flag("Whether the server also processes parts itself."),
    coordinatorSecret: secret("Secret with the folder `coordinator` of `transcribe fleet init`."),
    broker: exact({
      enabled: flag("Whether the chart runs the broker. Otherwise it is elsewhere, on port 4222."),
      image: text("Image of nats-server."),
      secret: secret("Secret with the folder `broker`."),
      resources: free("Requests and limits of the container."),
      ...scheduling,
    }),
  }),
  standby: exact({
    enabled: flag("Whether a second pod follows the server, so that it can [take over](#a-standby)."),
    wait: flag("Whether a change is answered only when the standby has it (`standby.wait`)."),
    rejoin: flag("Whether a server that was replaced discards what only it has, and follows the new one."),
    serverSecret: secret("Secret with the server's folder of `transcribe standby init`. Empty: `NAME-0-standby`."),
    secret: secret("Secret with the standby's folder. Empty: `NAME-standby-0-standby`."),
    fenceClaim: secret("Claim of a ReadWriteMany volume for the fence. Empty: the fence is the fleet's broker."),
    storage: exact({
      size: text("Size of the standby's volume. Empty: that of the server.", quantityOrEmpty),
      className: text("Its storage class. Empty: that of the server."),
    }),
    ...scheduling,
    affinity: free("Affinity. Empty: not on the server's node."),
  }),
  workers: Type.Array(exact({ name: machine, ...worker }, { required: ["name"] }), {
    description: "Workers with certificates of their own, each with a name and any value of `workerDefaults`.",
  }),
  pools: Type.Array(exact({ name: machine, ...worker, ...poolOnly }, { required: ["name"] }), {
    description: "Pools of workers, each with a name and any value of `workerDefaults`.",
  }),
  workerDefaults: exact({ ...worker, ...poolOnly }),
});

/** Returns values.schema.json of the chart. */
export function chartSchema(): string {
  const schema = { $schema: "http://json-schema.org/draft-07/schema#", title: "Values of transcribe", ...chartValues };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Returns the rows of a table of all values: name, default and description. @param defaults values.yaml */
export function chartRows(defaults: unknown, schema: TObject = chartValues, prefix = ""): string[][] {
  return Object.entries(schema.properties).flatMap(([name, each]: [string, TSchema]) => {
    const value: unknown = isRecord(defaults) ? defaults[name] : undefined;
    const path = `${prefix}${name}`;
    const isGroup = each.type === "object" && each.description === undefined && Object.keys(each.properties).length > 0;
    if (isGroup) return chartRows(value, each as TObject, `${path}.`);
    if (name === "global") return [];
    if (value === undefined) throw new Error(`values.yaml lacks ${path}`);
    return [[`\`${path}\``, `\`${JSON.stringify(value)}\``, each.description ?? ""]];
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
