import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { defaultCacheRoot } from "../../../native/build.ts";
import { testPackages } from "../../../tools/development/test-packages.ts";
import { askPython, installPythonPackages } from "../../../tools/shared/python.ts";
import { CommandError } from "../../../tools/shared/run-command.ts";

/** The independent validators of documents. */
export type Validator = "kubernetes" | "compose" | "cyclonedx" | "licence";

/** Returns the faults of each document. */
export type Validate = (format: Validator, documents: readonly string[]) => Promise<string[][]>;

/**
 * Returns a function that asks independent validators of PyPI, from the cache. Returns null where they cannot be had, and
 * says so.
 */
export async function independentValidators(skipped: string): Promise<Validate | null> {
  try {
    const packages = await installPythonPackages(defaultCacheRoot(), testPackages.validators);
    const script = join(import.meta.dir, "validate.py");
    return (format, documents) =>
      askPython(script, packages, { format, documents }, Type.Array(Type.Array(Type.String())));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    console.warn(`SKIPPED: ${skipped}; the packages of PyPI cannot be installed: ${error.message}`);
    return null;
  }
}
