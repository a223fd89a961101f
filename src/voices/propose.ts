/**
 * Limits for proposing a voice for a speaker, for embeddings of CAM++ without their channel component.
 * `scripts/evaluate voices` measured them on 52 people (docs/quality.md): no proposal is wrong, and about one of 14 is
 * missing. With a similarity of 0.6, up to 1.8 % of the proposals are wrong. The margin matters for low similarities only.
 * Speakers with less than 8 s are recognized less often: people had a similarity of 0.48 to themselves.
 */
export const proposalLimits: ProposalLimits = {
  minSeconds: 8,
  minSimilarity: 0.65,
  minMargin: 0.1,
};

export interface ProposalLimits {
  /** Minimum seconds of clean speech, of a speaker who is compared as well as of one who is stored. */
  readonly minSeconds: number;
  /** Minimum cosine similarity between a speaker and a voice. */
  readonly minSimilarity: number;
  /** Minimum margin to the speaker's second most similar voice. */
  readonly minMargin: number;
}

/** A voice of an account, or of a speaker in a recording. */
export interface Embedded {
  /** Of unit length. */
  readonly embedding: Float32Array;
}

/** A speaker of a recording who has no name. */
export interface Unnamed extends Embedded {
  readonly speaker: number;
  readonly seconds: number;
}

/** A voice that may be proposed. */
export interface Candidate extends Embedded {
  readonly id: string;
  /**
   * Whether it cannot be proposed, because a user rejected it for this recording or a speaker has its name. It still makes
   * less similar voices ambiguous.
   */
  readonly isExcluded: boolean;
}

/**
 * Returns the voice that each speaker probably has, by speaker. A voice is proposed for at most one speaker: nobody is two
 * people of a recording, so of several speakers the most similar one gets it.
 */
export function proposeVoices(
  speakers: readonly Unnamed[],
  voices: readonly Candidate[],
  { minSeconds, minSimilarity, minMargin }: ProposalLimits = proposalLimits,
): Map<number, string> {
  const clear = speakers
    .filter(({ seconds }) => seconds >= minSeconds)
    .flatMap(({ speaker, embedding }) => {
      const ranked = voices
        .map((voice) => ({ speaker, voice, similarity: similarityOf(embedding, voice.embedding) }))
        .sort((a, b) => b.similarity - a.similarity);
      const [best, second] = ranked;
      if (best === undefined || best.voice.isExcluded || best.similarity < minSimilarity) return [];
      return second !== undefined && best.similarity - second.similarity < minMargin ? [] : [best];
    })
    .sort((a, b) => b.similarity - a.similarity);
  const proposed = new Map<number, string>();
  const used = new Set<string>();
  for (const { speaker, voice } of clear) {
    if (used.has(voice.id)) continue;
    used.add(voice.id);
    proposed.set(speaker, voice.id);
  }
  return proposed;
}

/** Returns the cosine similarity of two vectors of unit length. */
export function similarityOf(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (const [index, value] of a.entries()) sum += value * (b[index] ?? 0);
  return sum;
}
