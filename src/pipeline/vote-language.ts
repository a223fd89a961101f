import { type Probabilities, sureProbability } from "../speech/index.ts";
import { chunkAudioSeconds, chunkMidpoint, clipChunk, transcribedSpans } from "../timeline/index.ts";
import { forEachAtOnce } from "./for-each-at-once.ts";
import type { Speech } from "./speech.ts";

/**
 * Minimum and maximum number of chunks whose language is detected. A chunk that is sampled but not transcribed costs
 * one run of the encoder.
 */
const fewVotes = 5;
const manyVotes = 25;
/** For a long recording, one of this many chunks is sampled, to notice an occasional language; it costs about 2 %. */
const chunksPerVote = 16;
/** Ratio of the first score to the second one at which the vote ends. */
const clearLead = 4;
/** Length in seconds below which speech is sampled last, because it is little evidence. */
const shortestSeconds = 2;

/** The result of a vote: the main language, and the probabilities found in each sampled chunk. */
export interface Vote {
  /** The recognizer's code of the main language; undefined without a result. */
  readonly winner: string | undefined;
  readonly heard: readonly { readonly speech: Speech; readonly probabilities: Probabilities }[];
}

/**
 * Detects the language of chunks from all over a recording, and of more chunks where the first ones disagree. When no
 * chunks are left, it uses fragments between their long silences, and then halves of unsure ones. Each sample adds its
 * probability times its seconds to each language.
 * @param ask detects the language of a chunk
 * @param atOnce returns how many chunks of the minimum sample are checked at once
 */
export async function voteLanguage(
  speech: readonly Speech[],
  ask: (speech: Speech) => Promise<Probabilities>,
  atOnce: () => number,
): Promise<Vote> {
  const inOrder = speech.toSorted((a, b) => a.chunk.startSeconds - b.chunk.startSeconds);
  const least = Math.max(fewVotes, Math.ceil(inOrder.length / chunksPerVote));
  const most = Math.max(manyVotes, least);
  const scores = new Map<string, number>();
  const heard: { speech: Speech; probabilities: Probabilities }[] = [];
  const count = ({ chunk }: Speech, probabilities: Probabilities) => {
    for (const [code, probability] of Object.entries(probabilities)) {
      scores.set(code, (scores.get(code) ?? 0) + probability * chunkAudioSeconds(chunk));
    }
  };
  const isLong = ({ chunk }: Speech) => chunkAudioSeconds(chunk) >= shortestSeconds;
  const short = inOrder.filter((chunk) => !isLong(chunk));
  const later = inOrder.flatMap(laterPieces).filter(isLong);
  const asked = [...spread(inOrder.filter(isLong)), ...spread(short), ...spread(later)];
  await forEachAtOnce(asked.slice(0, least), atOnce, async (speech, index) => {
    heard[index] = { speech, probabilities: await ask(speech) };
  });
  for (const { speech, probabilities } of heard) count(speech, probabilities);
  for (const speech of asked.slice(least, most)) {
    if (hasClearLead(scores)) break;
    const probabilities = await ask(speech);
    count(speech, probabilities);
    heard.push({ speech, probabilities });
  }
  // The recognizer may be unsure of the whole but sure of its halves: a sentence in old English passed for Latin with base.
  const unsure = heard.filter(
    ({ probabilities }) => !Object.values(probabilities).some((one) => one >= sureProbability),
  );
  for (const half of unsure.flatMap(({ speech }) => halves(speech)).slice(0, most - heard.length)) {
    if (hasClearLead(scores)) break;
    count(half, await ask(half));
  }
  return { winner: ranked(scores)[0]?.[0], heard };
}

function spread(speech: readonly Speech[]): Speech[] {
  return spreadOrder(speech.length).map((index) => speech[index] as Speech);
}

/**
 * Returns the fragments after the first long silence of a chunk. For the whole, the recognizer detects the language that it
 * begins in.
 */
function laterPieces({ area, chunk }: Speech): Speech[] {
  const [, ...later] = transcribedSpans(chunk);
  return later.map((piece) => ({ area, chunk: clipChunk(chunk, piece) }));
}

function halves(speech: Speech): Speech[] {
  const { chunk } = speech;
  if (chunkAudioSeconds(chunk) < 2 * shortestSeconds) return [];
  const middle = chunkMidpoint(chunk);
  return [
    { ...speech, chunk: clipChunk(chunk, { ...chunk, endSeconds: middle }) },
    { ...speech, chunk: clipChunk(chunk, { ...chunk, startSeconds: middle }) },
  ];
}

function hasClearLead(scores: ReadonlyMap<string, number>): boolean {
  const [[, first] = ["", 0], [, second] = ["", 0]] = ranked(scores);
  return first >= clearLead * second;
}

function ranked(scores: ReadonlyMap<string, number>): [string, number][] {
  return [...scores].sort(([, a], [, b]) => b - a);
}

/**
 * Returns the numbers below `count`, ordered so that every prefix of the list is spread evenly over the range. The
 * steps follow the golden ratio, which also avoids regular patterns such as alternating languages.
 */
export function spreadOrder(count: number): number[] {
  const order = new Set<number>();
  for (let step = 0; order.size < count; step++) order.add(Math.floor(((0.5 + step * goldenRatio) % 1) * count));
  return [...order];
}

const goldenRatio = (Math.sqrt(5) - 1) / 2;
