import { type Probabilities, sureProbability } from "../speech/index.ts";
import { chunkAudioSeconds, chunkMidpoint, clipChunk, transcribedSpans } from "../timeline/index.ts";
import { forEachConcurrently } from "./concurrency.ts";
import type { StepEngine } from "./step.ts";
import type { TrackChunk } from "./tracks.ts";

/** Minimum and maximum number of chunks whose language is detected; each costs one run of the encoder. */
const LEAST_SAMPLES = 5;
const MOST_SAMPLES = 25;
/** For a long recording, one of this many chunks is sampled, to notice an occasional language; it costs about 2 %. */
const CHUNKS_PER_SAMPLE = 16;
/**
 * Chunks beyond the minimum sample that are detected at once. The last one may turn out to be unnecessary. That costs
 * little, because the transcription does not encode its window again.
 */
const CHUNKS_AHEAD = 2;
/** Ratio of the first score to the second one at which the vote ends. */
const CLEAR_LEAD = 4;
/** Length in seconds below which speech is sampled last, because it is little evidence. */
const SHORTEST_SECONDS = 2;

/** The probabilities found in a sampled chunk. */
interface Sample {
  readonly speech: TrackChunk;
  readonly probabilities: Probabilities;
}

/**
 * Detects the language of chunks from all over a recording, and of more chunks where the first ones disagree. When no
 * chunks are left, it uses fragments between their long silences, and then halves of unsure ones. Each sample adds its
 * probability times its seconds to each language.
 * @param detect detects the language of a chunk
 * @param engine has the number of chunks that are checked at once
 * @returns the recognizer's code of the main language, its share of all scores, and the samples
 */
export async function voteLanguage(
  speech: readonly TrackChunk[],
  detect: (speech: TrackChunk) => Promise<Probabilities>,
  engine: Pick<StepEngine, "partsAtOnce">,
): Promise<{ winner: string | undefined; confidence: number; samples: readonly Sample[] }> {
  const inOrder = speech.toSorted((a, b) => a.chunk.startSeconds - b.chunk.startSeconds);
  const least = Math.max(LEAST_SAMPLES, Math.ceil(inOrder.length / CHUNKS_PER_SAMPLE));
  const most = Math.max(MOST_SAMPLES, least);
  const scores = new Map<string, number>();
  const count = ({ chunk }: TrackChunk, probabilities: Probabilities) => {
    for (const [code, probability] of Object.entries(probabilities)) {
      scores.set(code, (scores.get(code) ?? 0) + probability * chunkAudioSeconds(chunk));
    }
  };
  const isLong = ({ chunk }: TrackChunk) => chunkAudioSeconds(chunk) >= SHORTEST_SECONDS;
  const short = inOrder.filter((chunk) => !isLong(chunk));
  const later = inOrder.flatMap(laterFragments).filter(isLong);
  const candidates = [...spread(inOrder.filter(isLong)), ...spread(short), ...spread(later)];
  const detectAll = async (batch: readonly TrackChunk[]): Promise<Sample[]> => {
    const found: Sample[] = [];
    await forEachConcurrently(batch, engine, async (speech, index) => {
      found[index] = { speech, probabilities: await detect(speech) };
    });
    return found;
  };
  const samples = await detectAll(candidates.slice(0, least));
  for (const { speech, probabilities } of samples) count(speech, probabilities);
  for (let next = least; next < Math.min(most, candidates.length) && !hasClearLead(scores); ) {
    const atOnce = next + CHUNKS_AHEAD <= inOrder.length ? Math.min(CHUNKS_AHEAD, engine.partsAtOnce) : 1;
    const batch = candidates.slice(next, Math.min(next + atOnce, most));
    for (const sample of await detectAll(batch)) {
      // The vote is the same as if the chunks were detected one after the other.
      if (hasClearLead(scores)) break;
      count(sample.speech, sample.probabilities);
      samples.push(sample);
    }
    next += batch.length;
  }
  // The recognizer may be unsure of the whole but sure of its halves: base took a sentence in old English for Latin.
  const unsure = samples.filter(
    ({ probabilities }) => !Object.values(probabilities).some((one) => one >= sureProbability),
  );
  for (const half of unsure.flatMap(({ speech }) => halves(speech)).slice(0, most - samples.length)) {
    if (hasClearLead(scores)) break;
    count(half, await detect(half));
  }
  const [winner, score] = ranked(scores)[0] ?? [undefined, 0];
  const total = scores.values().reduce((sum, one) => sum + one, 0);
  return { winner, confidence: total === 0 ? 0 : score / total, samples };
}

function spread(speech: readonly TrackChunk[]): TrackChunk[] {
  return spreadOrder(speech.length).map((index) => speech[index] as TrackChunk);
}

/** Returns the fragments after a chunk's first long silence; of the whole, only the first language is detected. */
function laterFragments({ area, chunk }: TrackChunk): TrackChunk[] {
  const [, ...later] = transcribedSpans(chunk);
  return later.map((span) => ({ area, chunk: clipChunk(chunk, span) }));
}

function halves(speech: TrackChunk): TrackChunk[] {
  const { chunk } = speech;
  if (chunkAudioSeconds(chunk) < 2 * SHORTEST_SECONDS) return [];
  const middle = chunkMidpoint(chunk);
  return [
    { ...speech, chunk: clipChunk(chunk, { ...chunk, endSeconds: middle }) },
    { ...speech, chunk: clipChunk(chunk, { ...chunk, startSeconds: middle }) },
  ];
}

function hasClearLead(scores: ReadonlyMap<string, number>): boolean {
  const [[, first] = ["", 0], [, second] = ["", 0]] = ranked(scores);
  return first >= CLEAR_LEAD * second;
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
  for (let step = 0; order.size < count; step++) order.add(Math.floor(((0.5 + step * GOLDEN_RATIO) % 1) * count));
  return [...order];
}

const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;
