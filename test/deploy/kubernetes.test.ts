import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { natsVersion } from "../../harness/nats-server.ts";
import { temporaryDirectory } from "../../harness/temporary-directory.ts";
import { loadSettings, settingEntries } from "../../src/config/index.ts";
import { FleetDirectory, machineName } from "../../src/fleet/index.ts";
import { openApiDocument } from "../../src/http/api/openapi/index.ts";
import { programVersion } from "../../src/program/index.ts";
import { writeCertificateFolders } from "../../src/replication/index.ts";
import { describedMetrics } from "../../tools/development/docs/pages.ts";
import { readContainerfile } from "../../tools/release/container/containerfile.ts";
import {
  type Container,
  documentsOf,
  environmentOf,
  Manifests,
  manifestFolder,
  type Workload,
} from "../support/manifests.ts";
import { isAllowed, type Place } from "./network-rules.ts";

const server = new Manifests("server");
const fleet = new Manifests("fleet");
const monitored = new Manifests("fleet", ["standby", "fleet/standby", "monitoring"]);
/** A server without a fleet, with its standby. */
const pair = new Manifests("server", ["standby", "standby-fence", "tls"]);
const [standby] = new Manifests("fleet", ["standby", "fleet/standby"]).workloads.filter(
  ({ metadata }) => metadata.name === "transcribe-standby",
);
if (standby === undefined) throw new Error("there is no standby");
const pool = new Manifests("fleet/pool");
const autoscalers = ["fleet/pool-hpa", "fleet/pool-keda"].flatMap((folder) => new Manifests(folder).autoscalers);
const { config } = readContainerfile(readFileSync(join(root, "deploy/Containerfile"), "utf8"));
const image = Object.fromEntries((config.Env as string[]).map((line) => line.split(/=(.*)/s).slice(0, 2)));
const [dataVolume = ""] = Object.keys(config.Volumes as object);
const { limits, fleet: fleetSettings } = loadSettings({ file: undefined, environment: {}, flags: {} });
const routes = Object.keys(openApiDocument(limits, []).paths);

const podOf = ({ spec }: Workload) => spec.template.spec;
const containerOf = (workload: Workload): Container => {
  const [container] = podOf(workload).containers;
  if (container === undefined) throw new Error(`${workload.metadata.name} has no container`);
  return container;
};
const all = [...fleet.workloads, ...pool.workloads, standby];
const byName = (name: string) => fleet.workloads.filter(({ metadata }) => metadata.name === name);
const isOurs = (workload: Workload) => containerOf(workload).image.startsWith("transcribe:");
const workloads = all.map((workload) => [workload.metadata.name, workload] as const);

test("every manifest belongs to a kustomization, has only known fields, and no pod has a right that it does not need", () => {
  // Reading them has compared each object with the strict schemas.
  expect(server.workloads.map(({ metadata }) => metadata.name)).toEqual(["transcribe"]);
  expect(workloads.map(([name]) => name)).toEqual([
    ...["transcribe", "transcribe-broker", "transcribe-worker1", "transcribe-gpu", "transcribe-standby"],
  ]);
  const folders = [
    ...["server", "fleet", "monitoring", "standby", "standby-fence", "tls"],
    ...["fleet/pool", "fleet/pool-hpa", "fleet/pool-keda", "fleet/pool-budget", "fleet/standby"],
  ];
  const listed = folders.map((folder) => readdirSync(join(manifestFolder, folder)).sort());
  expect(listed).toEqual([
    ["kustomization.yaml", "namespace.yaml", "network-policies.yaml", "server.yaml"],
    [
      ...["broker.yaml", "coordinator.yaml", "kustomization.yaml", "network-policies.yaml"],
      ...["pool", "pool-budget", "pool-hpa", "pool-keda", "standby", "worker.yaml"],
    ],
    ["kustomization.yaml", "network-policy.yaml", "prometheus-rule.yaml", "service-monitor.yaml", "token.yaml"],
    ["kustomization.yaml", "network-policy.yaml", "server.yaml", "standby.yaml"],
    ["fence.yaml", "kustomization.yaml"],
    ["kustomization.yaml", "tls.yaml"],
    ["kustomization.yaml", "workers.yaml"],
    ["autoscaler.yaml", "external-metric.yaml", "kustomization.yaml"],
    ["autoscaler.yaml", "kustomization.yaml"],
    ["budget.yaml", "kustomization.yaml"],
    ["broker.yaml", "coordinator.yaml", "fence.yaml", "kustomization.yaml"],
  ]);
  expect(server.namespaces[0]?.metadata.labels?.["pod-security.kubernetes.io/enforce"]).toBe("restricted");
});

