import { cleanText } from "../text/index.ts";
import { type CueFragment, cueFragments, withoutShortOverlap } from "./cue-fragments.ts";
import type { ExportDocument, ExportSegment } from "./document.ts";
import { CUE_LIMITS, splitCues } from "./split-cues.ts";

/** A subtitle cue. Starts never decrease, and each cue ends after it starts. Cues may overlap. */
export interface Cue {
  readonly startMilliseconds: number;
  readonly endMilliseconds: number;
  readonly speaker: number;
  /** One or two, of at most 42 columns, never empty. */
  readonly lines: readonly string[];
}

/** Minimum display time of a cue for readability, unless the next cue starts sooner. */
const MIN_CUE_MILLISECONDS = 1_000;

/**
 * Yields the subtitle cues of a transcript in order of time, split at word times within `CUE_LIMITS`. Each cue lies at
 * its words: where people speak at the same time, their cues overlap.
 */
export async function* toCues(document: Pick<ExportDocument, "segments" | "language">): AsyncGenerator<Cue> {
  const ends = new Map<number, number>();
  let pending: Cue | undefined;
  let previousStart = 0;
  for await (const cue of cuesInOrder(document)) {
    const { speaker } = cue;
    // A model produces the times: the end of a word may be a little late. A start is never far from its words.
    const wanted = withoutShortOverlap(cue.startMilliseconds, ends.get(speaker) ?? 0);
    const startMilliseconds = Math.max(wanted, previousStart);
    const endMilliseconds = Math.max(startMilliseconds + 1, cue.endMilliseconds);
    if (pending !== undefined) yield lengthened(pending, startMilliseconds);
    pending = { ...cue, startMilliseconds, endMilliseconds };
    previousStart = startMilliseconds;
    ends.set(speaker, endMilliseconds);
  }
  if (pending !== undefined) yield lengthened(pending, Number.POSITIVE_INFINITY);
}

/**
 * Yields the cues of all segments in order of their starts. In memory are the cues after the start of the current
 * segment, because no later segment has a word before its own start.
 */
async function* cuesInOrder({
  segments,
  language,
}: Pick<ExportDocument, "segments" | "language">): AsyncGenerator<Cue> {
  const later: Cue[] = [];
  for await (const segment of segments) {
    const isPast = ({ startMilliseconds }: Cue) => startMilliseconds <= segment.startMilliseconds;
    yield* later.splice(0, later.findLastIndex(isPast) + 1);
    for (const cue of cuesOf(segment, language)) {
      const isBefore = ({ startMilliseconds }: Cue) => startMilliseconds <= cue.startMilliseconds;
      later.splice(later.findLastIndex(isBefore) + 1, 0, cue);
    }
  }
  yield* later;
}

function lengthened(cue: Cue, nextStart: number): Cue {
  const wanted = Math.min(nextStart, cue.startMilliseconds + MIN_CUE_MILLISECONDS);
  return wanted > cue.endMilliseconds ? { ...cue, endMilliseconds: wanted } : cue;
}

function cuesOf(segment: ExportSegment, language: string | null): Cue[] {
  const text = cleanText(segment.text);
  if (text === "") return [];
  const { speaker } = segment;
  return runsInOrder(cueFragments(segment, text, { language, maxWidth: CUE_LIMITS.columns })).flatMap((fragments) =>
    splitCues(fragments).map(({ from, to, lineBreak }): Cue => {
      const start = fragments[from]?.startMilliseconds ?? 0;
      const end = fragments[to - 1]?.endMilliseconds ?? 0;
      const lines = [lineOf(fragments, from, lineBreak), lineOf(fragments, lineBreak, to)].filter(
        (line) => line !== "",
      );
      return {
        startMilliseconds: Math.round(start),
        endMilliseconds: Math.round(Math.min(end, start + CUE_LIMITS.milliseconds)),
        speaker,
        lines,
      };
    }),
  );
}

/** Divides fragments where one begins before the end of the previous one: no cue has words of both. */
function runsInOrder(fragments: readonly CueFragment[]): CueFragment[][] {
  const runs: CueFragment[][] = [];
  let reached = Number.POSITIVE_INFINITY;
  for (const fragment of fragments) {
    if (fragment.startMilliseconds < reached) runs.push([]);
    runs.at(-1)?.push(fragment);
    reached = fragment.endMilliseconds;
  }
  return runs;
}

function lineOf(fragments: readonly CueFragment[], from: number, to: number): string {
  return fragments
    .slice(from, to)
    .map((fragment) => fragment.text)
    .join("")
    .trim();
}
