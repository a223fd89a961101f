import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { root } from "../../harness/checkout.ts";
import { natsVersion } from "../../harness/nats-server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { loadSettings, settingEntries } from "../../src/config/index.ts";
import { programVersion } from "../../src/program/index.ts";
import { alertRules, chartAlerts, kustomizeAlerts, prometheusRule } from "../../tools/development/docs/alert-rules.ts";
import { chartRows, chartSchema } from "../../tools/development/docs/chart-values.ts";
import { packChart } from "../../tools/release/container/chart.ts";
import { configMapSchema, policySchema, workloadSchema } from "../support/kubernetes-schemas.ts";
import { Manifests, type Policy, type Workload } from "../support/manifests.ts";
import { independentValidators } from "../support/validators/index.ts";
import { chartFolder, type Helm, installHelm, type KubernetesObject, type Release } from "./chart/index.ts";
import { faultsOfCustomResources } from "./custom-resources/index.ts";
import { isAllowed } from "./network-rules.ts";

setDefaultTimeout(120_000);

const installed = await installHelm();
const validate = await independentValidators("the Helm chart by the schemas of Kubernetes");
const helm = (): Helm => {
  if (installed === null) throw new Error("there is no Helm");
  return installed;
};
const objectsOf = async (values: object, name?: string) => {
  const [release] = await helm().render([name === undefined ? { values } : { values, name }]);
  return release?.objects ?? [];
};

/** Values of docs/kubernetes.md. */
const examples = [...readFileSync(join(root, "docs/kubernetes.md"), "utf8").matchAll(/```yaml\n(.*?)```/gs)]
  .map(([, text = ""]) => Bun.YAML.parse(text) as Record<string, unknown>)
  .filter((each) => !("kind" in each));

/** The fleet of the Kustomize bases, with one of the two autoscalers. */
const inBases = (autoscaling: object) => ({
  networkPolicy: { wholeNamespace: true },
  metrics: {
    ...{ tokenSecret: "transcribe-metrics", serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } },
  },
  fleet: { enabled: true },
  workers: [{ name: "worker1" }],
  pools: [{ name: "gpu", autoscaling, disruptionBudget: { maxUnavailable: "50%" } }],
});