describe.each(workloads)("%s", (_, workload) => {
  const pod = podOf(workload);
  const container = containerOf(workload);

  test("runs this version of the image, or the tested broker, as the image's user", () => {
    expect([`transcribe:${programVersion}`, `nats:${natsVersion}`]).toContain(container.image);
    const { runAsUser, runAsGroup, fsGroup } = pod.securityContext;
    expect(`${runAsUser}:${runAsGroup}`).toBe(String(config.User));
    expect(fsGroup).toBe(runAsGroup);
  });

  test("selects its own pods alone", () => {
    const { labels } = workload.spec.template.metadata;
    expect(labels).toMatchObject(workload.spec.selector.matchLabels);
    const others = all.filter(({ spec }) =>
      Object.entries(workload.spec.selector.matchLabels).every(
        ([name, value]) => spec.template.metadata.labels[name] === value,
      ),
    );
    expect(others.map(({ metadata }) => metadata.name)).toEqual([workload.metadata.name]);
  });

  test("mounts every volume that it has, and no other", () => {
    const claims = workload.kind === "StatefulSet" ? workload.spec.volumeClaimTemplates : [];
    const names = [...pod.volumes.map(({ name }) => name), ...claims.map(({ metadata }) => metadata.name)];
    expect([...new Set(container.volumeMounts.map(({ name }) => name))].sort()).toEqual(names.sort());
  });

  test("asks only ports that it has, and routes that exist", () => {
    const ports = container.ports?.map(({ name }) => name) ?? [];
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      if (probe === undefined) continue;
      expect(ports).toContain(probe.httpGet?.port ?? probe.tcpSocket?.port ?? "");
      if (probe.httpGet !== undefined) expect(routes).toContain(probe.httpGet.path);
    }
  });
});

test("each Service leads to a port of the pods that it selects, under the name that others use", () => {
  for (const { metadata, spec } of fleet.services) {
    const selected = fleet.workloads.filter(({ spec: { template } }) =>
      Object.entries(spec.selector).every(([name, value]) => template.metadata.labels[name] === value),
    );
    expect(selected.map(({ metadata: { name } }) => name)).toEqual([metadata.name]);
    for (const { port, targetPort } of spec.ports) {
      const ports = selected.flatMap((workload) => containerOf(workload).ports ?? []);
      expect(ports).toContainEqual({ name: targetPort, containerPort: port });
    }
  }
  const [coordinator] = byName("transcribe");
  expect(coordinator?.kind === "StatefulSet" && coordinator.spec.serviceName).toBe("transcribe");
  const [exposed] = Object.keys(config.ExposedPorts as object);
  expect(exposed).toBe(`${containerOf(server.workloads[0] as Workload).ports?.[0]?.containerPort}/tcp`);
});

test("the Service of the API leads to the server and its standby, and each has a name for the other", () => {
  const selected = pair.services.map(({ metadata, spec }) => [
    metadata.name,
    pair.workloads
      .filter(({ spec: { template } }) =>
        Object.entries(spec.selector).every(([name, value]) => template.metadata.labels[name] === value),
      )
      .map(({ metadata: { name } }) => name),
    spec.publishNotReadyAddresses ?? false,
  ]);
  expect(selected).toEqual([
    ["transcribe", ["transcribe", "transcribe-standby"], false],
    ["transcribe-0", ["transcribe"], true],
    ["transcribe-standby-0", ["transcribe-standby"], true],
  ]);
});

