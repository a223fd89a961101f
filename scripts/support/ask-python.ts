import { basename } from "node:path";
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/**
 * Runs a Python script that reads a question as JSON from its standard input and writes its answer, as JSON, to its output.
 * @param packages where it finds what it imports, see installPythonPackages
 * @param schema what the answer looks like
 * @throws Error with the last lines that it wrote where it fails
 */
export async function askPython<T extends TSchema>(
  script: string,
  packages: string,
  question: unknown,
  schema: T,
): Promise<Static<T>> {
  const child = Bun.spawn(["python3", script], {
    env: { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: "1" },
    stdin: Buffer.from(JSON.stringify(question)),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [answer, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (child.exitCode !== 0) {
    throw new Error(`${basename(script)} failed: ${errors.trim().split("\n").slice(-3).join(" / ")}`);
  }
  return Value.Parse(schema, JSON.parse(answer));
}
