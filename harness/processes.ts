import { readdirSync, readFileSync } from "node:fs";

/** Whether this system lists processes in /proc, as Linux does. */
export const canSeeProcesses = process.platform === "linux";

/** Returns the ids of a process's children whose command line contains the argument. */
export function childrenOf(parent: number, argument: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent && commandOf(pid).includes(argument));
}

/** Returns whether a process runs. A zombie does not. */
export function isAlive(pid: number): boolean {
  const state = statOf(pid)?.[0];
  return state !== undefined && state !== "Z";
}

function parentOf(pid: number): number {
  return Number(statOf(pid)?.[1]);
}

/** Returns state and parent: the fields after the command's name, which may contain any character (proc(5)). */
function statOf(pid: number): string[] | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    return null;
  }
}

function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}