test("a server and its standby have the settings by which they follow each other, and a fence", async () => {
  using directory = temporaryDirectory();
  const hosts = ["transcribe-0", "transcribe-standby-0"];
  const path = await writeCertificateFolders(join(directory.path, "standby"), { machines: hosts, renew: [] }, 0);
  for (const [index, workload] of pair.workloads.entries()) {
    const environment = environmentOf(containerOf(workload), pair, image);
    const settings = loadSettings({
      file: undefined,
      environment: Object.fromEntries(Object.entries(environment).filter(([name]) => name.startsWith("TRANSCRIBE_"))),
      flags: {},
    });
    expect(settings.standby).toMatchObject({
      ...{ listen: "0.0.0.0:8788", from: `tls://${hosts[1 - index]}:8788`, follow: index === 1, rejoin: false },
      fence: "/var/lib/transcribe-fence",
    });
    const { ca, certificate, key } = settings.standby;
    const { volumeMounts } = containerOf(workload);
    const mounted = readdirSync(join(path, hosts[index] ?? "")).map(
      (name) => `/etc/transcribe-secrets/standby/${name}`,
    );
    expect(mounted).toEqual(expect.arrayContaining([ca, certificate, key]));
    expect(volumeMounts).toContainEqual({ name: "fence", mountPath: settings.standby.fence });
    const secrets = podOf(workload).volumes.flatMap(({ secret }) => (secret === undefined ? [] : [secret.secretName]));
    expect(secrets).toEqual([`${hosts[index]}-standby`, "transcribe-tls"]);
    expect(settings.server.tls_certificate).toBe("/etc/transcribe-secrets/tls/tls.crt");
    const probes = [containerOf(workload).startupProbe, containerOf(workload).livenessProbe];
    expect(probes.map((probe) => probe?.httpGet?.scheme)).toEqual(["HTTPS", "HTTPS"]);
  }
});

describe.each(workloads.filter(([, workload]) => isOurs(workload)))("the program in %s", (_, workload) => {
  const container = containerOf(workload);
  const environment = environmentOf(container, fleet, image);

  test("knows all of its settings and stores its data in the volume alone", () => {
    const names = Object.keys(environment).filter((each) => each.startsWith("TRANSCRIBE_"));
    const known = [...settingEntries.map(({ env }) => env), "TRANSCRIBE_CONFIG"];
    expect(names.filter((each) => !known.includes(each))).toEqual([]);
    const own = Object.fromEntries(
      names.filter((each) => each !== "TRANSCRIBE_CONFIG").map((each) => [each, environment[each]]),
    );
    const settings = loadSettings({ file: undefined, environment: own, flags: {} });
    expect(settings.storage.data_dir).toStartWith(`${dataVolume}/`);
    expect(container.volumeMounts).toContainEqual({ name: "data", mountPath: dataVolume });
    expect(settings.server.host).toBe("0.0.0.0");
    if (container.args[0] === "serve")
      expect(settings.server.hosts).toContain("transcribe.transcribe.svc.cluster.local");
  });

  test("has time to stop", () => {
    const drain = Number(environment.TRANSCRIBE_FLEET_DRAIN_SECONDS ?? fleetSettings.drain_seconds);
    const needed = container.args[0] === "worker" ? drain + 5 : 20;
    expect(podOf(workload).terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed);
  });
});

