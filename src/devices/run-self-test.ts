import { Value } from "@sinclair/typebox/value";
import { isCrashSignal } from "../engine/index.ts";
import { ownCommand } from "../program/index.ts";
import { type SelfTestAnswer, type SelfTestName, type SelfTestParams, selfTests } from "./self-tests.ts";

/** Result of a self-test in a separate process. */
export type SelfTestResult<T> = { readonly ok: true; readonly answer: T } | Failure;

/** Failure of a process. */
export interface Failure {
  readonly ok: false;
  readonly reason: string;
  /** Whether a retry would fail the same way: true for a crash in the code, false for a lack of time or memory. */
  readonly lasting: boolean;
  /** Whether it exceeded its time limit. */
  readonly late: boolean;
}

export interface SelfTestOptions {
  /** Command line that runs a self-test with the request appended to it; this program's by default. */
  readonly command?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMilliseconds?: number | undefined;
}

interface ProcessOptions extends Omit<SelfTestOptions, "command"> {
  readonly timeoutMilliseconds: number;
  /** Environment variables for the command, in addition to those of this process. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Time for a killed command to exit, which first releases its GPU memory. */
  readonly exitMilliseconds?: number;
}

/** Runs a self-test in a separate process. @param options may have more properties @throws only the signal's reason */
export async function runSelfTest<N extends SelfTestName>(
  name: N,
  options: SelfTestParams<N> & SelfTestOptions & Pick<ProcessOptions, "environment">,
): Promise<SelfTestResult<SelfTestAnswer<N>>> {
  const { command = ownCommand("__selftest"), signal, environment } = options;
  const { timeoutMilliseconds = selfTests[name].timeoutMilliseconds } = options;
  const params = Value.Clean(selfTests[name].params, { ...options });
  const request = JSON.stringify({ name, params });
  const result = await runProcess([...command, request], { timeoutMilliseconds, signal, environment });
  if (!result.ok) return result;
  try {
    return { ok: true, answer: Value.Parse(selfTests[name].answer, JSON.parse(result.answer)) };
  } catch {
    return failed("its answer is not the expected JSON");
  }
}

/**
 * Runs a command until it exits or its time limit expires, and returns its output. A command that hangs in a driver
 * cannot be killed and is left behind. @throws only the signal's reason, after killing the command on abort
 */
export async function runProcess(
  command: readonly string[],
  { timeoutMilliseconds, signal, environment, exitMilliseconds = 10_000 }: ProcessOptions,
): Promise<SelfTestResult<string>> {
  signal?.throwIfAborted();
  const env = { ...process.env, ...environment };
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe", env });
  const unkillable = Promise.withResolvers<null>();
  let exitTimer: NodeJS.Timeout | undefined;
  const kill = () => {
    child.kill("SIGKILL");
    exitTimer ??= setTimeout(() => unkillable.resolve(null), exitMilliseconds);
  };
  let late = false;
  const limit = setTimeout(() => {
    late = true;
    kill();
  }, timeoutMilliseconds);
  signal?.addEventListener("abort", kill, { once: true });
  const exited = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  const outputs = await Promise.race([exited, unkillable.promise]);
  signal?.removeEventListener("abort", kill);
  clearTimeout(limit);
  clearTimeout(exitTimer);
  signal?.throwIfAborted();
  const timedOut = `it did not finish within ${timeoutMilliseconds / 1000} s`;
  if (outputs === null) {
    child.unref();
    return failed(`${timedOut} and cannot be killed`, { late });
  }
  const [output, errors] = outputs;
  if (child.exitCode === 0) return { ok: true, answer: output };
  const { signalCode } = child;
  if (signalCode !== null && isCrashSignal(signalCode)) {
    return failed(`it crashed with ${signalCode}`, { lasting: true, late });
  }
  if (late) return failed(timedOut, { late });
  if (signalCode !== null) return failed(`it was killed by ${signalCode}, probably because memory was short`);
  return failed(errors.trim().split("\n").at(-1) || `it exited with code ${child.exitCode}`);
}

/** Returns the failure with this reason. */
export function failed(reason: string, { lasting = false, late = false } = {}): Failure {
  return { ok: false, reason, lasting, late };
}
