import type { Static, TSchema } from "@sinclair/typebox";
import { attempt, type Failure } from "./attempt.ts";
import { readAnswer } from "./self-test-answers.ts";

/** How a trial in a process of its own went. */
export type Trial<T> = { readonly ok: true; readonly answer: T } | Failure;

export interface TrialOptions {
  /** Command line that ends in `runSelfTest` with the arguments that follow. */
  readonly command: readonly string[];
  readonly signal?: AbortSignal;
}

interface Asking extends TrialOptions {
  readonly timeoutMilliseconds: number;
  /** Environment variables that the process gets on top of this one's. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs a self-test in a process of its own.
 * @param args its name and what it is done with, as `runSelfTest` takes them
 * @throws where it prints anything but an answer of that form; the signal's reason
 */
export async function askSelfTest<T extends TSchema>(
  { command, signal, timeoutMilliseconds, environment }: Asking,
  args: readonly string[],
  answer: T,
): Promise<Trial<Static<T>>> {
  const outcome = await attempt([...command, ...args], { timeoutMilliseconds, signal, environment });
  return outcome.ok ? { ok: true, answer: readAnswer(answer, outcome.output) } : outcome;
}
