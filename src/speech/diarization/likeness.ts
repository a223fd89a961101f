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

/** From this on it is a telephone's line, and by this much more alike voices must be over one. */
const LINE = 0.2;
const LINE_MORE = 0.05;

/**
 * The least likenesses of voices over such a line. What is left of different people's likeness is still 0.07 more than in the
 * studio: on six telephone dialogues of the other half of the voices the speech that is confused fell from 13.1 to 5.1 %, on the
 * dialogues cut hard from 12.6 to 6.2 %; with 0.1 one of the 75 recordings of one speaker more has two.
 * @param line how much of a line the voices have on average, as `lineIn` tells
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
