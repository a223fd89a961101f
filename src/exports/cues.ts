import { cleanText } from "./clean-text.ts";
import { type CueFragment, cueFragments } from "./cue-fragments.ts";
import type { ExportDocument, ExportSegment } from "./document.ts";
import { cueLimits, splitCues } from "./split-cues.ts";

/** A subtitle cue. Starts never decrease, each cue ends after it starts, and cues of one speaker never overlap. */
export interface Cue {
  readonly startMilliseconds: number;
  readonly endMilliseconds: number;
  readonly speaker: number;
  /** One or two, of at most 42 columns, never empty. */
  readonly lines: readonly string[];
}

/** Minimum display time of a cue for readability, unless the next cue starts sooner. */
const readableMilliseconds = 1_000;

/** Yields the subtitle cues of a transcript, split at word times within `cueLimits`. */
export async function* toCues({
  segments,
  language,
}: Pick<ExportDocument, "segments" | "language">): AsyncGenerator<Cue> {
  const ends = new Map<number, number>();
  let waiting: Cue | undefined;
  let reached = 0;
  for await (const segment of segments) {
    for (const cue of cuesOf(segment, language)) {
      // A model produces the times. Starts are therefore kept in order, and a speaker's cue does not start before the
      // end of the previous one.
      const startMilliseconds = Math.max(cue.startMilliseconds, reached, ends.get(cue.speaker) ?? 0);
      const endMilliseconds = Math.max(startMilliseconds + 1, cue.endMilliseconds);
      const next = { ...cue, startMilliseconds, endMilliseconds };
      if (waiting !== undefined) yield lengthened(waiting, startMilliseconds);
      waiting = next;
      reached = startMilliseconds;
      ends.set(cue.speaker, endMilliseconds);
    }
  }
  if (waiting !== undefined) yield lengthened(waiting, Number.POSITIVE_INFINITY);
}

function lengthened(cue: Cue, nextStart: number): Cue {
  const wanted = Math.min(nextStart, cue.startMilliseconds + readableMilliseconds);
  return wanted > cue.endMilliseconds ? { ...cue, endMilliseconds: wanted } : cue;
}

function cuesOf(segment: ExportSegment, language: string | null): Cue[] {
  const text = cleanText(segment.text);
  if (text === "") return [];
  const fragments = cueFragments(segment, text, { language, maxWidth: cueLimits.columns });
  return splitCues(fragments).map(({ from, to, lineBreak }): Cue => {
    const start = fragments[from]?.startMilliseconds ?? segment.startMilliseconds;
    const end = fragments[to - 1]?.endMilliseconds ?? segment.endMilliseconds;
    const lines = [lineOf(fragments, from, lineBreak), lineOf(fragments, lineBreak, to)].filter((line) => line !== "");
    return {
      startMilliseconds: Math.round(start),
      endMilliseconds: Math.round(Math.min(end, start + cueLimits.milliseconds)),
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
