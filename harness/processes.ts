import { readdirSync } from "node:fs";
import type { ReadableSubprocess } from "bun";
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

/** Exit code and output of a process. */
export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Waits until a process exits, and returns what it printed. */
export async function resultOf({ stdout, stderr, exited }: ReadableSubprocess): Promise<CommandResult> {
  const texts = [stdout, stderr].map((stream) => new Response(stream).text());
  const [printed = "", errors = ""] = await Promise.all(texts);
  return { exitCode: await exited, stdout: printed, stderr: errors };
}

/** Runs a command line until it exits. @param options env: the complete environment; nothing is inherited */
export function run(
  command: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<CommandResult> {
  return resultOf(Bun.spawn([...command], { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" }));
}
