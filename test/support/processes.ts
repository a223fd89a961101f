import { readdirSync, readFileSync } from "node:fs";

/** Whether processes can be looked up here: on Linux, through /proc. */
export const canSeeProcesses = process.platform === "linux";

/** Ids of a process's children whose command line has that argument. */
export function childrenOf(parent: number, argument: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent && commandOf(pid).includes(argument));
}

/** Whether a process is there and not merely waiting to be reaped. */
export function isAlive(pid: number): boolean {
  const state = statOf(pid)?.[0];
  return state !== undefined && state !== "Z";
}

function parentOf(pid: number): number {
  return Number(statOf(pid)?.[1]);
}

/** State and parent: the fields after the command's name, which may hold anything (proc(5)). */
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
