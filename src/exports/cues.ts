import { cleanText } from "../text/index.ts";
import { type CueFragment, cueFragments, labelFragment, withoutShortOverlap } from "./cue-fragments.ts";
import { type ExportDocument, type ExportSegment, speakerName } from "./document.ts";
import { CUE_LIMITS, type CueLimits, splitCues } from "./split-cues.ts";

/** A subtitle cue. Starts never decrease, and each cue ends after it starts. Cues may overlap. */
export interface Cue {
  readonly startMilliseconds: number;
  readonly endMilliseconds: number;
  readonly speaker: number;
  /** One or two, of at most 42 columns by default, never empty. */
  readonly lines: readonly string[];
}

/** Minimum display time of a cue for readability, unless the next cue starts sooner. */
const MIN_CUE_MILLISECONDS = 1_000;

/**
 * Yields the subtitle cues of a transcript in order of time, split at word times within the limits of its layout. Each
 * cue lies at its words: where people speak at the same time, their cues overlap.
 * @param isLabelled whether the text of a segment begins with its speaker's name, if another speaker spoke before
 */
export async function* toCues(document: ExportDocument, isLabelled = false): AsyncGenerator<Cue> {
  const ends = new Map<number, number>();
  let pending: Cue | undefined;
  let previousStart = 0;
  for await (const cue of cuesInOrder(document, isLabelled)) {
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
async function* cuesInOrder(document: ExportDocument, isLabelled: boolean): AsyncGenerator<Cue> {
  const { segments, language, layout } = document;
  const limits: CueLimits = {
    columns: layout?.width ?? CUE_LIMITS.columns,
    milliseconds: CUE_LIMITS.milliseconds,
    lines: layout?.lines ?? CUE_LIMITS.lines,
    words: layout?.words ?? CUE_LIMITS.words,
  };
  const later: Cue[] = [];
  let labelled = -1;
  for await (const segment of segments) {
    const isPast = ({ startMilliseconds }: Cue) => startMilliseconds <= segment.startMilliseconds;
    yield* later.splice(0, later.findLastIndex(isPast) + 1);
    // Another speaker's cue may also be shown between those of this segment, or after its start.
    const isOther = segment.speaker !== labelled || later.some(({ speaker }) => speaker !== segment.speaker);
    const label = isLabelled && isOther ? speakerName(document, segment.speaker) : null;
    const cues = cuesOf(segment, { language, limits, label });
    if (cues.length > 0) labelled = segment.speaker;
    for (const cue of cues) {
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

interface CueOptions {
  readonly language: string | null;
  readonly limits: CueLimits;
  /** Name of the speaker before the text; null for none. */
  readonly label: string | null;
}

function cuesOf(segment: ExportSegment, { language, limits, label }: CueOptions): Cue[] {
  const text = cleanText(segment.text);
  if (text === "") return [];
  const { speaker } = segment;
  const maxWidth = limits.columns;
  // On one line, a label leaves half of it to the first word.
  const labelWidth = limits.lines > 1 ? maxWidth : Math.floor(maxWidth / 2);
  const width = label === null || limits.lines > 1 ? maxWidth : maxWidth - labelWidth - 1;
  const texts = cueFragments(segment, text, { language, maxWidth: width });
  const labels = label === null ? [] : [labelFragment(label, texts[0]?.startMilliseconds ?? 0, labelWidth)];
  return runsInOrder([...labels, ...texts]).flatMap((fragments) =>
    splitCues(fragments, limits).map(({ from, to, lineBreak }): Cue => {
      const start = fragments[from]?.startMilliseconds ?? 0;
      const end = fragments[to - 1]?.endMilliseconds ?? 0;
      const lines = [lineOf(fragments, from, lineBreak), lineOf(fragments, lineBreak, to)].filter(
        (line) => line !== "",
      );
      return {
        startMilliseconds: Math.round(start),
        endMilliseconds: Math.round(Math.min(end, start + limits.milliseconds)),
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
