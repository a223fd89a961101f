import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { defaultCacheRoot } from "../../native/build.ts";
import { askPython, installPythonPackages } from "../shared/python.ts";

const answerSchema = Type.Object({
  systems: Type.Array(
    Type.Object({
      bleu: Type.Number(),
      /** Bounds of BLEU's interval of 95 %, by bootstrap. */
      low: Type.Number(),
      high: Type.Number(),
      chrf: Type.Number(),
    }),
  ),
});

/**
 * Installs sacreBLEU in a Python environment of its own.
 * @returns a function that scores the translations of several systems against one reference each
 * @throws {CommandError} when Python, pip or the packages are unavailable
 */
export async function installBleu() {
  const packages = await installPythonPackages(defaultCacheRoot(), {
    name: "bleu",
    packages: ["sacrebleu"],
    constraints: join(import.meta.dir, "bleu-constraints.txt"),
    timeoutMilliseconds: 300_000,
  });
  return async (references: readonly string[], systems: readonly (readonly string[])[]) => {
    const question = { references, systems };
    return (await askPython(join(import.meta.dir, "bleu.py"), packages, question, answerSchema)).systems;
  };
}
