import { accessSync, constants, readdirSync, readFileSync, type StatsFs, statfsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

export interface CommandResult {
  readonly exitCode: number;
  /** Standard output, followed by standard error. */
  readonly output: string;
}

/** The machine as the checks see it; tests pass their own implementation. */
export interface Machine {
  /** Returns the text of a small file; null if it cannot be read. */
  read(path: string): string | null;
  /** Returns the names in a directory, sorted; empty if it cannot be read. */
  list(path: string): string[];
  /** Returns whether this user may read and write a path, such as a device. */
  mayUse(path: string): boolean;
  /** Returns the size and the free space of a path's file system; null if they are unknown. */
  room(path: string): StatsFs | null;
  /** Runs a program of the system; null if it does not exist, cannot be started, or takes too long. */
  run(command: readonly [string, ...string[]]): Promise<CommandResult | null>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Returns the current time in milliseconds since the epoch. */
  now(): number;
  readonly userId: number;
  /** Number of processors that this process may use, as the system reports it. */
  readonly processors: number;
}

const timeoutMilliseconds = 10_000;

/**
 * Returns the real machine.
 * @param root base directory of the absolute paths, for tests
 */
export function thisMachine(signal: AbortSignal, root = "/"): Machine {
  return {
    read: (path) => attempt(() => readFileSync(join(root, path), "utf8"), null),
    list: (path) => attempt(() => readdirSync(join(root, path)).sort(), []),
    mayUse: (path) =>
      attempt(() => {
        accessSync(join(root, path), constants.R_OK | constants.W_OK);
        return true;
      }, false),
    room: (path) => attempt(() => statfsSync(join(root, path)), null),
    run: (command) => runProgram(command, signal),
    environment: process.env,
    now: Date.now,
    userId: process.getuid?.() ?? -1,
    processors: availableParallelism(),
  };
}

async function runProgram(command: readonly [string, ...string[]], signal: AbortSignal): Promise<CommandResult | null> {
  const [name, ...rest] = command;
  const path = name.includes("/") ? name : Bun.which(name, { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" });
  if (path === null || signal.aborted) return null;
  try {
    const child = Bun.spawn([path, ...rest], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      env: { LC_ALL: "C", PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
      timeout: timeoutMilliseconds,
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

function attempt<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
