import type { Static, TSchema } from "@sinclair/typebox";
import { attempt, type Failure } from "./attempt.ts";
import { readAnswer } from "./self-test-answers.ts";

/** Outcome of a self-test in a separate process. */
export type Trial<T> = { readonly ok: true; readonly answer: T } | Failure;

export interface TrialOptions {
  /** Command line that runs `runSelfTest` with the arguments appended to it. */
  readonly command: readonly string[];
  readonly signal?: AbortSignal;
}

interface Asking extends TrialOptions {
  readonly timeoutMilliseconds: number;
  /** Environment variables for the process, in addition to those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs a self-test in a separate process.
 * @param args name and arguments of the self-test, as `runSelfTest` takes them
 * @throws if the process prints anything but an answer of that form; the signal's reason if it is aborted
 */
export async function askSelfTest<T extends TSchema>(
  { command, signal, timeoutMilliseconds, environment }: Asking,
  args: readonly string[],
  answer: T,
): Promise<Trial<Static<T>>> {
  const outcome = await attempt([...command, ...args], { timeoutMilliseconds, signal, environment });
  return outcome.ok ? { ok: true, answer: readAnswer(answer, outcome.output) } : outcome;
}
