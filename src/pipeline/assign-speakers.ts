import { type Boundary, boundaryBetween } from "../text/index.ts";
import type { EngineWord, Turn } from "../timeline/index.ts";
import { findRemarks } from "./find-remarks.ts";

export interface SpokenWord extends EngineWord {
  readonly speaker: number;
}

/**
 * Cost of a speaker change, by the boundary at which it happens, in seconds of words outside their speaker's turns.
 * People seldom stop in mid-sentence, and times are accurate to a fifth of a second.
 *
 * Test turns: the references' with edges off by 0.15 s, without overlaps, and without half of the turns under 0.6 s.
 * Words with a wrong speaker fell from 0.7 to 0.4 % on the built dialogues. With 0.8 for `open`, 0.3 % were wrong
 * there, but 6.4 instead of 4.7 % where turns of 0.4 to 3 s were cut out of sentences.
 */
const CHANGE_COSTS: Record<Boundary, number> = { sentence: 0, perhaps: 0.2, clause: 0.3, open: 0.5, bound: 0.6 };
/**
 * Cost of a speaker change at an `open` boundary without any other kind within FAR_WORDS words, in seconds. There the
 * spelling gives no hint about where a speaker changes, as in text without punctuation. On quick exchanges (see
 * docs/quality.md), words with a wrong speaker fell from 20.5 to 18.2 %; on the built dialogues they stayed at 0.3 %. With
 * FAR_WORDS = 2, 0.4 % are wrong there.
 */
const FAR_COST = 0.15;
const FAR_WORDS = 3;
/** Length of a pause, in seconds, that divides the cost of a speaker change by e (about a third remains). */
const PAUSE_SECONDS = 1;

/** Distance scale in seconds: a speaker this much further away than the nearest one is a third as likely. */
const NEAR_SECONDS = 0.15;
/** Maximum distance between the sampled moments of a word, in seconds. */
const STEP_SECONDS = 0.05;
/**
 * Upper limit of the doubt about a speaker whose turn is longer than another turn at the same moment: interjections
 * mostly fall into pauses of a longer turn. Large enough to decide whose a sentence is, and too small to split one.
 */
const LONGER_DOUBT = 0.2;

/**
 * Assigns a speaker to every word, so that words lie best within their speakers' turns and speakers seldom change
 * inside a sentence, even where speakers overlap or a turn begins slightly early or late. A remark of one word goes to
 * its own speaker, and the sentence around it is assigned as without it.
 * @param words in order of their start
 * @param turns in order of their start; they may overlap
 */
export function assignSpeakers(words: readonly EngineWord[], turns: readonly Turn[]): SpokenWord[] {
  const remarks = findRemarks(words, turns);
  const sentences = assignSentences(
    words.filter((_, index) => !remarks.has(index)),
    turns,
  ).values();
  return words.map((word, index) => ({
    ...word,
    speaker: remarks.get(index) ?? sentences.next().value ?? 0,
  }));
}

/** Returns the speakers of words that are no remarks. */
function assignSentences(words: readonly EngineWord[], turns: readonly Turn[]): Uint32Array {
  const speakers = [...new Set(turns.map((turn) => turn.speaker))];
  const doubts = new SpeakerDoubts(turns, speakers);
  // Viterbi: the lowest cost up to the current word by speaker, and the choices needed to trace the path back.
  const costs = new Float64Array(speakers.length);
  const changed = new Uint8Array(words.length * speakers.length);
  const cheapestBefore = new Uint32Array(words.length);
  const changes = changeCosts(words);
  for (const [index, word] of words.entries()) {
    const change = changes[index] ?? 0;
    const cheapest = indexOfLeast(costs);
    const changing = (costs[cheapest] ?? 0) + change;
    const doubt = doubts.of(word);
    cheapestBefore[index] = cheapest;
    for (let speaker = 0; speaker < costs.length; speaker++) {
      const staying = costs[speaker] ?? 0;
      if (changing < staying) changed[index * speakers.length + speaker] = 1;
      costs[speaker] = Math.min(staying, changing) + (doubt[speaker] ?? 0);
    }
  }
  const assigned = new Uint32Array(words.length);
  for (let index = words.length - 1, speaker = indexOfLeast(costs); index >= 0; index--) {
    assigned[index] = speakers[speaker] ?? 0;
    if (changed[index * speakers.length + speaker] === 1) speaker = cheapestBefore[index] ?? 0;
  }
  return assigned;
}

