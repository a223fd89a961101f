/**
 * Thresholds of cosine similarity for treating voices as one person's, in the order of use, for the embedding model
 * CAM++. Fragments of 1.6 s have a mean similarity of 0.6 from one speaker and 0.1 from two (0.3 on the telephone).
 *
 * Tuned on the 14 dialogues, nine AMI excerpts, the 75 recordings of one speaker, and 15 dialogues made from half of
 * these voices. All speaker counts of the 14 and the 75 are right with `ofVoices` from 0.40 to 0.50. On 15 dialogues of
 * the other half, 11 counts are right and 2.0 % of the speech is confused. `ofSpeakers` was chosen on meetings in rooms
 * with other voices; docs/quality.md has its curve.
 */
export const minSimilarity = {
  /** Minimum mean similarity between the voices of two groups that are merged. */
  ofVoices: 0.44,
  /**
   * Minimum similarity between the means of such groups. Short voices of one person are scattered, their means less so.
   */
  ofMeans: 0.65,
  /** Margin by which a fragment must be more similar to another speaker than to its own to be reassigned. */
  ofStrangers: 0.25,
  /**
   * Minimum mean similarity between the fragments of one voice. Fragments of 0.7 s have a mean similarity of 0.37 from one
   * speaker and 0.09 from two, those of 1 s 0.47. On ten quick exchanges (see docs/quality.md), 15.7 % of the words have a
   * wrong speaker; with 0.15, 24.1 %. With 0.25, one more speaker count is wrong.
   */
  ofParts: 0.2,
  /** Margin by which a part of a divided voice must be more similar to another speaker than to the voice's own. */
  ofDivided: 0.1,
  /** Minimum similarity of a sentence to the voice of another speaker to be reassigned to that speaker. */
  ofSentences: 0.5,
  /**
   * Minimum similarity between the means of two speakers for merging them, after each fragment has moved to its most
   * similar speaker. With 0.44, one of the 14 dialogues loses a speaker, and with 0.45 one of the meetings.
   */
  ofSpeakers: 0.46,
};

/** A mean of less than three seconds may differ more by chance: at most this much. */
const SHORT_MARGIN = 0.2;
const SHORT_SECONDS = 3;

/** Channel component from which a recording counts as a telephone line, and how much its thresholds are higher. */
const LINE_COMPONENT = 0.2;
const LINE_MARGIN = 0.05;

/**
 * Returns the thresholds for a recording. Even without the channel component, different people are 0.07 more similar on
 * the telephone. On six telephone dialogues, confused speech fell from 13.1 to 5.1 %. With 0.1 instead of 0.05, one
 * more of the 75 recordings is split.
 * @param line mean channel component of the voices
 */
export function thresholdsFor(line: number) {
  const more = line < LINE_COMPONENT ? 0 : LINE_MARGIN;
  return {
    ofVoices: minSimilarity.ofVoices + more,
    ofMeans: minSimilarity.ofMeans + more,
    ofSpeakers: (seconds: number) =>
      minSimilarity.ofSpeakers + more - SHORT_MARGIN * Math.max(0, 1 - seconds / SHORT_SECONDS),
  };
}

export type SimilarityThresholds = ReturnType<typeof thresholdsFor>;

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

/** Returns the vector scaled to unit length; a zero vector stays zero. */
export function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  return length > 0 ? vector.map((value) => value / length) : vector.slice();
}

/** Adds `weight` times a vector to `sum`. */
export function addScaled(sum: Float32Array, vector: Float32Array, weight: number): void {
  for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + weight * (vector[i] ?? 0);
}
