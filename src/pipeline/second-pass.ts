import { Type } from "@sinclair/typebox";
import { hasBlock } from "../blocks/index.ts";
import { boundaryBetween } from "../text/index.ts";
import {
  embeddedPart,
  OverlapFinder,
  type Span,
  secondsOf,
  sharedSeconds,
  spanSchema,
  type Turn,
} from "../timeline/index.ts";
import { runsBySpeaker, type SpokenWord } from "./assign-speakers.ts";
import { forEachConcurrently, yieldToEventLoop } from "./concurrency.ts";
import type { TrackContext } from "./tracks.ts";

/** A sentence fragment: one speaker's words up to the end of a sentence, a pause or a change of speaker. */
export type Fragment = Turn;

/** A fragment whose voice was compared with those of all speakers. */
export interface ComparedFragment extends Span {
  /** The speaker whose voice it has. */
  readonly speaker: number;
  /** How much more similar the voice is to that speaker's than to any other's. */
  readonly margin: number;
}

/** Fragments per checkpoint: about one second of work. */
const FRAGMENTS_PER_BLOCK = 16;
const PAUSE_SECONDS = 0.6;
/** Minimum length of a fragment in which a voice can be recognized, in seconds. */
const SHORTEST_SECONDS = 0.8;
/** Length, in seconds, from which an uninterrupted run of one speaker needs no second pass. */
const RELIABLE_RUN_SECONDS = 20;
/** Seconds of each speaker's speech that other voices are compared with. */
const KNOWN_SECONDS = 15;
/** Minimum length of the rest of a turn at its edge, in seconds. */
const EDGE_SECONDS = 0.3;

const blockSchema = Type.Object({ spans: Type.Array(spanSchema) });

/**
 * Runs the second pass of speaker diarization, which uses the sentence boundaries of the transcript. It reassigns a
 * fragment that clearly has another speaker's voice: the windows of the first pass may mix two voices.
 *
 * The worker stores voice embeddings in files of the work directory and compares them there. They therefore do not load
 * the server, and no voice data reaches a database or a backup, except for accounts that remember voices.
 * @param fragments all sentence fragments, in order, with speakers by the turns
 * @param turns in order of their starts
 * @param fewest number of speakers that are not left without a fragment
 * @returns the turns, and the fragments that were compared, in order
 */
export async function runSecondPass(
  context: TrackContext,
  fragments: readonly Fragment[],
  turns: readonly Turn[],
  fewest = 1,
): Promise<{ readonly turns: readonly Turn[]; readonly compared: readonly ComparedFragment[] }> {
  const { area, engine, signal, checkpoints } = context;
  await yieldToEventLoop(signal);
  const compared = fragmentsToCompare(fragments);
  if (compared.length === 0) return { turns, compared: [] };
  const blocks = Math.ceil(compared.length / FRAGMENTS_PER_BLOCK);
  let finished = 0;
  await forEachConcurrently(Array(blocks).keys(), engine, async (block) => {
    await yieldToEventLoop(signal);
    const spans = compared
      .slice(block * FRAGMENTS_PER_BLOCK, (block + 1) * FRAGMENTS_PER_BLOCK)
      .map(({ startSeconds, endSeconds }) => ({ startSeconds, endSeconds }));
    // Embeddings of other spans are useless. (Checkpoints of earlier versions have another name.)
    const isFinished = Bun.deepEquals(checkpoints.read("sentences", block, blockSchema)?.spans, spans);
    if (!isFinished || !(await hasBlock(area, "sentences", block))) {
      await engine.run("embedSentences", { area, spans, block }, signal);
      checkpoints.write("sentences", block, blockSchema, { spans });
    }
    finished += 1;
    context.progress(finished / blocks);
  });
  const sentences = compared.map((each) => ({ speaker: each.speaker, seconds: embeddedPart(each).seconds }));
  const { owners } = await engine.run("compareSentences", { area, sentences }, signal);
  await yieldToEventLoop(signal);
  const speakers = owners.map(({ speaker }) => speaker);
  return {
    turns: reassignTurns(turns, compared, keepSpeakers(compared, speakers, fewest)),
    compared: compared.flatMap(({ startSeconds, endSeconds }, index) => {
      const owner = owners[index];
      return owner === undefined ? [] : [{ startSeconds, endSeconds, ...owner }];
    }),
  };
}

/**
 * Returns the speakers of fragments after a second pass. If fewer than `fewest` would remain, it leaves the missing
 * speakers, longest speech first, the fragments that they had before.
 */
export function keepSpeakers(fragments: readonly Fragment[], speakers: readonly number[], fewest: number): number[] {
  const remaining = new Set(speakers);
  const missing = Map.groupBy(
    fragments.filter(({ speaker }) => !remaining.has(speaker)),
    ({ speaker }) => speaker,
  );
  const seconds = ([, own]: readonly [number, readonly Fragment[]]) =>
    own.reduce((sum, fragment) => sum + secondsOf(fragment), 0);
  const kept = [...missing]
    .sort((a, b) => seconds(b) - seconds(a))
    .slice(0, Math.max(0, fewest - remaining.size))
    .map(([speaker]) => speaker);
  return speakers.map((speaker, index) => {
    const before = fragments[index]?.speaker ?? speaker;
    return kept.includes(before) ? before : speaker;
  });
}

