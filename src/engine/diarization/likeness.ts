/**
 * From which cosine on voices are taken for one person's, in the order of use. These go with the embedding model, CAM++ of
 * 3D-Speaker: with another one they are to be tuned anew. Pieces of 1.6 s of one speaker have 0.6 on average, those of
 * two 0.1 (0.3 on the telephone), so that the numbers lie between.
 *
 * Tuned on the 14 recordings of dialogue/ with two to eight speakers, the nine AMI excerpts, the 75 recordings of one
 * speaker and 15 dialogues made of half of their voices: all counts of the 14 and the 75 are right, with `ofVoices` from
 * 0.40 to 0.50 and `ofSpeakers` from 0.49 to 0.57. On 15 dialogues made of the other half (telephone, noise, reverberation,
 * MP3 at 24 kbit/s, turns of a second), 11 counts are right and 2.0 % of the speech is confused; 0.9 % with the speakers given.
 */
export const likeness = {
  /** Mean between the voices of two groups that become one. */
  ofVoices: 0.44,
  /** Between the means of such groups: short voices of one person are scattered, and their means less so. */
  ofMeans: 0.65,
  /** How much more like another speaker than like its own a piece must be to be taken for the other's. */
  ofStrangers: 0.25,
  /** Of a sentence, heard by itself, to the voice of another speaker whose it is then taken for. */
  ofSentences: 0.5,
  /**
   * Between the means of two speakers once pieces are with those they are most like: what is still as alike is one. A mean
   * of less than three seconds is farther off by chance: with 0.25 and four seconds 13 of the last 15 counts are right, but
   * two people of a meeting become one.
   */
  ofSpeakers: (seconds: number): number => 0.53 - 0.2 * Math.max(0, 1 - seconds / 3),
};
