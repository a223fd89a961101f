import { useEffect, useMemo, useState } from "preact/hooks";
import type { Mark, Outline, Segment, SegmentPage, Splice } from "../../../contract/index.ts";
import { call, messageOf, RETRY_MILLISECONDS, RequestError } from "../../server.ts";

/** Number of segments per request. */
const SEGMENTS_PER_REQUEST = 200;
/** Number of attempts to load a single segment. */
const MAX_ATTEMPTS = 3;

/** A change of the segments, for views that keep something for each of them. */
type SegmentsChange =
  | { readonly kind: "splice"; readonly index: number; readonly removed: number; readonly added: number }
  /** All segments may be others. */
  | { readonly kind: "reset" };

/** Actions that other components can call on the transcript. */
export interface TranscriptActions {
  /** Scrolls to a place, or to a whole segment, and stops following the playback. */
  show(segment: number, mark: Mark | null): void;
  /** Follows the playback again. */
  follow(): void;
  /** Returns a segment; null if it is not loaded yet. */
  segment(index: number): Segment | null;
}

/**
 * A transcript as the page shows it: the outline of all segments, and the segments around the visible rows. Corrections
 * by this page and by others are applied to it.
 */
export class TranscriptData {
  readonly #id: string;
  readonly #aborted = new AbortController();
  readonly #listeners = new Set<(change: SegmentsChange) => void>();
  readonly #requested = new Set<number>();
  #outline: Outline | null = null;
  #segments: (Segment | undefined)[] = [];
  #problem: string | null = null;
  /** Index of the first segment that is needed. */
  #shown = 0;
  /** Called after every change. */
  onChange: () => void = () => {};
  /** Called when a response shows that others have changed the transcript. */
  onStale: () => void = () => {};

  constructor(recordingId: string) {
    this.#id = recordingId;
    void this.#loadFirst();
  }

  /** Null until it is loaded. It is replaced by another object after each change. */
  get outline(): Outline | null {
    return this.#outline;
  }

  /** Number of the revision that is shown. */
  get revision(): number {
    return this.#outline?.revision ?? 0;
  }

  /** Message of the last error; null if there was none. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Returns a segment; null if it is not loaded yet. */
  get(index: number): Segment | null {
    return this.#segments[index] ?? null;
  }

  /** Returns the position of a loaded segment; -1 if it is not loaded, or gone. */
  indexOf(id: number): number {
    return this.#segments.findIndex((segment) => segment?.id === id);
  }

