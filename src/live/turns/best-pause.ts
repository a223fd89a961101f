/** Frames over which strength is averaged (0.19 s), so that a cut falls into a pause and not into a stop consonant. */
const PAUSE_FRAMES = 11;
/** Range of levels below the loudest frame that counts. All quieter frames are pauses. */
const DECIBEL_RANGE = 40;

/** The probability of speech in a frame, and its level in dB. */
export interface FrameStrength {
  readonly probability: number;
  readonly decibels: number;
}

/**
 * Returns the position of the best pause among frames: the weakest ones around it. The level counts as much as the
 * probability of speech, which stays at 1 through the pauses between words. Among equal positions, the later one wins.
 * @param first first position that may be returned
 */
export function bestPause(frames: readonly FrameStrength[], first: number): number {
  const loudest = Math.max(...frames.map(({ decibels }) => decibels));
  const strengths = frames.map(
    ({ probability, decibels }) => probability + Math.max(0, 1 - (loudest - decibels) / DECIBEL_RANGE),
  );
  const half = (PAUSE_FRAMES - 1) / 2;
  let best = Math.max(first, frames.length - 1 - half);
  let least = Number.POSITIVE_INFINITY;
  for (let at = Math.max(first, half); at + half < frames.length; at++) {
    let sum = 0;
    for (let near = at - half; near <= at + half; near++) sum += strengths[near] ?? 0;
    // Sums of equal strengths may differ by rounding.
    if (sum > least + 1e-9) continue;
    least = Math.min(least, sum);
    best = at;
  }
  return best;
}
