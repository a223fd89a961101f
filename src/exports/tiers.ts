import { cleanText } from "../text/index.ts";
import { withoutShortOverlap } from "./cue-fragments.ts";
import { distinctNames, type ExportDocument, speakerName } from "./document.ts";
import { joinSentences } from "./turns.ts";

/** A text at its time on a tier. */
export interface Annotation {
  readonly startMilliseconds: number;
  endMilliseconds: number;
  /** Cleaned text on one line, never empty. */
  text: string;
}

/** Annotations of one speaker, in order. Each has a duration, and they never overlap. */
export interface Tier {
  /** Name of the tier: the speaker's, with a number for further tiers. No other tier has the same name. */
  readonly name: string;
  /** Name of the speaker's first tier. */
  readonly speaker: string;
  readonly annotations: readonly Annotation[];
}

/** Maximum number of tiers of one speaker. A person may assign the words of many people to one speaker. */
const MAX_TIERS = 8;

/**
 * Reads a transcript into one tier for each speaker, at least one. A tier has no overlaps: a segment that overlaps
 * another one of its speaker, which only corrections cause, is on a further tier, at its own time. The formats with
 * tiers write one speaker after the other, so the whole text is in memory: some 10 MB for 18 hours with 20,000
 * segments.
 */
export async function readTiers(document: ExportDocument): Promise<Tier[]> {
  // A restored backup may have any number as a speaker, so the tiers are not indexed by it.
  const bySpeaker = new Map<number, Annotation[][]>(document.speakers.map((_name, speaker) => [speaker, [[]]]));
  for await (const { speaker, startMilliseconds, endMilliseconds, text } of document.segments) {
    const clean = cleanText(text);
    if (clean === "") continue;
    const tiers = bySpeaker.get(speaker) ?? [[]];
    bySpeaker.set(speaker, tiers);
    append(freeTier(tiers, startMilliseconds), startMilliseconds, endMilliseconds, clean);
  }
  if (bySpeaker.size === 0) bySpeaker.set(0, [[]]);
  const speakers = distinctNames([...bySpeaker.keys()].map((speaker) => speakerName(document, speaker)));
  const all = [...bySpeaker.values()].flatMap((tiers, index) =>
    tiers.map((annotations, further) => ({ speaker: speakers[index] ?? "", annotations, further })),
  );
  // Further tiers come last, and leave the names of the others as they are.
  all.sort((a, b) => Number(a.further > 0) - Number(b.further > 0));
  const names = distinctNames(all.map(({ speaker }) => speaker));
  return all.map(({ speaker, annotations }, index) => ({ name: names[index] ?? "", speaker, annotations }));
}

/** Returns the first of a speaker's tiers that is free at a time, adds one, or returns the first if there are many. */
function freeTier(tiers: Annotation[][], start: number): Annotation[] {
  const free = tiers.find((tier) => {
    const reached = tier.at(-1)?.endMilliseconds ?? 0;
    return withoutShortOverlap(start, reached) >= reached;
  });
  if (free !== undefined) return free;
  const [first = []] = tiers;
  const added: Annotation[] = [];
  if (tiers.length === MAX_TIERS) return first;
  tiers.push(added);
  return added;
}

/**
 * Appends an annotation after the end of the last one. If no time remains for it, its text is added to the last one, so
 * that no word is lost.
 */
function append(tier: Annotation[], start: number, end: number, text: string): void {
  const last = tier.at(-1);
  const startMilliseconds = Math.max(0, start, last?.endMilliseconds ?? 0);
  if (last !== undefined && end <= startMilliseconds) last.text = joinSentences(last.text, text);
  else tier.push({ startMilliseconds, endMilliseconds: Math.max(startMilliseconds + 1, end), text });
}

/** Returns the end of the time that tiers cover: the recording's end, or that of a later annotation. */
export function endOfTiers(document: ExportDocument, tiers: readonly Tier[]): number {
  const ends = tiers.map(({ annotations }) => annotations.at(-1)?.endMilliseconds ?? 0);
  return Math.max(1, Math.round(document.durationSeconds * 1000), ...ends);
}
