import { isCrashSignal } from "../../engine/index.ts";

/** Outcome of a process that may crash. */
export type Outcome = { readonly ok: true; readonly output: string } | Failure;

/** Failure of an attempt. */
export interface Failure {
  readonly ok: false;
  readonly reason: string;
  /**
   * Whether a retry would fail the same way: true for a crash in the code, for example, false for a lack of time or
   * memory.
   */
  readonly lasting: boolean;
  /** Whether it exceeded its time limit. */
  readonly late: boolean;
}

export interface AttemptOptions {
  readonly timeoutMilliseconds: number;
  readonly signal?: AbortSignal | undefined;
  /** Environment variables for the command, in addition to those of this process. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** How long to wait for a killed command to exit. */
  readonly endingMilliseconds?: number;
}

/** A killed process needs some time to release a GPU's memory. */
const defaultEndingMilliseconds = 10_000;

/**
 * Runs a command until it exits or its time limit expires, and returns the outcome. A command that hangs in a driver
 * cannot be killed and is left behind.
 * @throws only the signal's reason, after killing the command on abort
 */
export async function attempt(command: readonly string[], options: AttemptOptions): Promise<Outcome> {
  const { timeoutMilliseconds, signal, environment, endingMilliseconds = defaultEndingMilliseconds } = options;
  signal?.throwIfAborted();
  const env = { ...process.env, ...environment };
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe", env });
  const unending = Promise.withResolvers<null>();
  let leaving: NodeJS.Timeout | undefined;
  const kill = () => {
    child.kill("SIGKILL");
    leaving ??= setTimeout(() => unending.resolve(null), endingMilliseconds);
  };
  let late = false;
  const limit = setTimeout(() => {
    late = true;
    kill();
  }, timeoutMilliseconds);
  signal?.addEventListener("abort", kill, { once: true });
  const said = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  const ended = await Promise.race([said, unending.promise]);
  signal?.removeEventListener("abort", kill);
  clearTimeout(limit);
  clearTimeout(leaving);
  signal?.throwIfAborted();
  if (ended === null) {
    child.unref();
    const reason = `it was not done in ${timeoutMilliseconds / 1000} s, and can't be ended`;
    return { ok: false, reason, lasting: false, late };
  }
  const [output, errors] = ended;
  if (child.exitCode === 0) {
    return { ok: true, output };
  }
  const death = child.signalCode;
  if (death !== null) {
    const lasting = isCrashSignal(death);
    const ended = late
      ? `it was not done in ${timeoutMilliseconds / 1000} s`
      : `it was ended by ${death}: short of memory`;
    return { ok: false, reason: lasting ? `it crashed with ${death}` : ended, lasting, late };
  }
  const last = errors.trim().split("\n").at(-1) ?? "";
  const reason = last === "" ? `it ended with code ${child.exitCode}` : last;
  return { ok: false, reason, lasting: false, late };
}
