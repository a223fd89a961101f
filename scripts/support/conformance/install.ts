import { join } from "node:path";
import { installPythonPackages } from "../python-packages.ts";

/**
 * Schemathesis and what it needs, as a folder for PYTHONPATH.
 * @throws {CommandError} where there is no Python, no pip, or nowhere to install from
 */
export function installSchemathesis(cacheRoot: string): Promise<string> {
  return installPythonPackages(cacheRoot, {
    name: "schemathesis",
    packages: ["schemathesis"],
    constraints: join(import.meta.dir, "constraints.txt"),
    timeoutMilliseconds: 120_000,
  });
}
