import { accessSync, constants, readdirSync, readFileSync, statfsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

export interface CommandResult {
  readonly exitCode: number;
  /** Standard output, followed by standard error. */
  readonly output: string;
}

const TIMEOUT_MILLISECONDS = 10_000;
const programPath = "/usr/bin:/bin:/usr/sbin:/sbin";

/** The machine as the checks see it; tests pass their own implementation. */
export type Machine = Readonly<ReturnType<typeof thisMachine>>;

/**
 * Returns the real machine.
 * @param root base directory of the absolute paths, for tests
 */
export function thisMachine(signal: AbortSignal, root = "/") {
  return {
    /** Returns the text of a small file; null if it cannot be read. */
    read: (path: string) => attempt(() => readFileSync(join(root, path), "utf8")),
    /** Returns the names in a directory, sorted; empty if it cannot be read. */
    list: (path: string) => attempt(() => readdirSync(join(root, path)).sort()) ?? [],
    mayUse: (path: string) => isAllowed(join(root, path), constants.R_OK | constants.W_OK),
    /** Returns the size and the free space of a path's file system; null if they are unknown. */
    statfs: (path: string) => attempt(() => statfsSync(join(root, path))),
    /** Runs a program of the system; null if it does not exist, cannot be started, or takes too long. */
    run: (command: readonly [string, ...string[]]) => runProgram(command, signal),
    environment: process.env as Readonly<Record<string, string | undefined>>,
    /** Returns the current time in milliseconds since the epoch. */
    now: () => Date.now(),
    userId: process.getuid?.() ?? -1,
    /** Number of processors that this process may use, as the system reports it. */
    processors: availableParallelism(),
  };
}

async function runProgram(command: readonly [string, ...string[]], signal: AbortSignal): Promise<CommandResult | null> {
  const [name, ...rest] = command;
  const path = name.includes("/") ? name : Bun.which(name, { PATH: programPath });
  if (path === null || signal.aborted) return null;
  try {
    const child = Bun.spawn([path, ...rest], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      env: { LC_ALL: "C", PATH: programPath },
      timeout: TIMEOUT_MILLISECONDS,
      killSignal: "SIGKILL",
      signal,
    });
    const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    await child.exited;
    return child.exitCode === null ? null : { exitCode: child.exitCode, output: output + errors };
  } catch {
    return null;
  }
}

/** Returns whether this user may do all of this with a path. @param rights bits of `access` */
export function isAllowed(path: string, rights: number): boolean {
  const access = () => {
    accessSync(path, rights);
    return true;
  };
  return attempt(access) ?? false;
}

/** Returns the result of `work`; null if it throws. */
export function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}
