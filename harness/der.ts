import { bestMatch } from "./best-match.ts";
import type { NamedTurn } from "./rttm.ts";

/** Seconds of each kind of error. Overlapped speech counts once per speaker. */
export interface DiarizationErrors {
  /** Seconds of speech in the reference. */
  totalSeconds: number;
  falseAlarmSeconds: number;
  missedSeconds: number;
  confusionSeconds: number;
}

/**
 * Counts diarization errors between exact intervals, without a collar and with overlap scored, under the mapping of
 * speakers that agrees longest. The result is that of DiarizationErrorRate() in pyannote.metrics over the whole file,
 * which counts a speaker twice while two turns of this speaker overlap. If many turns of a speaker overlap,
 * pyannote.metrics may match other speakers, and its result may differ slightly.
 */
export function diarizationErrors(reference: readonly NamedTurn[], found: readonly NamedTurn[]): DiarizationErrors {
  const moments = [...reference, ...found].flatMap((turn) => [turn.startSeconds, turn.endSeconds]);
  const times = [...new Set(moments)].sort((a, b) => a - b);
  const names = [...new Set(reference.map((turn) => turn.speaker))];
  const foundNames = [...new Set(found.map((turn) => turn.speaker))];
  const together = names.map(() => foundNames.map(() => 0));
  const errors = { totalSeconds: 0, falseAlarmSeconds: 0, missedSeconds: 0, confusionSeconds: 0 };
  let both = 0;
  for (const [index, start] of times.slice(0, -1).entries()) {
    const seconds = (times[index + 1] ?? start) - start;
    const real = speakersAt(reference, start);
    const hypothesis = speakersAt(found, start);
    errors.totalSeconds += real.length * seconds;
    errors.missedSeconds += Math.max(0, real.length - hypothesis.length) * seconds;
    errors.falseAlarmSeconds += Math.max(0, hypothesis.length - real.length) * seconds;
    both += Math.min(real.length, hypothesis.length) * seconds;
    for (const name of new Set(real)) {
      const row = together[names.indexOf(name)] ?? [];
      for (const other of new Set(hypothesis)) {
        const shared = Math.min(countOf(real, name), countOf(hypothesis, other));
        row[foundNames.indexOf(other)] = (row[foundNames.indexOf(other)] ?? 0) + shared * seconds;
      }
    }
  }
  errors.confusionSeconds = Math.max(0, both - bestMatch(together));
  return errors;
}

/** Returns errors as fractions of the reference's speech. */
export function errorRates(errors: DiarizationErrors) {
  const falseAlarm = errors.falseAlarmSeconds / errors.totalSeconds;
  const missed = errors.missedSeconds / errors.totalSeconds;
  const confusion = errors.confusionSeconds / errors.totalSeconds;
  return { errorRate: falseAlarm + missed + confusion, falseAlarm, missed, confusion };
}

export function addErrors(all: readonly DiarizationErrors[]): DiarizationErrors {
  return all.reduce(
    (sum, errors) => ({
      totalSeconds: sum.totalSeconds + errors.totalSeconds,
      falseAlarmSeconds: sum.falseAlarmSeconds + errors.falseAlarmSeconds,
      missedSeconds: sum.missedSeconds + errors.missedSeconds,
      confusionSeconds: sum.confusionSeconds + errors.confusionSeconds,
    }),
    { totalSeconds: 0, falseAlarmSeconds: 0, missedSeconds: 0, confusionSeconds: 0 },
  );
}

function speakersAt(turns: readonly NamedTurn[], seconds: number): string[] {
  return turns.filter((turn) => turn.startSeconds <= seconds && seconds < turn.endSeconds).map((t) => t.speaker);
}

function countOf(names: readonly string[], name: string): number {
  return names.filter((one) => one === name).length;
}
