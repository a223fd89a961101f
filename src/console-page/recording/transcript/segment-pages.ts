import { useEffect, useMemo, useState } from "preact/hooks";
import type { Segment, SegmentPage } from "../../../console/contract.ts";
import { ask, Refusal, retryMilliseconds, troubleOf } from "../../server.ts";

/** Number of segments per request. */
const pageSize = 200;

/** Loads and caches a recording's segments around the visible rows. */
export class SegmentPages {
  readonly #pages = new Map<number, readonly Segment[]>();
  readonly #asked = new Set<number>();
  readonly #failed = new Set<number>();
  readonly #ended = new AbortController();
  readonly #path: string;
  readonly #onChange: (trouble: string | null) => void;

  /**
   * @param onChange called when segments are loaded, or with the reason why they could not be loaded; callers that
   * still need them call `want` again
   */
  constructor(recordingId: string, onChange: (trouble: string | null) => void) {
    this.#path = `recordings/${recordingId}/segments`;
    this.#onChange = onChange;
  }

  /** Returns a segment; null if it is not loaded yet. */
  get(index: number): Segment | null {
    return this.#pages.get(Math.floor(index / pageSize))?.[index % pageSize] ?? null;
  }

  /** Loads the missing segments of a range. */
  want(first: number, last: number): void {
    for (let page = Math.floor(first / pageSize); page <= Math.floor(last / pageSize); page++) {
      if (!this.#asked.has(page)) void this.#fetch(page);
    }
  }

  /** Allows `want` to load failed pages again. */
  retry(): void {
    for (const page of this.#failed) this.#asked.delete(page);
    this.#failed.clear();
  }

  end(): void {
    this.#ended.abort();
  }

  async #fetch(page: number): Promise<void> {
    this.#asked.add(page);
    try {
      const path = `${this.#path}?after=${page * pageSize - 1}&limit=${pageSize}`;
      const { segments } = await ask<SegmentPage>(path, { signal: this.#ended.signal });
      this.#pages.set(page, segments);
      this.#onChange(null);
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      const trouble = troubleOf(error);
      this.#failed.add(page);
      this.#onChange(trouble);
      if (!(error instanceof Refusal) || !error.mayPass) return;
      await new Promise((resolve) => setTimeout(resolve, retryMilliseconds));
      if (this.#ended.signal.aborted) return;
      this.retry();
      this.#onChange(trouble);
    }
  }
}

/** Provides a recording's segments, and the error if they could not be loaded. */
export function useSegments(recordingId: string) {
  const [trouble, setTrouble] = useState<string | null>(null);
  const [, setArrivals] = useState(0);
  const segments = useMemo(
    () =>
      new SegmentPages(recordingId, (why) => {
        setTrouble(why);
        setArrivals((before) => before + 1);
      }),
    [recordingId],
  );
  useEffect(() => () => segments.end(), [segments]);
  const again = () => {
    segments.retry();
    setTrouble(null);
  };
  return { segments, trouble, again };
}
