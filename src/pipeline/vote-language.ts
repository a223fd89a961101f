import { type Probabilities, sureProbability } from "../speech/index.ts";
import { heardPieces, heardSeconds, middleOfChunk, partOfChunk } from "../timeline/index.ts";
import { forEachAtOnce } from "./for-each-at-once.ts";
import type { Speech } from "./speech.ts";

/** How many chunks are asked in any case, and at most. One that is asked and not transcribed costs a run of the encoder. */
const fewVotes = 5;
const manyVotes = 25;
/** Of a long recording one in so many is asked, so that a language spoken now and then is noticed; it costs about 2 %. */
const chunksPerVote = 16;
/** A language that has this many times as much as the next one is not asked about any further. */
const clearLead = 4;
/** What is shorter tells little, and is asked last. */
const shortestSeconds = 2;

/** What a vote found: the language that most is spoken in, and what each chunk that was asked had in it. */
export interface Vote {
  /** Whisper's code. */
  readonly winner: string | undefined;
  readonly heard: readonly { readonly speech: Speech; readonly probabilities: Probabilities }[];
}

/**
 * Asks chunks from all over a recording for their language, more of them where the first ones don't agree, and where there are
 * no more, pieces that lie between long silences in them, and halves of those that are unsure. Each counts for each language
 * by how probable it is, times its seconds.
 * @param ask what the model hears in a chunk
 * @param atOnce how many of the chunks that are asked in any case are asked at once
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
      scores.set(code, (scores.get(code) ?? 0) + probability * heardSeconds(chunk));
    }
  };
  const isLong = ({ chunk }: Speech) => heardSeconds(chunk) >= shortestSeconds;
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
  // Unsure of the whole, whisper may be sure of its halves: a sentence in old English passed for Latin with base.
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

/** What lies after the first long silence of a chunk, piece by piece: whisper tells the language that the whole begins in. */
function laterPieces({ pcm, chunk }: Speech): Speech[] {
  const [, ...later] = heardPieces(chunk);
  return later.map((piece) => ({ pcm, chunk: partOfChunk(chunk, piece) }));
}

function halves(speech: Speech): Speech[] {
  const { chunk } = speech;
  if (heardSeconds(chunk) < 2 * shortestSeconds) return [];
  const middle = middleOfChunk(chunk);
  return [
    { ...speech, chunk: partOfChunk(chunk, { ...chunk, endSeconds: middle }) },
    { ...speech, chunk: partOfChunk(chunk, { ...chunk, startSeconds: middle }) },
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
 * The numbers below `count`, so that those at the beginning of the list lie evenly over all of them: steps of the golden
 * ratio, which also keep clear of what comes again and again, as languages in turns do.
 */
export function spreadOrder(count: number): number[] {
  const order = new Set<number>();
  for (let step = 0; order.size < count; step++) order.add(Math.floor(((0.5 + step * goldenRatio) % 1) * count));
  return [...order];
}

const goldenRatio = (Math.sqrt(5) - 1) / 2;
