import type { Measurement } from "./measure.ts";

/** Pieces of a recording that are asked for their language. */
const languageVotes = 5;
const hour = 3600;

/** What a measurement means for a machine that does nothing else. */
export interface Prediction {
  /** Hours of continuous speech that are done in an hour; pauses come on top. */
  readonly audioHoursPerHour: number;
  /** Minutes until five recordings of an hour, sent at the same time, are all done. */
  readonly fiveHoursMinutes: number;
}

/**
 * All steps share the same processor. What is gained by doing several things at once is in the costs already, so they add up,
 * however many recordings there are.
 */
export function predict({ costs, languageSeconds }: Measurement): Prediction {
  const secondsPerHour = hour * (costs.detect + costs.transcribe + costs.diarize) + languageVotes * languageSeconds;
  return { audioHoursPerHour: hour / secondsPerHour, fiveHoursMinutes: (5 * secondsPerHour) / 60 };
}