/** Every value that adds an object or a field, with names of the greatest length. */
const longName = "n".repeat(40);
const everything = {
  fullnameOverride: longName,
  image: { pullSecrets: ["registry"] },
  model: "whisper-small",
  hosts: ["speech.example.org"],
  trustedProxies: ["10.42.0.0/16"],
  settings: {
    limits: { upload_bytes: 68_719_476_736, recording_seconds: "24h", requests_per_minute: 600 },
    compat: { asr: true, keep: false },
    oidc: { scopes: ["openid", "email"], name: '"Example": login' },
    log: { level: "warn" },
  },
  server: {
    gpu: { resource: "amd.com/gpu" },
    podAnnotations: { "example.org/owner": "speech" },
    nodeSelector: { disk: "fast" },
    tolerations: [{ key: "speech", operator: "Exists" }],
    affinity: { nodeAffinity: {} },
    priorityClassName: "high",
    runtimeClassName: "gpu",
    extraVolumes: [{ name: "watched", nfs: { server: "10.0.0.9", path: "/recordings" } }],
    extraVolumeMounts: [{ name: "watched", mountPath: "/watched" }],
  },
  storage: { className: "fast" },
  objectStore: {
    ...{ audio: "s3://recordings/transcribe", endpoint: "https://minio.example.org:9000", region: "eu-central-1" },
    ...{ encryption: "AES256", credentialsSecret: "s3-key", caSecret: "s3-ca" },
  },
  ingress: {
    enabled: true,
    className: "nginx",
    host: "speech.example.org",
    tlsSecret: "speech-tls",
    annotations: { a: "b" },
  },
  console: { enabled: true },
  oidc: {
    issuer: "https://login.example.org",
    clientId: "speech",
    clientSecret: "oidc",
    rules: ["operator: group admins"],
  },
  live: { wyoming: { enabled: true, account: "home", networks: ["10.0.0.0/8"] } },
  webhooks: { allow: ["hooks.internal"] },
  tls: { secret: "server-tls" },
  standby: {
    ...{ enabled: true, wait: true, rejoin: true, fenceClaim: "fence", nodeSelector: { zone: "b" } },
    storage: { size: "1Ti", className: "slow" },
  },
  metrics: {
    tokenSecret: "token",
    serviceMonitor: {
      enabled: true,
      labels: { release: "prometheus" },
      tlsConfig: { serverName: "speech.example.org" },
    },
    prometheusRule: { enabled: true, labels: { release: "prometheus" } },
  },
  networkPolicy: {
    extraEgress: [{ to: [{ ipBlock: { cidr: "10.0.0.9/32" } }], ports: [{ protocol: "TCP", port: 9000 }] }],
  },
  fleet: { enabled: true, workHere: false, broker: { nodeSelector: { disk: "fast" } } },
  workers: [{ name: "w".repeat(22), resources: { limits: {} } }],
  pools: [
    {
      name: "a".repeat(22),
      autoscaling: { type: "hpa", max: 40 },
      settings: { engine: { lanes: 4 } },
      storage: { className: "fast" },
    },
    {
      name: "b".repeat(22),
      autoscaling: { type: "keda" },
      disruptionBudget: { maxUnavailable: 1 },
      tolerations: [{ operator: "Exists" }],
    },
    { name: "cpu", gpu: { resource: "" }, replicas: 0 },
  ],
};
const releases: Release[] = [
  {},
  { values: inBases({ type: "hpa" }) },
  { values: inBases({ type: "keda", min: 0 }) },
  { values: everything },
  {
    values: {
      live: { enabled: false },
      webhooks: { enabled: false },
      networkPolicy: { enabled: false },
      fleet: { enabled: true, broker: { enabled: false } },
    },
  },
  ...examples.map((values) => ({ values })),
];

/** Labels and annotations that a chart adds to those of the bases. */
const ADDED = /^(app\.kubernetes\.io\/(instance|version|managed-by)|helm\.sh\/chart|checksum\/settings)$/;

/** Lists whose order has no meaning. */
const UNORDERED = new Set(["env", "volumes", "volumeMounts"]);

function sorted(list: unknown): unknown {
  return Array.isArray(list) ? list.map((each) => JSON.stringify(withoutAdded(each))).sort() : list;
}

/** Returns an object without what a chart adds, and without what is empty. */
function withoutAdded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAdded);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => !ADDED.test(name));
  const rest = entries.map(([name, each]) => [name, UNORDERED.has(name) ? sorted(each) : withoutAdded(each)] as const);
  return Object.fromEntries(
    rest.filter(([name, each]) => name !== "annotations" || Object.keys(each as object).length > 0),
  );
}

function byPlace(objects: readonly object[]): Record<string, unknown> {
  const named = objects.map((each) => withoutAdded(each) as KubernetesObject);
  return Object.fromEntries(named.map((each) => [`${each.kind} ${each.metadata.name}`, each]));
}