test("the secrets of a fleet are the folders that transcribe fleet init writes", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "fleet");
  const created = { broker: ["transcribe-broker"], port: 4222, workers: ["worker1"], pools: ["gpu"] };
  await FleetDirectory.create(path, created, Date.now());
  const machines: Record<string, string> = { transcribe: "coordinator", "transcribe-broker": "broker" };
  for (const [name, workload] of workloads.filter(([each]) => each !== "transcribe-standby")) {
    const machine = machines[name] ?? name.replace("transcribe-", "");
    const files = readdirSync(join(path, machine));
    const secrets = podOf(workload).volumes.flatMap(({ secret }) => (secret === undefined ? [] : [secret.secretName]));
    expect(secrets).toEqual([`transcribe-fleet-${machine}`]);
    const { volumeMounts, workingDir = "" } = containerOf(workload);
    const mounts = volumeMounts.filter((mount) => mount.name === "fleet");
    if (name === "transcribe-broker") {
      expect(mounts.map(({ subPath }) => subPath ?? "").sort()).toEqual(files.sort());
      for (const { mountPath, subPath } of mounts) expect(mountPath).toBe(`${workingDir}/${subPath}`);
    } else {
      expect(mounts).toEqual([{ name: "fleet", mountPath: "/etc/transcribe", readOnly: true }]);
      const file = environmentOf(containerOf(workload), fleet, image).TRANSCRIBE_CONFIG;
      expect(files.map((each) => `/etc/transcribe/${each}`)).toContain(file ?? "");
    }
  }
  const settings = readFileSync(join(path, "worker1/fleet.toml"), "utf8");
  const service = fleet.services.find(({ metadata }) => metadata.name === "transcribe-broker");
  expect(settings).toContain(`broker = "tls://${service?.metadata.name}:${service?.spec.ports[0]?.port}"`);
});

test("a pool's worker has the name of its pod, and answers its probes where they ask", () => {
  const [workload] = pool.workloads;
  if (workload === undefined) throw new Error("the pool has no workers");
  const container = containerOf(workload);
  const environment = environmentOf(container, pool, image);
  expect(machineName("gpu", environment.TRANSCRIBE_FLEET_MACHINE ?? "")).toBe("gpu.transcribe-gpu-5d8f7c9b6c-x7k2p");
  expect(container.ports).toEqual([{ name: "health", containerPort: 8788 }]);
  expect(environment.TRANSCRIBE_FLEET_HEALTH).toBe("0.0.0.0:8788");
  expect(container.readinessProbe?.httpGet).toEqual({ path: "/readyz", port: "health" });
});

test("both autoscalers scale the pool by a metric of the server, within the server's own bound", () => {
  const known = describedMetrics().map(({ name }) => name);
  expect(known).toContain("transcribe_fleet_wanted_workers");
  const [hpa, keda] = autoscalers;
  if (hpa?.kind !== "HorizontalPodAutoscaler" || keda?.kind !== "ScaledObject")
    throw new Error("an autoscaler is missing");
  expect([hpa.spec.scaleTargetRef.name, keda.spec.scaleTargetRef.name]).toEqual(["transcribe-gpu", "transcribe-gpu"]);
  expect([hpa.spec.maxReplicas, keda.spec.maxReplicaCount]).toEqual([
    fleetSettings.max_workers,
    fleetSettings.max_workers,
  ]);
  expect(hpa.spec.metrics.map(({ external }) => external.metric.name)).toEqual(["transcribe_fleet_wanted_workers"]);
  expect(keda.spec.triggers.map(({ metadata }) => metadata.query)).toEqual(["max(transcribe_fleet_wanted_workers)"]);
  const [rules] = documentsOf("fleet/pool-hpa/external-metric.yaml");
  expect(rules).toMatchObject({
    rules: {
      external: [
        { name: { as: "transcribe_fleet_wanted_workers" }, metricsQuery: "max(transcribe_fleet_wanted_workers)" },
      ],
    },
  });
});

