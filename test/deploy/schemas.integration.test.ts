import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../harness/checkout.ts";
import { Manifests, manifestFolder } from "../support/manifests.ts";
import { independentValidators, type Validate } from "../support/validators/index.ts";
import { faultsOfCustomResources } from "./custom-resources/index.ts";

setDefaultTimeout(120_000);

const validators = await independentValidators("the manifests by the schemas of Kubernetes and Compose");
const validate: Validate = (format, documents) => {
  if (validators === null) throw new Error("there are no validators");
  return validators(format, documents);
};
const read = (path: string) => readFileSync(join(manifestFolder, path), "utf8");
/** The files that are complete without Kustomize. */
const files = ["server", "fleet", "fleet/pool", "fleet/pool-hpa", "fleet/pool-budget", "standby"].flatMap((folder) =>
  readdirSync(join(manifestFolder, folder))
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => `${folder}/${name}`)
    .filter((path) => !/(?:kustomization|coordinator|external-metric)\.yaml$|^standby\/server/.test(path)),
);
/** The objects whose schemas no version of Kubernetes has. */
const { monitors, rules } = new Manifests("fleet", ["monitoring"]);
const custom = [...new Manifests("fleet/pool-keda").autoscalers, ...monitors, ...rules];
const broken = custom.map((each) =>
  JSON.parse(
    JSON.stringify(each)
      .replace('"triggers"', '"trigger"')
      .replace('"endpoints"', '"endpoint"')
      .replace('"expr"', '"expression"'),
  ),
);
const customFaults = await faultsOfCustomResources([...custom, ...broken]);
const compose = readFileSync(join(root, "deploy/compose.yaml"), "utf8");

describe.skipIf(validators === null)("independent validators", () => {
  test("find no fault in the manifests, by the strict schemas of three versions of Kubernetes", async () => {
    // Kustomize patches the workloads of a fleet.
    const fleet = new Manifests("fleet", ["standby", "fleet/standby", "monitoring", "tls"]);
    const server = new Manifests("server", ["standby", "standby-fence"]);
    const patched = [...fleet.workloads, ...server.workloads].map((each) => JSON.stringify(each));
    expect(files.length).toBeGreaterThan(5);
    const faults = await validate("kubernetes", [...files.map(read), ...patched]);
    expect(faults.flatMap((each, index) => each.map((fault) => `${files[index]}: ${fault}`))).toEqual([]);
  });

  test("find no fault in the Compose file", async () => {
    expect(await validate("compose", [compose])).toEqual([[]]);
  });

  test("find a misspelt word", async () => {
    const broken = [
      read("server/server.yaml").replace("readOnlyRootFilesystem", "readonlyRootFilesystem"),
      read("server/namespace.yaml").replace("kind: Namespace", "kind: Namespaces"),
    ];
    const faults = await validate("kubernetes", broken);
    expect(faults.map((each) => each.join("\n"))).toEqual([
      expect.stringContaining("readonlyRootFilesystem"),
      expect.stringContaining("find schema for kind Namespaces"),
    ]);
    const [inCompose = []] = await validate("compose", [compose.replace("mem_limit", "memory_limit")]);
    expect(inCompose.join("\n")).toContain("memory_limit");
  });
});

test.skipIf(customFaults === null)(
  "the schemas of KEDA and of the Prometheus Operator find no fault in the manifests, but a misspelt word",
  () => {
    expect(custom.map(({ kind }) => kind)).toEqual(["ScaledObject", "ServiceMonitor", "PrometheusRule"]);
    expect(customFaults).toEqual([
      ...[null, null, null],
      ...["triggers", "endpoints", "expr"].map((word) => expect.stringContaining(word)),
    ]);
  },
);