/** Groups words into sentence fragments. */
export function fragmentsOf(words: readonly SpokenWord[]): Fragment[] {
  const fragments: Fragment[] = [];
  for (const [index, word] of words.entries()) {
    const before = words[index - 1];
    const last = fragments.at(-1);
    const continues =
      before !== undefined &&
      before.speaker === word.speaker &&
      word.startSeconds - before.endSeconds < PAUSE_SECONDS &&
      boundaryBetween(before.text, word.text) !== "sentence";
    if (continues && last !== undefined) last.endSeconds = Math.max(last.endSeconds, word.endSeconds);
    else fragments.push({ startSeconds: word.startSeconds, endSeconds: word.endSeconds, speaker: word.speaker });
  }
  return fragments;
}

/**
 * Selects the fragments for the second pass, in order: those with a doubtful speaker, and enough of each speaker to
 * recognize the voice. Returns none if there is only one speaker.
 */
export function fragmentsToCompare(all: readonly Fragment[]): Fragment[] {
  const fragments = all.filter((fragment) => secondsOf(fragment) >= SHORTEST_SECONDS);
  const speakers = Map.groupBy(fragments, (fragment) => fragment.speaker);
  if (speakers.size < 2) return [];
  const known = [...speakers.values()].flatMap((own) => {
    let total = 0;
    return own
      .toSorted((a, b) => secondsOf(b) - secondsOf(a))
      .filter((fragment) => {
        const isWanted = total < KNOWN_SECONDS;
        total += embeddedPart(fragment).seconds;
        return isWanted;
      });
  });
  const doubtful = runsBySpeaker(fragments)
    .filter((run) => run.reduce((total, fragment) => total + secondsOf(fragment), 0) < RELIABLE_RUN_SECONDS)
    .flat();
  const wanted = new Set([...known, ...doubtful]);
  return fragments.filter((fragment) => wanted.has(fragment));
}

/**
 * Returns the turns after each fragment is assigned to the speaker whose voice it has.
 * @param turns in order of their starts
 * @param fragments in order of their starts
 * @param speakers the speaker whose voice each fragment has
 */
export function reassignTurns(
  turns: readonly Turn[],
  fragments: readonly Fragment[],
  speakers: readonly number[],
): Turn[] {
  const overlaps = new OverlapFinder(turns);
  const corrected: Turn[] = [];
  let next = 0;
  // Turns that later fragments may still overlap.
  let open: Turn[] = [];
  for (const [index, fragment] of fragments.entries()) {
    const speaker = speakers[index] ?? fragment.speaker;
    if (speaker === fragment.speaker || isMostlyOverlapped(fragment, overlaps.overlapping(fragment))) continue;
    for (; (turns[next]?.startSeconds ?? Number.POSITIVE_INFINITY) < fragment.endSeconds; next++) {
      open.push(turns[next] as Turn);
    }
    const isOver = (turn: Turn) => turn.endSeconds <= fragment.startSeconds;
    corrected.push(...open.filter(isOver));
    open = open
      .filter((turn) => !isOver(turn))
      .flatMap((turn) => (turn.speaker === fragment.speaker ? splitTurn(turn, fragment, speaker) : [turn]));
  }
  corrected.push(...open);
  for (const turn of turns.slice(next)) corrected.push(turn);
  return mergeOverlaps(corrected.sort((a, b) => a.startSeconds - b.startSeconds || a.speaker - b.speaker));
}

/**
 * Returns whether other speakers overlap at least half of a fragment, so that its embedding mixes two voices.
 * @param turns those that overlap the fragment
 */
function isMostlyOverlapped(fragment: Fragment, turns: readonly Turn[]): boolean {
  const others = turns.filter(({ speaker }) => speaker !== fragment.speaker);
  const seconds = others.reduce((sum, turn) => sum + sharedSeconds(turn, fragment), 0);
  return seconds >= secondsOf(fragment) / 2;
}

/**
 * Splits a turn where a fragment of it belongs to another speaker. A rest at an edge that is shorter than a word is
 * reassigned together with the fragment.
 */
function splitTurn(turn: Turn, fragment: Fragment, speaker: number): Turn[] {
  if (turn.endSeconds <= fragment.startSeconds || turn.startSeconds >= fragment.endSeconds) return [turn];
  const leavesStart = fragment.startSeconds - turn.startSeconds > EDGE_SECONDS;
  const leavesEnd = turn.endSeconds - fragment.endSeconds > EDGE_SECONDS;
  const startSeconds = leavesStart ? fragment.startSeconds : turn.startSeconds;
  const endSeconds = leavesEnd ? fragment.endSeconds : turn.endSeconds;
  return [
    ...(leavesStart ? [{ ...turn, endSeconds: startSeconds }] : []),
    { startSeconds, endSeconds, speaker },
    ...(leavesEnd ? [{ ...turn, startSeconds: endSeconds }] : []),
  ];
}

/** Merges overlapping turns of a speaker, who may have a turn at the time of a fragment that is reassigned to them. */
function mergeOverlaps(turns: readonly Turn[]): Turn[] {
  const merged: Turn[] = [];
  const lasts = new Map<number, Turn>();
  for (const turn of turns) {
    const last = lasts.get(turn.speaker);
    if (last !== undefined && turn.startSeconds < last.endSeconds) {
      last.endSeconds = Math.max(last.endSeconds, turn.endSeconds);
      continue;
    }
    const own = { ...turn };
    lasts.set(turn.speaker, own);
    merged.push(own);
  }
  return merged;
}