test("Prometheus reads the server's metrics with a token that the server knows", () => {
  const [server] = monitored.workloads;
  const [service] = monitored.services;
  const [monitor] = monitored.monitors;
  if (server === undefined || service === undefined || monitor === undefined) throw new Error("an object is missing");
  expect(service.metadata.labels).toMatchObject(monitor.spec.selector.matchLabels);
  const [endpoint] = monitor.spec.endpoints;
  expect(service.spec.ports.map(({ name }) => name)).toContain(endpoint?.port ?? "");
  expect(endpoint?.path).toBe("/metrics");
  const { name = "", key = "" } = endpoint?.authorization.credentials ?? {};
  const volume = podOf(server).volumes.find(({ secret }) => secret?.secretName === name);
  const mount = containerOf(server).volumeMounts.find((each) => each.name === volume?.name);
  const file = environmentOf(containerOf(server), monitored, image).TRANSCRIBE_METRICS_TOKEN_FILE;
  expect(file).toBe(`${mount?.mountPath}/${key}`);
});

test("a budget concerns the pool alone, so that no drain waits for a pod that has no replacement by design", () => {
  const { budgets } = new Manifests("fleet", ["fleet/pool", "fleet/pool-budget"]);
  const concerned = budgets.flatMap(({ spec: { selector } }) =>
    all.filter(({ spec }) =>
      Object.entries(selector.matchLabels).every(([label, value]) => spec.template.metadata.labels[label] === value),
    ),
  );
  expect(concerned.map(({ metadata }) => metadata.name)).toEqual(["transcribe-gpu"]);
});

test("the network policies allow what a fleet needs, and nothing else", () => {
  const pod = (component: string, labels: Record<string, string> = {}) => ({
    name: component,
    pod: { "app.kubernetes.io/name": "transcribe", "app.kubernetes.io/component": component, ...labels },
  });
  const places: Place[] = [
    ...["server", "standby"].map((component) => pod(component, { "transcribe-api": "true" })),
    ...["broker", "worker", "other"].map((component) => pod(component)),
    { name: "a pod of ours without a task", pod: {} },
    { name: "a client", namespace: { "transcribe-access": "true" } },
    { name: "another pod", namespace: { "kubernetes.io/metadata.name": "default" } },
    {
      name: "Prometheus",
      namespace: { "kubernetes.io/metadata.name": "monitoring" },
      namespacePod: { "app.kubernetes.io/name": "prometheus" },
    },
    { name: "a pod next to Prometheus", namespace: { "kubernetes.io/metadata.name": "monitoring" } },
    { name: "the name server", namespace: { "kubernetes.io/metadata.name": "kube-system" } },
    { name: "a public address", address: "93.184.216.34" },
    ...["10.1.2.3", "172.20.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"].map((address) => ({
      name: address,
      address,
    })),
  ];
  const ports = [22, 53, 80, 443, 4222, 6222, 8222, 8787, 8788].map((port) => ["TCP", port] as const);
  const found = places.flatMap((from) =>
    places.flatMap((to) => {
      if (from === to || (from.pod === undefined && to.pod === undefined)) return [];
      const open = [...ports, ["UDP", 53] as const].filter(([protocol, port]) =>
        isAllowed(monitored.policies, from, to, protocol, port),
      );
      return open.map(([protocol, port]) => `${from.name} → ${to.name}: ${protocol} ${port}`);
    }),
  );
  expect(found.sort()).toEqual(
    [
      // Either of both may serve.
      ...["server", "standby"].flatMap((name) => [
        `Prometheus → ${name}: TCP 8787`,
        `a client → ${name}: TCP 8787`,
        `${name} → a public address: TCP 443`,
        `${name} → a public address: TCP 80`,
        `${name} → broker: TCP 4222`,
        `${name} → the name server: TCP 53`,
        `${name} → the name server: UDP 53`,
      ]),
      "server → standby: TCP 8788",
      "standby → server: TCP 8788",
      "worker → broker: TCP 4222",
      "worker → the name server: TCP 53",
      "worker → the name server: UDP 53",
    ].sort(),
  );
});
