import { heardLength } from "../speech/index.ts";
import { boundaryBetween } from "../text/index.ts";
import { OverlapFinder, type Span, secondsOf, type Turn } from "../timeline/index.ts";
import type { SpokenWord } from "./assign-speakers.ts";
import { runsBySpeaker } from "./runs-by-speaker.ts";

/** A sentence fragment: one speaker's words up to the end of a sentence, a pause or a change of speaker. */
export interface Piece extends Span {
  readonly speaker: number;
}

const pauseSeconds = 0.6;
/** Minimum length of a fragment in which a voice can be recognized, in seconds. */
const shortestSeconds = 0.8;
/** Length, in seconds, from which an uninterrupted run of one speaker needs no second pass. */
const doubtfulSeconds = 20;
/** Seconds of each speaker's speech that other voices are compared with. */
const knownSeconds = 15;
/** Minimum length of the rest of a turn at its edge, in seconds. */
const edgeSeconds = 0.3;

/**
 * Selects the fragments for the second pass, in order: those with a doubtful speaker, and enough of each speaker to
 * recognize the voice. Returns none if there is only one speaker.
 */
export function piecesToHear(said: readonly Piece[]): Piece[] {
  const pieces = said.filter((piece) => secondsOf(piece) >= shortestSeconds);
  const speakers = Map.groupBy(pieces, (piece) => piece.speaker);
  if (speakers.size < 2) return [];
  const known = [...speakers.values()].flatMap((own) => {
    let total = 0;
    return own
      .toSorted((a, b) => secondsOf(b) - secondsOf(a))
      .filter((piece) => {
        const isWanted = total < knownSeconds;
        total += heardLength(piece);
        return isWanted;
      });
  });
  const wanted = new Set([...known, ...doubtful(pieces)]);
  return pieces.filter((piece) => wanted.has(piece));
}

/**
 * Returns the turns after each fragment is assigned to the speaker whose voice it has.
 * @param turns in order of their starts
 * @param pieces the fragments, in order of their starts
 * @param speakers the speaker whose voice each fragment has
 */
export function turnsHeardAgain(turns: readonly Turn[], pieces: readonly Piece[], speakers: readonly number[]): Turn[] {
  const reaching = new OverlapFinder(turns);
  const corrected: Turn[] = [];
  let next = 0;
  // Turns that later fragments may still overlap.
  let open: Turn[] = [];
  for (const [index, piece] of pieces.entries()) {
    const speaker = speakers[index] ?? piece.speaker;
    if (speaker === piece.speaker || othersSpeak(reaching.overlapping(piece), piece)) continue;
    for (; (turns[next]?.startSeconds ?? Number.POSITIVE_INFINITY) < piece.endSeconds; next++) {
      open.push(turns[next] as Turn);
    }
    const isOver = (turn: Turn) => turn.endSeconds <= piece.startSeconds;
    corrected.push(...open.filter(isOver));
    open = open
      .filter((turn) => !isOver(turn))
      .flatMap((turn) => (turn.speaker === piece.speaker ? handOver(turn, piece, speaker) : [turn]));
  }
  corrected.push(...open);
  for (const turn of turns.slice(next)) corrected.push(turn);
  return withoutOverlaps(corrected.sort((a, b) => a.startSeconds - b.startSeconds || a.speaker - b.speaker));
}

/**
 * Reports whether other speakers overlap at least half of a fragment. Its embedding then mixes two voices and resembles
 * neither.
 */
function othersSpeak(turns: readonly Turn[], piece: Piece): boolean {
  const others = turns.filter(
    ({ speaker, startSeconds, endSeconds }) =>
      speaker !== piece.speaker && startSeconds < piece.endSeconds && endSeconds > piece.startSeconds,
  );
  const seconds = others.reduce(
    (sum, turn) => sum + Math.min(turn.endSeconds, piece.endSeconds) - Math.max(turn.startSeconds, piece.startSeconds),
    0,
  );
  return seconds >= secondsOf(piece) / 2;
}

/**
 * Merges overlapping turns of the same speaker. They arise when a fragment is reassigned to a speaker who has a turn at
 * that time anyway.
 */
function withoutOverlaps(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  const lasts = new Map<number, Turn>();
  for (const turn of turns) {
    const last = lasts.get(turn.speaker);
    if (last !== undefined && turn.startSeconds < last.endSeconds) {
      last.endSeconds = Math.max(last.endSeconds, turn.endSeconds);
      continue;
    }
    const own = { ...turn };
    lasts.set(turn.speaker, own);
    joined.push(own);
  }
  return joined;
}

/** Groups words into sentence fragments. */
export function piecesOf(words: readonly SpokenWord[]): Piece[] {
  const pieces: { startSeconds: number; endSeconds: number; speaker: number }[] = [];
  for (const [index, word] of words.entries()) {
    const before = words[index - 1];
    const last = pieces.at(-1);
    const goesOn =
      before !== undefined &&
      before.speaker === word.speaker &&
      word.startSeconds - before.endSeconds < pauseSeconds &&
      boundaryBetween(before.text, word.text) !== "sentence";
    if (goesOn && last !== undefined) last.endSeconds = Math.max(last.endSeconds, word.endSeconds);
    else pieces.push({ startSeconds: word.startSeconds, endSeconds: word.endSeconds, speaker: word.speaker });
  }
  return pieces;
}

/** Returns the fragments in runs of one speaker that are too short to be reliable. */
function doubtful(pieces: readonly Piece[]): Piece[] {
  return runsBySpeaker(pieces)
    .filter((run) => run.reduce((total, piece) => total + secondsOf(piece), 0) < doubtfulSeconds)
    .flat();
}

/**
 * Splits a turn where a fragment of it belongs to another speaker. A rest at an edge that is shorter than a word is
 * reassigned together with the fragment.
 */
function handOver(turn: Turn, piece: Piece, speaker: number): Turn[] {
  if (turn.endSeconds <= piece.startSeconds || turn.startSeconds >= piece.endSeconds) return [turn];
  const leavesStart = piece.startSeconds - turn.startSeconds > edgeSeconds;
  const leavesEnd = turn.endSeconds - piece.endSeconds > edgeSeconds;
  const startSeconds = leavesStart ? piece.startSeconds : turn.startSeconds;
  const endSeconds = leavesEnd ? piece.endSeconds : turn.endSeconds;
  return [
    ...(leavesStart ? [{ ...turn, endSeconds: startSeconds }] : []),
    { startSeconds, endSeconds, speaker },
    ...(leavesEnd ? [{ ...turn, startSeconds: endSeconds }] : []),
  ];
}
