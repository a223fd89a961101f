import type { TurnRules } from "../contract.ts";
import { bestPause, type FrameStrength } from "./best-pause.ts";
import { framesIn } from "./frames.ts";

/** Rules that divide sound whose turns the client ends: they only decide what is transcribed, and in which parts. */
export const PASSAGE_RULES: TurnRules = { threshold: 0.4, paddingSeconds: 0.3, silenceSeconds: 1.5 };

/**
 * Ratio of the probability down to which speech lasts to that from which it begins: with one limit for both, speech
 * would break off between words. Speech detection of recordings uses the same ratio.
 */
const LASTING_RATIO = 0.5;
/** Speech that begins a passage: less of it is a click or a breath. */
export const ONSET_SECONDS = 0.1;
/** Sound after the last speech that belongs to a passage: the end of its last word, but no more silence. */
const TAIL_SECONDS = 0.4;
/** Maximum duration of a passage, which a pass has to cover; and the minimum one before a cut. */
const MAX_SECONDS = 25;
const MIN_CUT_SECONDS = 12;
/** Duration from which a passage ends with less and less silence, and the silence with which it ends at its maximum. */
const LONG_SECONDS = 15;
const LONG_SILENCE_SECONDS = 0.5;
const SHORTEST_SILENCE_SECONDS = 0.15;

/** What a frame changed. Frames are numbered from the start of the session. */
export type PassageChange =
  | { readonly type: "started"; readonly frame: number }
  /** The passage has the frames before `frame`. After a cut, the next passage starts there. */
  | { readonly type: "ended"; readonly frame: number; readonly isCut: boolean };

/**
 * Finds passages of speech from the probability of speech in each frame. A passage begins with speech and ends with
 * silence. One that gets too long is cut at its best pause.
 */
export class PassageFinder {
  #rules: TurnRules;
  #next: TurnRules;
  /** First frame that may belong to the next passage. */
  #floor: number;
  /** First frame of speech that has not begun a passage, and the number of its frames; null without speech. */
  #onset: { readonly frame: number; count: number } | null = null;
  /** First frame of the passage; null between passages. */
  #start: number | null = null;
  /** The frame after the last one with speech. */
  #speechEnd = 0;
  /** Strengths of the frames of the passage. */
  #frames: FrameStrength[] = [];
  /** First frame that the strengths are known of. */
  #known = 0;

  /** @param firstFrame the first frame that will be added */
  constructor(rules: TurnRules, firstFrame: number) {
    this.#rules = rules;
    this.#next = rules;
    this.#floor = firstFrame;
  }

  /** First frame of the passage; null between passages. */
  get start(): number | null {
    return this.#start;
  }

  /** The frame after the last one with speech. */
  get speechEnd(): number {
    return this.#speechEnd;
  }

  /** Changes the rules from the next passage on. */
  setRules(rules: TurnRules): void {
    this.#next = rules;
    if (this.#start === null) this.#rules = rules;
  }

  /**
   * Adds the next frame.
   * @param cutFrom first frame at which a long passage may be cut
   */
  add(frame: number, strength: FrameStrength, cutFrom = 0): PassageChange | null {
    const { threshold } = this.#rules;
    const isSpeech = strength.probability >= threshold * LASTING_RATIO;
    return this.#start === null
      ? this.#addBetween(frame, strength, isSpeech)
      : this.#addWithin(this.#start, frame, strength, isSpeech, cutFrom);
  }

  /**
   * Ends the passage before a frame, if there is one: its turn was committed or dropped.
   * @returns whether there was one
   */
  restart(frame: number): boolean {
    const wasWithin = this.#start !== null;
    this.#reset(frame);
    return wasWithin;
  }

  #addBetween(frame: number, strength: FrameStrength, isSpeech: boolean): PassageChange | null {
    const { threshold, paddingSeconds } = this.#rules;
    if (!isSpeech) {
      this.#onset = null;
      return null;
    }
    if (this.#onset === null) {
      if (strength.probability < threshold) return null;
      this.#onset = { frame, count: 0 };
      this.#frames = [];
    }
    this.#frames.push(strength);
    if (strength.probability >= threshold) this.#onset.count += 1;
    if (this.#onset.count < framesIn(ONSET_SECONDS)) return null;
    const start = Math.max(this.#floor, this.#onset.frame - framesIn(paddingSeconds));
    this.#start = start;
    this.#known = this.#onset.frame;
    this.#onset = null;
    this.#speechEnd = frame + 1;
    return { type: "started", frame: start };
  }

  #addWithin(
    start: number,
    frame: number,
    strength: FrameStrength,
    isSpeech: boolean,
    cutFrom: number,
  ): PassageChange | null {
    this.#frames.push(strength);
    if (isSpeech) this.#speechEnd = frame + 1;
    const silence = silenceFrames(frame + 1 - start, this.#rules);
    if (frame + 1 - this.#speechEnd >= silence) {
      const end = this.#speechEnd + Math.min(silence, framesIn(TAIL_SECONDS));
      this.#reset(end);
      return { type: "ended", frame: end, isCut: false };
    }
    if (frame + 1 - start < framesIn(MAX_SECONDS)) return null;
    const first = Math.max(start + framesIn(MIN_CUT_SECONDS), cutFrom) - this.#known;
    const at = Math.max(1, bestPause(this.#frames, Math.min(first, this.#frames.length - 1)));
    const cut = this.#known + at;
    // Nothing was said since the pause.
    if (this.#speechEnd <= cut) {
      this.#reset(cut);
      return { type: "ended", frame: cut, isCut: false };
    }
    this.#rules = this.#next;
    this.#start = cut;
    this.#known = cut;
    this.#frames = this.#frames.slice(at);
    return { type: "ended", frame: cut, isCut: true };
  }

  #reset(floor: number): void {
    this.#rules = this.#next;
    this.#floor = floor;
    this.#start = null;
    this.#onset = null;
    this.#frames = [];
  }
}

/** Returns the frames of silence that end a passage of a length. */
function silenceFrames(length: number, { silenceSeconds }: TurnRules): number {
  if (length < framesIn(LONG_SECONDS)) return framesIn(silenceSeconds);
  const share = (length - framesIn(LONG_SECONDS)) / framesIn(MAX_SECONDS - LONG_SECONDS);
  const longest = Math.min(silenceSeconds, LONG_SILENCE_SECONDS);
  const least = Math.min(silenceSeconds, SHORTEST_SILENCE_SECONDS);
  return framesIn(longest - (longest - least) * Math.min(1, share));
}
