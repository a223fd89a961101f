import { readdirSync } from "node:fs";
import { commandOf, statOf } from "../tools/shared/processes.ts";

/** Whether this system lists processes in /proc, as Linux does. */
export const canSeeProcesses = process.platform === "linux";

/** Returns the ids of a process's children whose command line contains the argument. */
export function childrenOf(parent: number, argument: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => Number(statOf(pid)[1]) === parent && commandOf(pid).includes(argument));
}

/** Returns whether a process runs. A zombie does not. */
export function isAlive(pid: number): boolean {
  const [state = ""] = statOf(pid);
  return state !== "" && state !== "Z";
}

/** Runs a command line until it exits. @param options env: the complete environment; nothing is inherited */
export async function run(
  command: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
) {
  const child = Bun.spawn([...command], { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, stdout, stderr };
}
