import { join } from "node:path";
import { root } from "./checkout.ts";

/** Long enough to build the program for the first time on a slow machine. */
export const buildTimeout = 180_000;

/** Returns the single-file program that scripts/build builds from this checkout; takes seconds after the first time. */
export async function builtProgram(): Promise<string> {
  if (process.env.TEST_PROGRAM !== undefined) return process.env.TEST_PROGRAM;
  const script = join(root, "tools/build/index.ts");
  const build = Bun.spawn([process.execPath, "--no-env-file", script], {
    cwd: root,
    stdin: "ignore",
    stderr: "inherit",
  });
  const output = await new Response(build.stdout).text();
  const file = /^build: (dist\/\S+), \d+ MB/m.exec(output)?.[1];
  if ((await build.exited) !== 0 || file === undefined) throw new Error(`scripts/build failed: ${output}`);
  return join(root, file);
}

export interface RunOptions {
  readonly cwd: string;
  /** The complete environment: nothing of the tests' environment is inherited. */
  readonly env: Readonly<Record<string, string>>;
}

/** Runs a command line until it exits. */
export async function run(command: readonly string[], { cwd, env }: RunOptions) {
  const child = Bun.spawn([...command], { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { exitCode: await child.exited, stdout, stderr };
}
