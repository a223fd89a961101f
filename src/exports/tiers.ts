import { cleanText } from "../text/index.ts";
import { distinctNames, type ExportDocument, speakerName } from "./document.ts";
import { joinSentences } from "./turns.ts";

/** A text at its time on a tier. */
export interface Annotation {
  readonly startMilliseconds: number;
  endMilliseconds: number;
  /** Cleaned text on one line, never empty. */
  text: string;
}

/** The annotations of one speaker, in order. Each has a duration, and they never overlap. */
export interface Tier {
  /** Display name of the speaker; no other tier has the same name. */
  readonly name: string;
  readonly annotations: readonly Annotation[];
}

/**
 * Reads a transcript into one tier for each speaker, at least one. The formats with tiers write one speaker after the
 * other, so the whole text is in memory: some 10 MB for 18 hours with 20,000 segments.
 */
export async function readTiers(document: ExportDocument): Promise<Tier[]> {
  // A restored backup may have any number as a speaker, so the tiers are not indexed by it.
  const bySpeaker = new Map<number, Annotation[]>(document.speakers.map((_name, speaker) => [speaker, []]));
  for await (const { speaker, startMilliseconds, endMilliseconds, text } of document.segments) {
    const clean = cleanText(text);
    if (clean === "") continue;
    const annotations = bySpeaker.get(speaker) ?? [];
    bySpeaker.set(speaker, annotations);
    append(annotations, startMilliseconds, endMilliseconds, clean);
  }
  if (bySpeaker.size === 0) bySpeaker.set(0, []);
  const names = distinctNames([...bySpeaker.keys()].map((speaker) => speakerName(document, speaker)));
  return [...bySpeaker.values()].map((annotations, index) => ({ name: names[index] ?? "", annotations }));
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