/** Returns the cost of a speaker change before each word; 0 before the first one. */
function changeCosts(words: readonly EngineWord[]): number[] {
  const boundaries = words.map((word, index) => boundaryBetween(words[index - 1]?.text ?? ".", word.text));
  return words.map((word, index) => {
    const boundary = boundaries[index] ?? "open";
    const near = boundaries.slice(Math.max(1, index - FAR_WORDS), index + FAR_WORDS + 1);
    const cost = near.every((other) => other === "open") ? FAR_COST : CHANGE_COSTS[boundary];
    const pause = Math.max(0, word.startSeconds - (words[index - 1]?.endSeconds ?? 0));
    return index === 0 ? 0 : cost * Math.exp(-pause / PAUSE_SECONDS);
  });
}

function indexOfLeast(values: Float64Array): number {
  let least = 0;
  for (let index = 1; index < values.length; index++) if ((values[index] ?? 0) < (values[least] ?? 0)) least = index;
  return least;
}

/** Groups consecutive items of the same speaker, in order. */
export function runsBySpeaker<T extends { readonly speaker: number }>(items: readonly T[]): T[][] {
  const runs: T[][] = [];
  for (const one of items) {
    const run = runs.at(-1);
    if (run?.[0]?.speaker === one.speaker) run.push(one);
    else runs.push([one]);
  }
  return runs;
}

/**
 * Measures the evidence against each speaker, for one word after the other. It runs for every twentieth of a second, so
 * it allocates no objects: allocations alone took most of the time of the speaker assignment.
 */
class SpeakerDoubts {
  readonly #own: readonly (readonly Turn[])[];
  /** Index of each speaker's first turn that a later word may still need. */
  readonly #next: number[];
  /** Distance from a moment to each speaker's nearest turn (0 within it), and that turn's length, in seconds. */
  readonly #distances: Float64Array;
  readonly #lengths: Float64Array;
  readonly #doubts: Float64Array;

  /** @param speakers the speakers, in the order of the returned doubts */
  constructor(turns: readonly Turn[], speakers: readonly number[]) {
    const bySpeaker = Map.groupBy(turns, (turn) => turn.speaker);
    this.#own = speakers.map((speaker) => bySpeaker.get(speaker) ?? []);
    this.#next = speakers.map(() => 0);
    this.#distances = new Float64Array(speakers.length);
    this.#lengths = new Float64Array(speakers.length);
    this.#doubts = new Float64Array(speakers.length);
  }

  /**
   * Returns, for each speaker, the seconds of a word in which others speak and this speaker does not. The value is
   * lower near the edges of turns. It is slightly above 0 where this speaker's turn is longer than another one.
   * @param word begins no earlier than the previous one
   * @returns the same array on each call
   */
  of(word: { readonly startSeconds: number; readonly endSeconds: number }): Float64Array {
    const [doubts, distances, lengths] = [this.#doubts, this.#distances, this.#lengths];
    const seconds = Math.max(word.endSeconds - word.startSeconds, STEP_SECONDS);
    const moments = Math.ceil(seconds / STEP_SECONDS);
    doubts.fill(0);
    for (let moment = 0; moment < moments; moment++) {
      this.#findNearest(word.startSeconds, word.startSeconds + ((moment + 0.5) * seconds) / moments);
      let least = Number.POSITIVE_INFINITY;
      let shortest = Number.POSITIVE_INFINITY;
      for (let index = 0; index < doubts.length; index++) {
        const distance = distances[index] ?? 0;
        const length = lengths[index] ?? 0;
        if (distance < least || (distance === least && length < shortest)) shortest = length;
        least = Math.min(least, distance);
      }
      for (let index = 0; index < doubts.length; index++) {
        const distance = distances[index] ?? 0;
        const doubt =
          distance === 0
            ? LONGER_DOUBT * (1 - shortest / (lengths[index] ?? 0))
            : 1 - Math.exp((least - distance) / NEAR_SECONDS);
        doubts[index] = (doubts[index] ?? 0) + (doubt * seconds) / moments;
      }
    }
    return doubts;
  }

  /** Finds each speaker's turn that is nearest to a moment. */
  #findNearest(from: number, at: number): void {
    for (let index = 0; index < this.#own.length; index++) {
      const turns = this.#own[index] ?? [];
      let next = this.#next[index] ?? 0;
      // A turn that may still be the nearest is not skipped.
      while ((turns[next + 1]?.endSeconds ?? Number.POSITIVE_INFINITY) <= from) next++;
      this.#next[index] = next;
      let nearest = Number.POSITIVE_INFINITY;
      let length = 0;
      for (let turn = turns[next]; turn !== undefined && turn.startSeconds - at < nearest; turn = turns[++next]) {
        const distance = Math.max(0, turn.startSeconds - at, at - turn.endSeconds);
        if (distance >= nearest) continue;
        nearest = distance;
        length = turn.endSeconds - turn.startSeconds;
      }
      this.#distances[index] = nearest;
      this.#lengths[index] = length;
    }
  }
}
