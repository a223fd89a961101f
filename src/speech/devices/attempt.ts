import { isCrashSignal } from "../../engine/index.ts";

/** How a process that may crash ended. */
export type Outcome = { readonly ok: true; readonly output: string } | Failure;

/** How something that was tried failed. */
export interface Failure {
  readonly ok: false;
  readonly reason: string;
  /** It would fail the same way again: the code crashed by itself, say, and was not short of time or memory. */
  readonly lasting: boolean;
  /** It was not done in time. */
  readonly late: boolean;
}

export interface AttemptOptions {
  readonly timeoutMilliseconds: number;
  readonly signal?: AbortSignal | undefined;
  /** Environment variables that it gets on top of this process's own. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** How long to wait for a command that was killed to be gone. */
  readonly endingMilliseconds?: number;
}

/** Freeing a GPU's memory takes a killed process some time. */
const defaultEndingMilliseconds = 10_000;

/**
 * Runs a command until it ends or its time is up, and tells how it ended. Whatever the command does, this throws only the
 * signal's reason, once the command was killed for an abort. One that hangs in a driver can't be killed; it is left behind.
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
