import { copyFileSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Glob } from "bun";
import { temporaryDirectory } from "../../../harness/temporary-directory.ts";
import type { NpmPackages } from "../../../tools/shared/npm.ts";

/** A script, and what it needs. */
interface ModuleRun {
  readonly script: string;
  readonly packages: NpmPackages;
  /** Further variables of the environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs a script that reads a question as JSON from standard input, and writes its answer as JSON to standard output.
 * @param program Node or Bun
 * @param script path of a module, which can import the packages and the modules next to it
 * @param schema schema of the answer
 * @throws {Error} with the last lines of the script's errors when it fails
 */
export async function askModule<T extends TSchema>(
  program: string,
  { script, packages, environment = {} }: ModuleRun,
  question: unknown,
  schema: T,
): Promise<Static<T>> {
  using directory = temporaryDirectory();
  // Modules look for packages next to the importing file only.
  for (const name of new Glob("*.mjs").scanSync(dirname(script))) {
    copyFileSync(join(dirname(script), name), join(directory.path, name));
  }
  symlinkSync(join(packages.folder, "node_modules"), join(directory.path, "node_modules"));
  const child = Bun.spawn([program, join(directory.path, basename(script))], {
    // A proxy of the user must not come between the script and the server.
    env: { PATH: process.env.PATH, HOME: directory.path, ...environment },
    stdin: Buffer.from(JSON.stringify(question)),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [answer, errors] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (child.exitCode !== 0) {
    throw new Error(`${basename(script)} failed: ${errors.trim().split("\n").slice(-12).join(" / ")}`);
  }
  return Value.Parse(schema, JSON.parse(answer));
}
