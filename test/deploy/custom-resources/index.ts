import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { defaultCacheRoot } from "../../../native/build.ts";
import { customResourceSchemas } from "../../../tools/development/test-packages.ts";
import { installNpmPackages } from "../../../tools/shared/npm.ts";
import { CommandError } from "../../../tools/shared/run-command.ts";

/**
 * Returns the fault of each object by the schemas of KEDA and of the Prometheus Operator, which no version of Kubernetes has; null for each
 * without one. Returns null where the schemas cannot be had, and says so.
 */
export async function faultsOfCustomResources(objects: readonly object[]): Promise<(string | null)[] | null> {
  try {
    const { folder } = await installNpmPackages(defaultCacheRoot(), customResourceSchemas);
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "validate.ts"), folder], {
      stdio: [new Blob([JSON.stringify(objects)]), "pipe", "inherit"],
    });
    return Value.Parse(Type.Array(Type.Union([Type.String(), Type.Null()])), JSON.parse(await child.stdout.text()));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const what = "objects by the schemas of KEDA and of the Prometheus Operator";
    console.warn(`SKIPPED: ${what}; the packages of npm cannot be installed: ${error.message}`);
    return null;
  }
}
