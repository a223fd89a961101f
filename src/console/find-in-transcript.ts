import { setImmediate as othersTurn } from "node:timers/promises";
import { findAll, readSegments } from "../recordings/index.ts";
import type { Store } from "../storage/index.ts";
import type { Find } from "./contract/transcript.ts";

interface FindOptions {
  readonly q: string;
  readonly after: number;
  readonly limit: number;
}

const rowsAtOnce = 1000;

/**
 * Finds a text in a transcript, from segment `after` on, and counts all occurrences in the whole transcript. Searching
 * days of speech takes a few tenths of a second, so the loop yields to other requests between batches.
 */
export async function findInTranscript(
  store: Store,
  recordingId: string,
  { q, after, limit }: FindOptions,
): Promise<Find> {
  const matches: Find["matches"] = [];
  let total = 0;
  let next: number | null = null;
  for (let from = 0; ; from += rowsAtOnce) {
    const rows = readSegments(store, recordingId, from, rowsAtOnce);
    for (const { index, text, startMilliseconds } of rows) {
      const marks = findAll(text, q);
      total += marks.length;
      if (marks.length === 0 || index < after) continue;
      if (matches.length === limit) next ??= index;
      else matches.push({ segment: index, start: startMilliseconds / 1000, marks });
    }
    if (rows.length < rowsAtOnce) return { matches, total, next_after: next };
    await othersTurn();
  }
}
