import { accessSync, constants, readdirSync, readFileSync, type StatsFs, statfsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

export interface CommandResult {
  readonly exitCode: number;
  /** Standard output, and standard error after it. */
  readonly output: string;
}

/** The machine as the checks see it; tests hand in one of their own. */
export interface Machine {
  /** Text of a small file, null where it can't be read. */
  read(path: string): string | null;
  /** Names in a directory, none where it can't be read. */
  list(path: string): string[];
  /** Whether this user may read and write a device. */
  mayUse(path: string): boolean;
  /** Size and room of the file system that a path is on, null where that can't be found out. */
  room(path: string): StatsFs | null;
  /** Runs one of the system's programs; null where there is none of that name, or it took too long. */
  run(command: readonly [string, ...string[]]): Promise<CommandResult | null>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970. */
  now(): number;
  readonly userId: number;
  /** Processors that this process may use, as the system counts them. */
  readonly processors: number;
}

const timeoutMilliseconds = 10_000;

/** This machine. @param root what its absolute paths are taken from, for tests */
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
