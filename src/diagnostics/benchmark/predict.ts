import type { Measurement } from "./measure.ts";

/** Maximum number of chunks of a recording that language detection uses. */
const languageVotes = 5;
const hour = 3600;

/** Throughput of a machine that does nothing else, derived from a measurement. */
export interface Prediction {
  /** Hours of continuous speech processed in one hour. Pauses in a recording add to this. */
  readonly audioHoursPerHour: number;
  /** Minutes until five recordings of one hour each, sent at the same time, have all completed. */
  readonly fiveHoursMinutes: number;
}

/**
 * Predicts the throughput from a measurement. All steps share the same processor, so their costs add up, however many
 * recordings there are. The measured costs already include the gain from parallel work.
 */
export function predict({ costs, languageSeconds }: Measurement): Prediction {
  const secondsPerHour = hour * (costs.detect + costs.transcribe + costs.diarize) + languageVotes * languageSeconds;
  return { audioHoursPerHour: hour / secondsPerHour, fiveHoursMinutes: (5 * secondsPerHour) / 60 };
}