  /** Loads the missing segments of a range. */
  load(first: number, last: number): void {
    this.#shown = first;
    for (let index = first; index <= last; index++) {
      if (this.#segments[index] === undefined && !this.#isRequested(index)) void this.#fetch(index);
    }
  }

  /** Returns a segment as soon as it is loaded; null if there is none, or it can't be loaded. */
  async loaded(index: number): Promise<Segment | null> {
    // A response is discarded if the transcript has changed meanwhile.
    for (let attempt = 0; attempt < MAX_ATTEMPTS && this.get(index) === null; attempt++) {
      if (index < 0 || index >= this.#segments.length) return null;
      await this.#fetch(index);
    }
    return this.get(index);
  }

  /** Loads again what failed to load. */
  retry(): void {
    this.#requested.clear();
    this.#setProblem(null);
    if (this.#outline === null) void this.#loadFirst();
  }

  /** Calls `listener` for each change of the segments. Returns a function that removes it. */
  onSegments(listener: (change: SegmentsChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Applies changes that lead to a revision. */
  apply(splices: readonly Splice[], revision: number): void {
    const outline = this.#outline;
    if (outline === null) return;
    for (const { index, removed, segments } of splices) {
      this.#segments.splice(index, removed, ...segments);
      outline.start_milliseconds.splice(index, removed, ...segments.map(({ start }) => Math.round(start * 1000)));
      outline.end_milliseconds.splice(index, removed, ...segments.map(({ end }) => Math.round(end * 1000)));
      outline.speaker.splice(index, removed, ...segments.map(({ speaker }) => speakerIndex(speaker)));
      outline.characters.splice(index, removed, ...segments.map(({ text }) => text.length));
      this.#tell({ kind: "splice", index, removed, added: segments.length });
    }
    // Requests in progress may bring segments of before.
    this.#requested.clear();
    this.#outline = { ...outline, revision };
    this.onChange();
  }

  /** Loads the transcript anew, and shows it when the segments are there that were needed last. */
  async reload(): Promise<void> {
    const first = Math.max(0, this.#shown - SEGMENTS_PER_REQUEST / 2);
    const signal = this.#aborted.signal;
    const [outline, page] = await Promise.all([this.#requestOutline(signal), this.#requestSegments(first, signal)]);
    if (outline.revision !== page.revision) return this.reload();
    this.#segments = new Array(outline.characters.length);
    page.segments.forEach((segment, place) => {
      this.#segments[first + place] = segment;
    });
    this.#requested.clear();
    this.#outline = outline;
    this.#tell({ kind: "reset" });
    this.onChange();
  }

  end(): void {
    this.#aborted.abort();
    this.#listeners.clear();
  }

  #isRequested(index: number): boolean {
    for (const first of this.#requested) if (index >= first && index < first + SEGMENTS_PER_REQUEST) return true;
    return false;
  }

  async #loadFirst(): Promise<void> {
    await this.#attempt(async (signal) => {
      this.#outline = await this.#requestOutline(signal);
      this.#segments = new Array(this.#outline.characters.length);
    });
  }

  #requestSegments(first: number, signal: AbortSignal): Promise<SegmentPage> {
    const query = { after: String(first - 1), limit: SEGMENTS_PER_REQUEST };
    return call("segments", { id: this.#id, query }, signal);
  }

  /** Loads the outline of all segments, which the server sends in parts. */
  async #requestOutline(signal: AbortSignal): Promise<Outline> {
    const load = (after: number) => call("outline", { id: this.#id, query: { after } }, signal);
    const whole = await load(0);
    for (let next = whole.next_after; next !== null; ) {
      const part = await load(next);
      // Somebody has changed the transcript meanwhile.
      if (part.revision !== whole.revision) return this.#requestOutline(signal);
      for (const name of ["start_milliseconds", "end_milliseconds", "speaker", "characters"] as const) {
        whole[name] = whole[name].concat(part[name]);
      }
      next = part.next_after;
    }
    return whole;
  }

  async #fetch(first: number): Promise<void> {
    this.#requested.add(first);
    await this.#attempt(async (signal) => {
      const { revision } = this;
      const page = await this.#requestSegments(first, signal);
      // After a failure it counts as requested until the retry. Long segments come in smaller pages, so that a view
      // requests the next ones when it is rendered again.
      this.#requested.delete(first);
      if (page.revision !== this.revision) this.onStale();
      if (page.revision !== revision || revision !== this.revision) return;
      page.segments.forEach((segment, place) => {
        this.#segments[first + place] ??= segment;
      });
    });
  }

  /** Runs a request. After a temporary failure, whoever still needs the data requests it again after a delay. */
  async #attempt(run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#aborted;
    try {
      await run(signal);
      this.#setProblem(null);
    } catch (error) {
      if (signal.aborted) return;
      this.#setProblem(messageOf(error));
      if (error instanceof RequestError && error.isTemporary) setTimeout(() => this.#retryLater(), RETRY_MILLISECONDS);
    }
  }

  #retryLater(): void {
    if (!this.#aborted.signal.aborted) this.retry();
  }

  #setProblem(problem: string | null): void {
    this.#problem = problem;
    this.onChange();
  }

  #tell(change: SegmentsChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

/** Returns the position of a speaker: `A` is 0, `Z` is 25, `AA` is 26. */
function speakerIndex(label: string): number {
  return [...label].reduce((index, letter) => (index + 1) * 26 + letter.charCodeAt(0) - 65, -1);
}

/** Provides a recording's transcript, and renders again after each change of it. */
export function useTranscriptData(recordingId: string): TranscriptData {
  const [, setChanges] = useState(0);
  const data = useMemo(() => new TranscriptData(recordingId), [recordingId]);
  useEffect(() => {
    data.onChange = () => setChanges((before) => before + 1);
    setChanges((before) => before + 1);
    return () => data.end();
  }, [data]);
  return data;
}
