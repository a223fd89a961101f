import { countErrors } from "../../../test/support/wer.ts";
import { errorsOf, type Rate, unitsOf } from "./measure-words.ts";
import type { Normalise } from "./scorer.ts";

/** A recording as two devices heard it; `said` is what they ought to have heard. */
export interface HeardTwice {
  readonly path: string;
  readonly language: string;
  readonly said: string;
  readonly cpu: string;
  readonly gpu: string;
}

/** How far apart two devices are over a recording, or over several. */
export interface Difference {
  /** Words that the GPU heard otherwise, in those that the CPU heard. */
  readonly apart: Rate;
  /** Words that each of them has wrong. */
  readonly cpu: Rate;
  readonly gpu: Rate;
}

/** Words are normalised as the scorer does it, so that case and ways of writing don't count. */
export function differenceOf(normalise: Normalise, { language, said, cpu, gpu }: HeardTwice): Difference {
  const units = (text: string) => unitsOf(normalise, language, text);
  const between = (reference: string, other: string): Rate => {
    const count = countErrors(units(reference), units(other));
    return { errors: errorsOf(count), length: count.length };
  };
  return { apart: between(cpu, gpu), cpu: between(said, cpu), gpu: between(said, gpu) };
}

/** The words of the one that are the other's, too, in parts of one; all of them where neither heard any. */
export function shareOfEqual({ errors, length }: Rate): number {
  if (errors === 0) return 1;
  return length === 0 ? 0 : Math.max(0, 1 - errors / length);
}
