import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { root } from "../../../harness/checkout.ts";
import { defaultCacheRoot } from "../../../native/build.ts";
import { testPackages } from "../../../tools/development/test-packages.ts";
import { askPython, installPythonPackages } from "../../../tools/shared/python.ts";
import { CommandError } from "../../../tools/shared/run-command.ts";

export const chartFolder = join(root, "deploy/helm/transcribe");

/** Versions of Kubernetes by whose schemas the objects are checked: the oldest that the chart allows, one between, the newest. */
export const kubernetesVersions = ["1.27", "1.32", "1.37"] as const;

/** A release of the chart. */
export interface Release {
  readonly values?: object;
  /** By default, `transcribe`. */
  readonly name?: string;
}

const answerSchema = Type.Object({
  releases: Type.Array(
    Type.Union([
      Type.Object({ manifests: Type.Record(Type.String(), Type.String()) }),
      Type.Object({ fault: Type.String() }),
    ]),
  ),
  findings: Type.Array(Type.String()),
});

/** An object of Kubernetes. */
export type KubernetesObject = Record<string, unknown> & {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Record<string, string> };
};

/** Helm, which renders and checks charts. */
export interface Helm {
  /** Returns the objects of each release, and its notes. @throws {Error} with Helm's words when one is refused */
  readonly render: (
    releases: readonly Release[],
    chart?: string,
  ) => Promise<{ objects: KubernetesObject[]; notes: string }[]>;
  /** Returns why releases are refused; null for each that is not. */
  readonly refusals: (releases: readonly Release[]) => Promise<(string | null)[]>;
  /** Returns the warnings and errors of `helm lint`, with these values and for each version of Kubernetes. */
  readonly lint: (releases: readonly Release[]) => Promise<string[]>;
}

/** Returns Helm's own library, from the cache. Returns null where it cannot be had, and says so. */
export async function installHelm(): Promise<Helm | null> {
  try {
    const packages = await installPythonPackages(defaultCacheRoot(), testPackages.helm);
    const ask = (releases: readonly Release[], lint: boolean, chart = chartFolder) => {
      const all = releases.map(({ name = "transcribe", values = {} }) => ({ name, values, namespace: "transcribe" }));
      const question = { chart, lint, releases: all, versions: kubernetesVersions };
      return askPython(join(import.meta.dir, "render.py"), packages, question, answerSchema);
    };
    return {
      render: async (releases, chart) =>
        (await ask(releases, false, chart)).releases.map((answer) => {
          if ("fault" in answer) throw new Error(answer.fault);
          const { "transcribe/templates/NOTES.txt": notes = "", ...manifests } = answer.manifests;
          return { notes, objects: Object.values(manifests).flatMap(objectsIn) };
        }),
      refusals: async (releases) =>
        (await ask(releases, false)).releases.map((answer) => ("fault" in answer ? answer.fault : null)),
      lint: async (releases) => (await ask(releases, true)).findings,
    };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    console.warn(`SKIPPED: the Helm chart; the packages of PyPI cannot be installed: ${error.message}`);
    return null;
  }
}

function objectsIn(text: string): KubernetesObject[] {
  const parsed: unknown = Bun.YAML.parse(text);
  const documents = Array.isArray(parsed) ? parsed : [parsed];
  // A file whose objects are not wanted is empty.
  return documents.filter((each) => each !== null && each !== undefined) as KubernetesObject[];
}