test("the chart has the version of the program, and its schema and page are what scripts/docs generates", () => {
  const chart = Bun.YAML.parse(readFileSync(join(chartFolder, "Chart.yaml"), "utf8"));
  expect(chart).toMatchObject({ version: programVersion, appVersion: programVersion });
  expect(readFileSync(join(chartFolder, "values.schema.json"), "utf8")).toBe(chartSchema());
  const values = Bun.YAML.parse(readFileSync(join(chartFolder, "values.yaml"), "utf8"));
  expect(values).toMatchObject({ fleet: { broker: { image: `nats:${natsVersion}` } } });
  const rows = chartRows(values).map((row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
  expect(readFileSync(join(root, "docs/kubernetes.md"), "utf8")).toContain(rows.join("\n"));
});

describe.skipIf(installed === null)("the Helm chart", () => {
  test.each([
    ["the server", new Manifests("server"), { networkPolicy: { wholeNamespace: true } }],
    [
      "a fleet with an autoscaler of Kubernetes",
      new Manifests("fleet", ["monitoring", "fleet/pool", "fleet/pool-hpa", "fleet/pool-budget"]),
      inBases({ type: "hpa" }),
    ],
    [
      "a fleet with KEDA",
      new Manifests("fleet", ["monitoring", "fleet/pool", "fleet/pool-keda", "fleet/pool-budget"]),
      inBases({ type: "keda", min: 0 }),
    ],
    [
      "a server with TLS and a standby",
      new Manifests("server", ["standby", "standby-fence", "tls"]),
      {
        ...{ networkPolicy: { wholeNamespace: true }, tls: { secret: "transcribe-tls" } },
        standby: { enabled: true, fenceClaim: "transcribe-fence" },
      },
    ],
    [
      "a fleet with a standby",
      new Manifests("fleet", ["standby", "fleet/standby", "monitoring"]),
      { ...inBases({}), pools: [], standby: { enabled: true } },
    ],
  ])("renders the objects of the Kustomize bases: %s", async (_, bases, values) => {
    const objects = await objectsOf(values);
    expect(byPlace(objects)).toEqual(byPlace(bases.objects));
    expect(objects.length).toBe(bases.objects.length);
  });

  test("has no fault by Helm's own rules", async () => {
    expect(examples.length).toBe(3);
    expect(await helm().lint(releases)).toEqual([]);
  });

  test.skipIf(validate === null)(
    "renders what three versions of Kubernetes, KEDA and the Prometheus Operator know",
    async () => {
      const objects = (await helm().render(releases)).flatMap((release) => release.objects);
      const isCustom = ({ kind }: KubernetesObject) =>
        ["ScaledObject", "ServiceMonitor", "PrometheusRule"].includes(kind);
      const own = objects.filter((each) => !isCustom(each)).map((each) => JSON.stringify(each));
      // Equal objects of several releases are checked once.
      const faults = (await validate?.("kubernetes", [...new Set(own)])) ?? [];
      expect(faults.flat()).toEqual([]);
      const custom = objects.filter(isCustom);
      expect(custom.length).toBeGreaterThan(5);
      const found = await faultsOfCustomResources(custom);
      if (found !== null) expect(found.filter((each) => each !== null)).toEqual([]);
    },
  );

  test("gives every object a name that Kubernetes accepts, also for long names", async () => {
    for (const objects of [await objectsOf(everything), await objectsOf(inBases({ type: "hpa" }), "r".repeat(53))]) {
      const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      expect(new Set(names).size).toBe(names.length);
      for (const { metadata } of objects) expect(metadata.name).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
    }
  });

  test("keeps names that YAML reads as something else", async () => {
    const values = {
      fleet: { enabled: true, coordinatorSecret: "123" },
      workers: [{ name: "on", secret: "0755" }],
      pools: [{ name: "1e3" }, { name: "null" }],
      metrics: { tokenSecret: "1.5" },
    };
    const objects = await objectsOf(values, "a.1");
    const text = JSON.stringify(objects);
    for (const name of ["on", "1e3", "null"]) expect(text).toContain(`"transcribe-machine":"${name}"`);
    for (const name of ["123", "0755", "1.5"]) expect(text).toContain(`"secretName":"${name}"`);
    expect(text).toContain('"app.kubernetes.io/instance":"a.1"');
    expect(objects.filter(({ kind }) => kind === "Service").map(({ metadata }) => metadata.name)).toContain(
      "a-1-transcribe",
    );
    expect(await helm().refusals([{ name: "1-transcribe" }])).toEqual([expect.stringContaining("fullnameOverride")]);
  });

  test("passes settings that the program reads as they were written", async () => {
    const objects = await objectsOf(everything);
    const map = objects.find((each) => Value.Check(configMapSchema, each)) as
      | { data?: Record<string, string> }
      | undefined;
    const { TRANSCRIBE_DATA_DIR: _, ...environment } = map?.data ?? {};
    const settings = loadSettings({ file: undefined, environment, flags: {} });
    expect(settings.limits).toMatchObject({
      upload_bytes: 68_719_476_736,
      recording_seconds: 86_400,
      requests_per_minute: 600,
    });
    expect(settings.compat).toMatchObject({ asr: true, keep: false });
    expect(settings.oidc).toMatchObject({
      ...{ issuer: "https://login.example.org", client_id: "speech", scopes: ["openid", "email"] },
      ...{ name: '"Example": login', rules: ["operator: group admins"] },
    });
    expect(settings.storage.audio).toBe("s3://recordings/transcribe");
    expect(settings.s3).toMatchObject({
      endpoint: "https://minio.example.org:9000",
      region: "eu-central-1",
      encryption: "AES256",
    });
    expect(settings.fleet).toMatchObject({ work_here: false, max_workers: 40 });
    expect(settings.live).toMatchObject({
      wyoming: "0.0.0.0:10300",
      wyoming_account: "home",
      wyoming_networks: ["10.0.0.0/8"],
    });
    expect(settings.server.hosts).toEqual([
      ...[longName, `${longName}.transcribe.svc`, `${longName}.transcribe.svc.cluster.local`, "speech.example.org"],
    ]);
    expect(settings.server.trusted_proxies).toEqual(["10.42.0.0/16"]);
    expect(settings.engine.whisper_model).toBe("whisper-small");
    expect(settings.webhooks.allow).toEqual(["hooks.internal"]);
    expect(settings.log.level).toBe("warn");
  });

  test("mounts each secret where the program looks for it", async () => {
    const known = settingEntries.map(({ env }) => env);
    for (const each of await objectsOf(everything)) {
      if (each.kind !== "StatefulSet" && each.kind !== "Deployment") continue;
      const { containers, volumes } = (each as unknown as Workload).spec.template.spec;
      const [{ env = [], volumeMounts }] = containers as [Workload["spec"]["template"]["spec"]["containers"][number]];
      const mounted = volumeMounts.map(({ name }) => name);
      const claims = each.kind === "StatefulSet" ? ["data"] : [];
      expect([...new Set(mounted)].sort()).toEqual([...volumes.map(({ name }) => name), ...claims].sort());
      for (const one of env) {
        if (one.name === "NVIDIA_DRIVER_CAPABILITIES" || one.name === "TRANSCRIBE_CONFIG") continue;
        expect(known).toContain(one.name);
        if (!("value" in one) || !/^\/(?:etc|var)\/.*\w\/\w/.test(one.value) || one.name === "TRANSCRIBE_DATA_DIR")
          continue;
        expect(volumeMounts.some(({ mountPath }) => `${one.value}/`.startsWith(`${mountPath}/`))).toBe(true);
      }
    }
  });

  test("lets a pool do without the GPU, and gives a worker's own values precedence", async () => {
    const values = {
      fleet: { enabled: true },
      workerDefaults: { image: { tag: "other" } },
      pools: [{ name: "cpu", gpu: { resource: "" }, image: { tag: "own" }, replicas: 0 }, { name: "gpu" }],
    };
    const [cpu, gpu] = (await objectsOf(values)).filter(({ metadata }) => /-(c|g)pu$/.test(metadata.name));
    expect(JSON.stringify(cpu)).toContain('"image":"transcribe:own"');
    expect(JSON.stringify(cpu)).toContain('"replicas":0');
    expect(JSON.stringify(cpu)).not.toMatch(/nvidia/i);
    expect(JSON.stringify(gpu)).toContain('"image":"transcribe:other"');
    expect(JSON.stringify(gpu)).toContain('"nvidia.com/gpu":1');
    expect(JSON.stringify(gpu)).not.toContain('"replicas"');
  });

  test("keeps two releases in a namespace apart", async () => {
    const values = { fleet: { enabled: true }, pools: [{ name: "gpu" }] };
    const both = [await objectsOf(values, "one"), await objectsOf(values, "two")].flat();
    const names = both.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    const policies = both.filter(({ kind }) => kind === "NetworkPolicy") as unknown as Policy[];
    const labels = (name: string) => {
      const workload = both.find((each) =>
        Value.Check(workloadSchema, each) || /^(StatefulSet|Deployment)$/.test(each.kind)
          ? each.metadata.name === name
          : false,
      );
      return { name, pod: (workload as unknown as Workload).spec.template.metadata.labels };
    };
    const connects = (from: string, to: string, port: number) =>
      isAllowed(policies, labels(from), labels(to), "TCP", port);
    expect(policies.every((each) => Value.Check(policySchema, each))).toBe(true);
    expect(connects("one-transcribe", "one-transcribe-broker", 4222)).toBe(true);
    expect(connects("two-transcribe-gpu", "two-transcribe-broker", 4222)).toBe(true);
    expect(connects("one-transcribe", "two-transcribe-broker", 4222)).toBe(false);
    expect(connects("one-transcribe-gpu", "two-transcribe", 8787)).toBe(false);
  });

  test("changes nothing that Kubernetes forbids to change when a release gets a standby", async () => {
    const fixed = (objects: readonly KubernetesObject[]) => {
      const set = objects.find(({ kind, metadata }) => kind === "StatefulSet" && metadata.name === "transcribe");
      const {
        template: _,
        replicas: __,
        ...rest
      } = (set as unknown as Extract<Workload, { kind: "StatefulSet" }>).spec;
      return rest;
    };
    const pair = await objectsOf({ standby: { enabled: true, fenceClaim: "fence" } });
    expect(fixed(pair)).toEqual(fixed(await objectsOf({})));
    const claims = pair.filter(({ kind }) => kind === "StatefulSet").map(({ spec }) => JSON.stringify(spec));
    expect(claims.every((spec) => spec.includes('"storage":"50Gi"'))).toBe(true);
  });

  test("has the alerts that Prometheus without an operator reads, in an object that the bases have as well", async () => {
    const rules = Bun.YAML.parse(readFileSync(join(root, "deploy/prometheus-alerts.yml"), "utf8"));
    const rendered = await objectsOf({ metrics: { prometheusRule: { enabled: true } } });
    expect(rendered.find(({ kind }) => kind === "PrometheusRule")?.spec).toEqual(rules);
    for (const [path, generate] of [
      [chartAlerts, alertRules],
      [kustomizeAlerts, prometheusRule],
    ] as const) {
      expect(readFileSync(join(root, path), "utf8")).toBe(generate());
    }
  });

  test("restarts the server when its settings change, and not otherwise", async () => {
    const digest = async (values: object) => {
      const workload = (await objectsOf(values)).find(({ kind }) => kind === "StatefulSet");
      return /"checksum\/settings":"([0-9a-f]{64})"/.exec(JSON.stringify(workload))?.[1];
    };
    const usual = await digest({});
    expect(usual).toBeString();
    expect(await digest({ storage: { size: "1Gi" } })).toBe(usual);
    expect(await digest({ settings: { log: { level: "warn" } } })).not.toBe(usual);
  });

  test("refuses values that are wrong, with a sentence that names them", async () => {
    const pool = (own: object, fleet: object = {}) => ({
      fleet: { enabled: true, ...fleet },
      pools: [{ name: "gpu", ...own }],
    });
    const cases: [object, string][] = [
      [{ replicas: 2 }, "replicas"],
      [{ image: { tags: "1" } }, "tags"],
      [{ settings: { limits: { uploads: 1 } } }, "uploads"],
      [{ settings: { server: { hosts: ["a"] } } }, "hosts"],
      [{ settings: { compat: { asr: "yes" } } }, "asr"],
      [{ settings: { oidc: { scopes: ["openid,email"] } } }, "scopes"],
      [{ settings: { log: { level: "loud" } } }, "level"],
      [{ settings: { fleet: { max_workers: 0 } } }, "max_workers"],
      [{ hosts: ["https://speech.example.org"] }, "hosts"],
      [{ trustedProxies: ["ingress-nginx"] }, "trustedProxies"],
      [{ oidc: { rules: ["member a, b: group c"] } }, "rules"],
      [{ storage: { size: "much" } }, "size"],
      [{ metrics: { tokenSecret: "Not A Name" } }, "tokenSecret"],
      [{ ingress: { enabled: true } }, "ingress.host"],
      [{ metrics: { serviceMonitor: { enabled: true } } }, "metrics.tokenSecret"],
      [{ standby: { enabled: true } }, "standby.fenceClaim, or the broker of fleet.enabled"],
      [{ standby: { storage: { size: "much" } } }, "size"],
      [{ standby: { wait: true } }, "need standby.enabled"],
      [{ metrics: { serviceMonitor: { tlsConfig: { insecureSkipVerify: true } } } }, "needs tls.secret"],
      [{ oidc: { clientId: "a" } }, "need oidc.issuer"],
      [{ objectStore: { endpoint: "https://minio.example.org" } }, "need objectStore.audio"],
      [{ settings: { standby: { fence: "broker" } } }, "fence"],
      [{ fleet: { enabled: true }, workers: [{ name: "standby" }] }, "used twice"],
      [{ oidc: { issuer: "https://login.example.org", clientId: "a" } }, "console.enabled"],
      [{ objectStore: { audio: "s3://a-bucket" } }, "credentialsSecret"],
      [{ live: { wyoming: { enabled: true } } }, "live.wyoming.account"],
      [{ pools: [{ name: "gpu" }] }, "fleet.enabled"],
      [{ fleet: { enabled: true }, workers: [{ name: "a" }], pools: [{ name: "a" }] }, "used twice"],
      [pool({ name: "broker" }), "used twice"],
      [pool({ name: "no_name" }), "name"],
      [pool({ disruptionBudget: { maxUnavailable: 0 } }), "maxUnavailable"],
      [pool({ disruptionBudget: { maxUnavailable: "0%" } }), "maxUnavailable"],
      [pool({ autoscaling: { type: "hpa", min: 0 } }), "at least one worker"],
      [pool({ autoscaling: { type: "keda", min: 0 } }, { workHere: false }), "fleet.workHere"],
      [pool({ autoscaling: { type: "keda", min: 3, max: 2 } }), "greater"],
      [pool({ replicas: 2, autoscaling: { type: "hpa" } }), "exclude"],
    ];
    const refusals = await helm().refusals(cases.map(([values]) => ({ values })));
    expect(refusals).toEqual(cases.map(([, words]) => expect.stringContaining(words)));
  });

  test("tells what to do next, with the names of the release", async () => {
    const [release] = await helm().render([
      { name: "speech", values: { fleet: { enabled: true }, pools: [{ name: "gpu" }] } },
    ]);
    expect(release?.notes).toContain("exec speech-transcribe-0 -- transcribe accounts create acme");
    expect(release?.notes).toContain("speech-transcribe-broker");
    expect(release?.notes).not.toContain("<no value>");
    const [pair] = await helm().render([
      { name: "speech", values: { standby: { enabled: true, fenceClaim: "fence" } } },
    ]);
    expect(pair?.notes).toContain(
      "standby init --directory ./standby --machine speech-transcribe-0 speech-transcribe-standby-0",
    );
    expect(pair?.notes).toContain("exec speech-transcribe-standby-0 -- transcribe promote");
  });

  test("is the same from its file, which has the same bytes each time", async () => {
    using directory = temporaryDirectory();
    const folders = ["a", "b"].map((name) => join(directory.path, name));
    for (const folder of folders) mkdirSync(folder);
    const [one = "", other = ""] = await Promise.all(folders.map(packChart));
    expect(readFileSync(one)).toEqual(readFileSync(other));
    const [fromFile] = await helm().render([{ values: everything }], one);
    expect(fromFile?.objects).toEqual(await objectsOf(everything));
  });
});
