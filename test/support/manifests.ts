import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { root } from "../../harness/checkout.ts";
import {
  autoscalerSchema,
  budgetSchema,
  componentSchema,
  configMapSchema,
  kustomizationSchema,
  monitorSchema,
  namespaceSchema,
  patchSchema,
  policySchema,
  rulesSchema,
  serviceSchema,
  workloadSchema,
} from "./kubernetes-schemas.ts";

export const manifestFolder = join(root, "deploy/kubernetes");

/** Schemas of the kinds in the manifests. */
const schemas: Readonly<Record<string, TSchema>> = {
  ...{ Namespace: namespaceSchema, Service: serviceSchema, ConfigMap: configMapSchema },
  ...{ StatefulSet: workloadSchema, Deployment: workloadSchema, NetworkPolicy: policySchema },
  ...{ HorizontalPodAutoscaler: autoscalerSchema, ScaledObject: autoscalerSchema },
  ...{ ServiceMonitor: monitorSchema, PodDisruptionBudget: budgetSchema, PrometheusRule: rulesSchema },
};

export type Workload = Static<typeof workloadSchema>;
export type Policy = Static<typeof policySchema>;
export type Container = Workload["spec"]["template"]["spec"]["containers"][number];

/** Returns the documents of a manifest. */
export function documentsOf(path: string): unknown[] {
  const parsed: unknown = Bun.YAML.parse(readFileSync(join(manifestFolder, path), "utf8"));
  return Array.isArray(parsed) ? parsed : [parsed];
}

/** Returns a value as its schema describes it. @throws {Error} with the place and the fault otherwise */
export function checked<T extends TSchema>(schema: T, value: unknown, path: string): Static<T> {
  if (Value.Check(schema, value)) return value;
  // The errors of a union's variants say more than the union's own.
  const faults = [...Value.Errors(schema, value)].flatMap((each) => [each, ...each.errors.flatMap((all) => [...all])]);
  throw new Error(`${path}: ${faults.map((fault) => `${fault.path}: ${fault.message}`).join("; ")}`);
}

const kindSchema = Type.Object({ kind: Type.String() });

/** The objects of a folder of manifests, each checked, with the changes of its patches. */
export class Manifests {
  readonly workloads: Workload[] = [];
  readonly services: Static<typeof serviceSchema>[] = [];
  readonly configMaps: Static<typeof configMapSchema>[] = [];
  readonly policies: Policy[] = [];
  readonly namespaces: Static<typeof namespaceSchema>[] = [];
  readonly autoscalers: Static<typeof autoscalerSchema>[] = [];
  readonly monitors: Static<typeof monitorSchema>[] = [];
  readonly rules: Static<typeof rulesSchema>[] = [];
  readonly budgets: Static<typeof budgetSchema>[] = [];

  /** @param components folders whose objects and patches are added */
  constructor(folder: string, components: readonly string[] = []) {
    this.#include(folder);
    for (const component of components) this.#include(component);
  }

  /** All objects but the namespaces. */
  get objects(): object[] {
    const { workloads, services, configMaps, policies, autoscalers, monitors, rules, budgets } = this;
    return [workloads, services, configMaps, policies, autoscalers, monitors, rules, budgets].flat();
  }

  #include(folder: string): void {
    const path = `${folder}/kustomization.yaml`;
    const [document] = documentsOf(path);
    const { resources, patches = [] } = Value.Check(componentSchema, document)
      ? document
      : checked(kustomizationSchema, document, path);
    for (const resource of resources) {
      if (resource.endsWith(".yaml"))
        for (const each of documentsOf(`${folder}/${resource}`)) this.#add(each, resource);
      else this.#include(join(folder, resource));
    }
    for (const { path, target } of patches) {
      const patch = checked(patchSchema, documentsOf(`${folder}/${path}`)[0], path);
      const isTarget = ({ kind, metadata }: Workload) =>
        kind === (target?.kind ?? patch.kind) && (target !== undefined || metadata.name === patch.metadata.name);
      const targets = this.workloads.filter(isTarget);
      if (targets.length === 0) throw new Error(`${path} changes a workload that does not exist`);
      for (const each of targets) patchWorkload(each, patch);
    }
  }

  #add(document: unknown, path: string): void {
    const { kind } = checked(kindSchema, document, path);
    const schema = schemas[kind];
    if (schema === undefined) throw new Error(`${path}: no schema is known for ${kind}`);
    checked(schema, document, path);
    if (Value.Check(workloadSchema, document)) this.workloads.push(document);
    if (Value.Check(serviceSchema, document)) this.services.push(document);
    if (Value.Check(configMapSchema, document)) this.configMaps.push(document);
    if (Value.Check(policySchema, document)) this.policies.push(document);
    if (Value.Check(namespaceSchema, document)) this.namespaces.push(document);
    if (Value.Check(autoscalerSchema, document)) this.autoscalers.push(document);
    if (Value.Check(monitorSchema, document)) this.monitors.push(document);
    if (Value.Check(rulesSchema, document)) this.rules.push(document);
    if (Value.Check(budgetSchema, document)) this.budgets.push(document);
  }
}

/** Merges as kubectl does: lists by the field `name`, mounts by their path, ports by their number. */
function patchWorkload(workload: Workload, { spec }: Static<typeof patchSchema>): void {
  const pod = workload.spec.template.spec;
  const { affinity, containers = [], volumes = [] } = spec.template.spec;
  if (affinity !== undefined) pod.affinity = affinity;
  // A patch may be for several workloads, which must not share its parts.
  for (const change of structuredClone(containers)) {
    const container = pod.containers.find(({ name }) => name === change.name);
    if (container === undefined) throw new Error(`a patch changes the container ${change.name}, which does not exist`);
    container.env = [...(container.env ?? []), ...(change.env ?? [])];
    container.ports = [...(container.ports ?? []), ...(change.ports ?? [])];
    container.volumeMounts.push(...(change.volumeMounts ?? []));
    for (const name of ["startupProbe", "livenessProbe", "readinessProbe"] as const) {
      Object.assign(container[name]?.httpGet ?? {}, change[name]?.httpGet);
    }
  }
  pod.volumes.push(...structuredClone(volumes));
}

/** A name as Kubernetes gives to the pod of a Deployment. */
const podName = "transcribe-gpu-5d8f7c9b6c-x7k2p";

/** Returns the environment of a container: that of the image, of its config maps, and its own. */
export function environmentOf(container: Container, manifests: Manifests, image: Readonly<Record<string, string>>) {
  const names = container.envFrom?.map(({ configMapRef }) => configMapRef.name) ?? [];
  const maps = names.map((name) => {
    const found = manifests.configMaps.find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new Error(`there is no config map ${name}`);
    return found.data;
  });
  const own = Object.fromEntries(
    container.env?.map((each) => [each.name, "value" in each ? each.value : podName]) ?? [],
  );
  return Object.assign({}, image, ...maps, own) as Record<string, string>;
}
