import type { PackedSegment } from "../../segments/index.ts";
import { boundaryBetween } from "../../text/index.ts";
import { type EngineWord, SAMPLE_RATE } from "../../timeline/index.ts";
import type { LiveEvent, LiveSegment } from "../contract.ts";
import { type LiveRows, packed, parseWords, speakerLabel } from "../store/index.ts";
import type { Turn } from "./turn.ts";

/** Segments of a session that is not kept which a client can receive again after it was away. */
const MAX_REMEMBERED = 5000;
/** Minimum duration of a segment: a word may have been given none. */
const MIN_SECONDS = 0.01;

export interface SessionTextOptions {
  readonly id: string;
  /** Null for a session that is not kept. */
  readonly rows: LiveRows | null;
  readonly emit: (event: LiveEvent) => void;
  /** Number of the next segment. */
  readonly nextNumber: number;
  /** Returns a segment's text and words as the account always writes them; null if nothing changes. */
  readonly respell: (segment: PackedSegment) => Pick<PackedSegment, "text" | "words"> | null;
}

/** The final words of a session: reports and stores them as segments. */
export class SessionText {
  readonly #options: SessionTextOptions;
  /** The latest segments of a session that is not kept. */
  readonly #remembered: LiveSegment[] = [];
  #nextNumber: number;

  constructor(options: SessionTextOptions) {
    this.#options = options;
    this.#nextNumber = options.nextNumber;
  }

  /** Adds final words of a turn. @returns their segments, which end with sentences; none if they have no text */
  add(turn: Turn, words: readonly EngineWord[]): LiveSegment[] {
    return sentencesOf(words).flatMap((sentence) => this.#addSentence(turn, sentence) ?? []);
  }

  #addSentence(turn: Turn, words: readonly EngineWord[]): LiveSegment | null {
    const { id, rows, emit } = this.#options;
    const text = words.map((word) => word.text).join("");
    if (text.trim() === "") return null;
    const startSeconds = words[0]?.startSeconds ?? 0;
    const segment = this.#respelled({
      number: this.#nextNumber++,
      startSeconds,
      endSeconds: Math.max(startSeconds + MIN_SECONDS, ...words.map((word) => word.endSeconds)),
      text: text.trim(),
      words,
      speaker: null,
    });
    turn.text += segment.words.map((word) => word.text).join("");
    if (rows === null) this.#remember(segment);
    else rows.addSegment(id, turn.id, segment);
    emit({ type: "final", turn: turn.id, segment });
    return segment;
  }

  /** Returns a segment with the account's replacements. */
  #respelled(segment: LiveSegment): LiveSegment {
    const respelled = this.#options.respell(packed(segment));
    if (respelled === null) return segment;
    const words = parseWords(respelled.words);
    // The first word keeps the space that divides it from the segment before, or has none as before.
    const [space = ""] = segment.words[0]?.text.match(/^\s*/) ?? [];
    const [first, ...others] = words;
    const begun = first === undefined ? [] : [{ ...first, text: space + first.text.trimStart() }];
    return { ...segment, text: respelled.text, words: [...begun, ...others] };
  }

  /** Reports words of a turn that may still change. */
  showPartial(turn: Turn, words: readonly EngineWord[]): void {
    const text = words.map((word) => word.text).join("");
    this.#options.emit({ type: "partial", turn: turn.id, text: text.trim(), words });
  }

  /** Reports that all words of a turn are final. */
  endTurn({ id, text, hasFailed, startSample, endSample, language }: Turn): void {
    if (hasFailed) {
      this.#options.emit({ type: "turnFailed", turn: id });
      return;
    }
    const seconds = ((endSample ?? startSample) - startSample) / SAMPLE_RATE;
    this.#options.emit({ type: "turnCompleted", turn: id, text: text.trim(), seconds, language });
  }

  /** Sets the speaker of segments. */
  setSpeaker(numbers: readonly number[], speaker: number): void {
    const { id, rows, emit } = this.#options;
    const label = speakerLabel(speaker);
    if (rows !== null) rows.setSpeaker(id, numbers, speaker);
    for (const [at, segment] of this.#remembered.entries()) {
      if (numbers.includes(segment.number)) this.#remembered[at] = { ...segment, speaker: label };
    }
    emit({ type: "speakers", speakers: numbers.map((segment) => ({ segment, speaker: label })) });
  }

  /** Returns the segments from a number on. */
  from(number: number): LiveSegment[] {
    const { id, rows } = this.#options;
    if (rows === null) return this.#remembered.filter((segment) => segment.number >= number);
    return rows.segments(id, number).map(({ turn: _, ...segment }) => segment);
  }

  #remember(segment: LiveSegment): void {
    this.#remembered.push(segment);
    if (this.#remembered.length > MAX_REMEMBERED) this.#remembered.shift();
  }
}

/** Divides words at the ends of sentences. */
function sentencesOf(words: readonly EngineWord[]): EngineWord[][] {
  const sentences: EngineWord[][] = [];
  for (const [at, word] of words.entries()) {
    const before = words[at - 1];
    if (before !== undefined && boundaryBetween(before.text, word.text) !== "sentence") sentences.at(-1)?.push(word);
    else sentences.push([word]);
  }
  return sentences;
}
