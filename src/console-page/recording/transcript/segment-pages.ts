import { useEffect, useMemo, useState } from "preact/hooks";
import type { Segment, SegmentPage } from "../../../console/contract.ts";
import { messageOf, RETRY_MILLISECONDS, RequestError, requestJson } from "../../server.ts";

/** Number of segments per request. */
const SEGMENTS_PER_REQUEST = 200;

/** Loads and caches a recording's segments around the visible rows. */
export class SegmentPages {
  readonly #pages = new Map<number, readonly Segment[]>();
  readonly #requested = new Set<number>();
  readonly #failed = new Set<number>();
  readonly #aborted = new AbortController();
  readonly #path: string;
  readonly #onChange: (problem: string | null) => void;

  /**
   * @param onChange called with null when segments are loaded, or with the message of the error. Callers that still need
   * the segments call `load` again
   */
  constructor(recordingId: string, onChange: (problem: string | null) => void) {
    this.#path = `recordings/${recordingId}/segments`;
    this.#onChange = onChange;
  }

  /** Returns a segment; null if it is not loaded yet. */
  get(index: number): Segment | null {
    return this.#pages.get(Math.floor(index / SEGMENTS_PER_REQUEST))?.[index % SEGMENTS_PER_REQUEST] ?? null;
  }

  /** Loads the missing segments of a range. */
  load(first: number, last: number): void {
    for (let page = Math.floor(first / SEGMENTS_PER_REQUEST); page <= Math.floor(last / SEGMENTS_PER_REQUEST); page++) {
      if (!this.#requested.has(page)) void this.#fetch(page);
    }
  }

  /** Allows `load` to load failed pages again. */
  retry(): void {
    for (const page of this.#failed) this.#requested.delete(page);
    this.#failed.clear();
  }

  end(): void {
    this.#aborted.abort();
  }

  async #fetch(page: number): Promise<void> {
    this.#requested.add(page);
    try {
      const path = `${this.#path}?after=${page * SEGMENTS_PER_REQUEST - 1}&limit=${SEGMENTS_PER_REQUEST}`;
      const { segments } = await requestJson<SegmentPage>(path, { signal: this.#aborted.signal });
      this.#pages.set(page, segments);
      this.#onChange(null);
    } catch (error) {
      if (this.#aborted.signal.aborted) return;
      const problem = messageOf(error);
      this.#failed.add(page);
      this.#onChange(problem);
      if (!(error instanceof RequestError) || !error.isTemporary) return;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
      if (this.#aborted.signal.aborted) return;
      this.retry();
      this.#onChange(problem);
    }
  }
}

/** Provides a recording's segments, and the error if they could not be loaded. */
export function useSegments(recordingId: string) {
  const [problem, setProblem] = useState<string | null>(null);
  const [, setArrivals] = useState(0);
  const segments = useMemo(
    () =>
      new SegmentPages(recordingId, (message) => {
        setProblem(message);
        setArrivals((before) => before + 1);
      }),
    [recordingId],
  );
  useEffect(() => () => segments.end(), [segments]);
  const retry = () => {
    segments.retry();
    setProblem(null);
  };
  return { segments, problem, retry };
}
