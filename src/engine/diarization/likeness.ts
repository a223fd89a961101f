/**
 * From which cosine on voices are taken for one person's, in the order of use. These go with the embedding model, CAM++ of
 * 3D-Speaker: with another one they are to be tuned anew. Pieces of 1.6 s of one speaker have 0.6 on average, those of
 * two 0.1 (0.3 on the telephone), so that the numbers lie between.
 *
 * Tuned on the 14 recordings of dialogue/ with two to eight speakers, the nine AMI excerpts, the 75 recordings of one
 * speaker and 15 dialogues made of them: all counts of the 14 and the 75 are right, with `ofVoices` from 0.40 to 0.50 and
 * `ofSpeakers` from 0.50 to 0.55.
 */
export const likeness = {
  /** Mean between the voices of two groups that become one. */
  ofVoices: 0.44,
  /** Between the means of such groups: short voices of one person are scattered, and their means less so. */
  ofMeans: 0.65,
  /** How much more like another speaker than like its own a piece must be to be taken for the other's. */
  ofStrangers: 0.25,
  /**
   * Between the means of two speakers once pieces are with those they are most like: what is still as alike is one. A mean
   * of less than three seconds is farther off by chance.
   */
  ofSpeakers: (seconds: number): number => 0.53 - 0.2 * Math.max(0, 1 - seconds / 3),
};
