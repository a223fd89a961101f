import { heardLength } from "../speech/index.ts";
import { boundaryBetween } from "../text/index.ts";
import { Reaching, type Span, secondsOf, type Turn } from "../timeline/index.ts";
import type { SpokenWord } from "./assign-speakers.ts";
import { runsBySpeaker } from "./runs-by-speaker.ts";

/** What one speaker says up to the end of a sentence, a pause or a change of speaker. */
export interface Piece extends Span {
  readonly speaker: number;
}

const pauseSeconds = 0.6;
/** Pieces in which a voice can be known. */
const shortestSeconds = 0.8;
/** What is said in one go for longer has been heard well enough the first time. */
const doubtfulSeconds = 20;
/** Speech of each speaker that the others' voices are compared with. */
const knownSeconds = 15;
/** What is left of a turn at its edge is at least so long. */
const edgeSeconds = 0.3;

/** Pieces to hear: those that may be another's, and enough of each speaker to know the voice by. In order; none where one speaks. */
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
 * The turns with each piece given to whom its voice belongs.
 * @param turns in order of their starts
 * @param pieces in order of their starts
 * @param speakers whose voice each piece has
 */
export function turnsHeardAgain(turns: readonly Turn[], pieces: readonly Piece[], speakers: readonly number[]): Turn[] {
  const reaching = new Reaching(turns);
  const corrected: Turn[] = [];
  let next = 0;
  // What pieces that are to come may still reach.
  let open: Turn[] = [];
  for (const [index, piece] of pieces.entries()) {
    const speaker = speakers[index] ?? piece.speaker;
    if (speaker === piece.speaker || othersSpeak(reaching.into(piece), piece)) continue;
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

/** Whether others speak for half of a piece or more: then it is two voices at once that are heard, and like neither. */
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

/** One turn of those of one speaker that overlap, as where a piece went to somebody who speaks meanwhile anyway. */
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

/** What is said in words, in pieces. */
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

/** Pieces of a speaker who does not say much in one go. */
function doubtful(pieces: readonly Piece[]): Piece[] {
  return runsBySpeaker(pieces)
    .filter((run) => run.reduce((total, piece) => total + secondsOf(piece), 0) < doubtfulSeconds)
    .flat();
}

/** A turn cut where a piece of it is another's; what would be left of it at an edge and is shorter than a word goes along. */
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
