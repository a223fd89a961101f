import { cleanText } from "../text/index.ts";
import { type CueFragment, cueFragments } from "./cue-fragments.ts";
import type { ExportDocument, ExportSegment } from "./document.ts";
import { CUE_LIMITS, splitCues } from "./split-cues.ts";

/** A subtitle cue. Starts never decrease, each cue ends after it starts, and cues of one speaker never overlap. */
export interface Cue {
  readonly startMilliseconds: number;
  readonly endMilliseconds: number;
  readonly speaker: number;
  /** One or two, of at most 42 columns, never empty. */
  readonly lines: readonly string[];
}

/** Minimum display time of a cue for readability, unless the next cue starts sooner. */
const MIN_CUE_MILLISECONDS = 1_000;

/** Yields the subtitle cues of a transcript, split at word times within `CUE_LIMITS`. */
export async function* toCues({
  segments,
  language,
}: Pick<ExportDocument, "segments" | "language">): AsyncGenerator<Cue> {
  const ends = new Map<number, number>();
  let pending: Cue | undefined;
  let previousStart = 0;
  for await (const segment of segments) {
    for (const cue of cuesOf(segment, language)) {
      // A model produces the times. Starts are therefore put in order, and a speaker's cue does not start before the
      // end of the previous one.
      const startMilliseconds = Math.max(cue.startMilliseconds, previousStart, ends.get(cue.speaker) ?? 0);
      const endMilliseconds = Math.max(startMilliseconds + 1, cue.endMilliseconds);
      const next = { ...cue, startMilliseconds, endMilliseconds };
      if (pending !== undefined) yield lengthened(pending, startMilliseconds);
      pending = next;
      previousStart = startMilliseconds;
      ends.set(cue.speaker, endMilliseconds);
    }
  }
  if (pending !== undefined) yield lengthened(pending, Number.POSITIVE_INFINITY);
}

function lengthened(cue: Cue, nextStart: number): Cue {
  const wanted = Math.min(nextStart, cue.startMilliseconds + MIN_CUE_MILLISECONDS);
  return wanted > cue.endMilliseconds ? { ...cue, endMilliseconds: wanted } : cue;
}

function cuesOf(segment: ExportSegment, language: string | null): Cue[] {
  const text = cleanText(segment.text);
  if (text === "") return [];
  const fragments = cueFragments(segment, text, { language, maxWidth: CUE_LIMITS.columns });
  return splitCues(fragments).map(({ from, to, lineBreak }): Cue => {
    const start = fragments[from]?.startMilliseconds ?? segment.startMilliseconds;
    const end = fragments[to - 1]?.endMilliseconds ?? segment.endMilliseconds;
    const lines = [lineOf(fragments, from, lineBreak), lineOf(fragments, lineBreak, to)].filter((line) => line !== "");
    return {
      startMilliseconds: Math.round(start),
      endMilliseconds: Math.round(Math.min(end, start + CUE_LIMITS.milliseconds)),
      speaker: segment.speaker,
      lines,
    };
  });
}

function lineOf(fragments: readonly CueFragment[], from: number, to: number): string {
  return fragments
    .slice(from, to)
    .map((fragment) => fragment.text)
    .join("")
    .trim();
}
