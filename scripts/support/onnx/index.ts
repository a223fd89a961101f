import { join } from "node:path";
import { installPythonPackages } from "../python-packages.ts";
import { runCommand } from "../run-command.ts";

/**
 * Runs a script that writes an ONNX graph, with what it needs of Python and graph.py beside its own modules.
 * @throws {CommandError} where it fails
 */
export async function runGraphScript(cacheRoot: string, script: string, parameters: readonly string[]): Promise<void> {
  const packages = await installPythonPackages(cacheRoot, {
    name: "onnx-tools",
    packages: ["numpy", "onnx"],
    constraints: join(import.meta.dir, "constraints.txt"),
    timeoutMilliseconds: 600_000,
  });
  const path = `PYTHONPATH=${packages}:${import.meta.dir}`;
  await runCommand(["env", path, "python3", "-B", script, ...parameters]);
}
