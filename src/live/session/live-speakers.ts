import { type Span, secondsOf } from "../../timeline/index.ts";
import type { LiveSegment } from "../contract.ts";
import { KnownVoices } from "./known-voices.ts";

/** Speech from which a new voice is recognized as such, and from which a known one is. */
const SURE_SECONDS = 1.5;
const LEAST_SECONDS = 0.5;
/** Speech by which a voice of an earlier server is known again. */
const RESTORED_SECONDS = 10;
const RESTORED_SPANS = 8;

export interface LiveSpeakersOptions {
  readonly embed: (spans: readonly Span[]) => Promise<Float32Array>;
  /** Called with the numbers of segments whose speaker is known now. */
  readonly onSpeaker: (segments: readonly number[], speaker: number) => void;
}

/** Consecutive segments of one passage, whose voice is compared as a whole. */
interface Part {
  readonly passage: object;
  readonly segments: LiveSegment[];
  seconds: number;
}

/**
 * Finds the speakers of final segments while the session runs. A part of a turn that is long enough gets the most similar
 * known voice, or a new one. Voices are kept in memory alone.
 */
export class LiveSpeakers {
  readonly #options: LiveSpeakersOptions;
  readonly #voices = new KnownVoices();
  /** Parts whose voices are to be compared, in order. */
  readonly #waiting: Part[] = [];
  /** The part that grows. */
  #part: Part | null = null;
  /** The speaker of the part before, in the same passage. */
  #before: { readonly passage: object; readonly speaker: number } | null = null;

  constructor(options: LiveSpeakersOptions) {
    this.#options = options;
  }

  /** Whether all segments so far were compared. */
  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  /** Learns the voices of an earlier server again from its sound. @param segments those with a speaker */
  async restore(segments: readonly { readonly speaker: number; readonly span: Span }[]): Promise<void> {
    for (const [speaker, ofSpeaker] of Map.groupBy(segments, (segment) => segment.speaker)) {
      const longest = ofSpeaker.map(({ span }) => span).sort((a, b) => secondsOf(b) - secondsOf(a));
      const spans = longest.slice(0, RESTORED_SPANS);
      const seconds = Math.min(
        RESTORED_SECONDS,
        spans.reduce((sum, span) => sum + secondsOf(span), 0),
      );
      if (seconds > 0) this.#voices.restore(speaker, await this.#options.embed(spans), seconds);
    }
  }

  /** Adds a final segment. */
  add(passage: object, segment: LiveSegment): void {
    if (this.#part?.passage !== passage) this.endPassage();
    this.#part ??= { passage, segments: [], seconds: 0 };
    this.#part.segments.push(segment);
    this.#part.seconds += secondsOf(segment);
    if (this.#part.seconds >= SURE_SECONDS) this.endPassage();
  }

  /** Compares the segments so far, although there may be only a little speech. */
  endPassage(): void {
    if (this.#part !== null) this.#waiting.push(this.#part);
    this.#part = null;
  }

  /** Compares the next part. @returns whether there was one */
  async step(): Promise<boolean> {
    const part = this.#waiting[0];
    if (part === undefined) return false;
    const speaker = await this.#speakerOf(part);
    this.#waiting.shift();
    if (speaker === null) return true;
    this.#before = { passage: part.passage, speaker };
    this.#options.onSpeaker(
      part.segments.map(({ number }) => number),
      speaker,
    );
    return true;
  }

  /** Gives up the next part, whose voice could not be computed. */
  skip(): void {
    this.#waiting.shift();
  }

  async #speakerOf({ passage, segments, seconds }: Part): Promise<number | null> {
    const before = this.#before?.passage === passage ? this.#before.speaker : null;
    if (seconds < LEAST_SECONDS) return before;
    const embedding = await this.#options.embed(segments);
    if (seconds >= SURE_SECONDS) return this.#voices.speakerOf(embedding, seconds);
    return this.#voices.knownSpeakerOf(embedding) ?? before;
  }
}
