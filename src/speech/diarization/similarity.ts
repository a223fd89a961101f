/**
 * Thresholds of cosine similarity for treating voices as one person's, in the order of use. They apply to the embedding
 * model CAM++ of 3D-Speaker; another model needs new tuning. Fragments of 1.6 s have a mean similarity of 0.6 if they
 * are from one speaker. From two speakers it is 0.1 (0.3 on the telephone), so the thresholds lie in between.
 *
 * Tuning data: the 14 recordings of dialogue/ with two to eight speakers, the nine AMI excerpts and the 75 recordings
 * of one speaker. In addition, 15 dialogues made from half of the voices of the 75 recordings. All speaker counts of
 * the 14 and the 75 recordings are right with `ofVoices` from 0.40 to 0.50 and `ofSpeakers` from 0.49 to 0.57.
 *
 * Test data: 15 dialogues made from the other half of the voices (telephone, noise, reverberation, MP3 at 24 kbit/s,
 * turns of a second). There, 11 speaker counts are right and 2.0 % of the speech is confused; 0.9 % if the speakers are
 * given.
 */
export const likeness = {
  /** Minimum mean similarity between the voices of two groups that are merged. */
  ofVoices: 0.44,
  /**
   * Minimum similarity between the means of such groups. Short voices of one person are scattered, but their means are
   * less so.
   */
  ofMeans: 0.65,
  /** Margin by which a fragment must be more similar to another speaker than to its own to be reassigned. */
  ofStrangers: 0.25,
  /**
   * Minimum similarity of a sentence to the voice of another speaker for the sentence to be reassigned to that speaker.
   */
  ofSentences: 0.5,
  /**
   * Minimum similarity between the means of two speakers for merging them, after each fragment has moved to its most
   * similar speaker. A mean of less than three seconds may differ more by chance. With 0.25 and four seconds, 13 of the
   * last 15 counts are right, but two people of a meeting are merged.
   */
  ofSpeakers: (seconds: number): number => 0.53 - 0.2 * Math.max(0, 1 - seconds / 3),
};

/**
 * Channel component from which a recording counts as a telephone line, and the increase of the thresholds for such a
 * recording.
 */
const LINE = 0.2;
const LINE_MORE = 0.05;

/**
 * Returns the similarity thresholds for a recording with this channel component. Even without the channel component,
 * different people are 0.07 more similar on the telephone than in the studio. On six telephone dialogues of the other
 * half of the voices, confused speech fell from 13.1 to 5.1 %. On the dialogues with a hard band limit it fell from
 * 12.6 to 6.2 %. With 0.1 instead of 0.05, one more of the 75 recordings of one speaker is split into two speakers.
 * @param line mean channel component of the voices, as `channelComponent` returns it
 */
export function likenessOver(line: number) {
  const more = line < LINE ? 0 : LINE_MORE;
  return {
    ofVoices: likeness.ofVoices + more,
    ofMeans: likeness.ofMeans + more,
    ofSpeakers: (seconds: number) => likeness.ofSpeakers(seconds) + more,
  };
}

export type LeastLikenesses = ReturnType<typeof likenessOver>;

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
