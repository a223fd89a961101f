import type { NamedTurn } from "./rttm.ts";

/** Seconds of each kind of error; overlapped speech counts once per speaker. */
export interface DiarizationErrors {
  /** Speech in the reference. */
  totalSeconds: number;
  falseAlarmSeconds: number;
  missedSeconds: number;
  confusionSeconds: number;
}

/**
 * Diarization errors between exact intervals, without a collar and with overlap scored, under the mapping of speakers
 * that agrees longest. As pyannote.metrics' DiarizationErrorRate() counts them over the whole file.
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
    const said = speakersAt(found, start);
    errors.totalSeconds += real.size * seconds;
    errors.missedSeconds += Math.max(0, real.size - said.size) * seconds;
    errors.falseAlarmSeconds += Math.max(0, said.size - real.size) * seconds;
    both += Math.min(real.size, said.size) * seconds;
    for (const name of real) {
      const row = together[names.indexOf(name)] ?? [];
      for (const other of said) row[foundNames.indexOf(other)] = (row[foundNames.indexOf(other)] ?? 0) + seconds;
    }
  }
  errors.confusionSeconds = Math.max(0, both - bestMatch(together));
  return errors;
}

/** Errors as parts of the reference's speech. */
export function errorRates(errors: DiarizationErrors) {
  const falseAlarm = errors.falseAlarmSeconds / errors.totalSeconds;
  const missed = errors.missedSeconds / errors.totalSeconds;
  const confusion = errors.confusionSeconds / errors.totalSeconds;
  return { errorRate: falseAlarm + missed + confusion, falseAlarm, missed, confusion };
}

/** Errors of several files together. */
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

function speakersAt(turns: readonly NamedTurn[], seconds: number): Set<string> {
  return new Set(
    turns.filter((turn) => turn.startSeconds <= seconds && seconds < turn.endSeconds).map((t) => t.speaker),
  );
}

/** The largest sum of entries with no row and no column used twice: exact, over the subsets of columns. */
function bestMatch(gains: readonly (readonly number[])[]): number {
  const wide = gains.length <= (gains[0]?.length ?? 0) ? gains : transposed(gains);
  // The smaller side becomes the subset: 2^8 subsets for eight real speakers, however many were found.
  const rows = transposed(wide);
  const size = wide.length;
  if (size > 16) throw new RangeError(`${size} speakers on both sides are too many to match exhaustively`);
  let best = new Float64Array(1 << size).fill(Number.NEGATIVE_INFINITY);
  best[0] = 0;
  for (const row of rows) {
    const next = best.slice();
    for (let used = 0; used < best.length; used++) {
      for (let column = 0; column < size; column++) {
        if ((used & (1 << column)) !== 0) continue;
        const target = used | (1 << column);
        next[target] = Math.max(next[target] ?? 0, (best[used] ?? 0) + (row[column] ?? 0));
      }
    }
    best = next;
  }
  return best.reduce((most, value) => Math.max(most, value), 0);
}

function transposed(matrix: readonly (readonly number[])[]): number[][] {
  return (matrix[0] ?? []).map((_, column) => matrix.map((row) => row[column] ?? 0));
}
