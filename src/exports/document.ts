import { type Static, Type } from "@sinclair/typebox";
import { cleanText } from "./clean-text.ts";

/** A word as the segments table keeps it: text, start and end in milliseconds, probability from 0 to 1. */
const exportWordSchema = Type.Tuple([Type.String(), Type.Number(), Type.Number(), Type.Number()]);

/** A stored segment with its words; starts never decrease. */
export const exportSegmentSchema = Type.Object({
  startMilliseconds: Type.Number(),
  endMilliseconds: Type.Number(),
  /** Zero-based in order of first appearance. */
  speaker: Type.Integer({ minimum: 0 }),
  text: Type.String(),
  words: Type.Array(exportWordSchema),
});
export type ExportSegment = Static<typeof exportSegmentSchema>;

/** What stands above a transcript. */
export const exportHeadSchema = Type.Object({
  title: Type.Union([Type.String(), Type.Null()]),
  /** The uploaded file's name without its extension. */
  name: Type.Union([Type.String(), Type.Null()]),
  /** Milliseconds since the epoch. */
  createdAt: Type.Number(),
  durationSeconds: Type.Number(),
  /** ISO 639. */
  language: Type.Union([Type.String({ pattern: "^[a-z]{2,3}$" }), Type.Null()]),
  /** Display names by the speakers' indexes. */
  speakers: Type.Array(Type.String()),
});
export type ExportHead = Static<typeof exportHeadSchema>;

/** A completed recording as it is exported; the segments are read once, from the first to the last. */
export interface ExportDocument extends ExportHead {
  readonly segments: AsyncIterable<ExportSegment> | Iterable<ExportSegment>;
}

/** The heading of every format: the title, else the file's name. */
export function documentTitle(head: ExportHead): string {
  return cleanText(head.title ?? "") || cleanText(head.name ?? "") || "Transcript";
}

/** A speaker's display name; one that has none is numbered. */
export function speakerName(head: ExportHead, speaker: number): string {
  return cleanText(head.speakers[speaker] ?? "") || `Speaker ${speaker + 1}`;
}

/** The document's facts in words, in the order in which every format shows them. */
export function documentDetails(head: ExportHead): { label: string; value: string }[] {
  const details = [
    { label: "Date", value: dateInWords(head.createdAt) },
    { label: "Length", value: clockTime(head.durationSeconds * 1000) },
  ];
  if (head.language !== null) details.push({ label: "Language", value: languageInWords(head.language) });
  const names = head.speakers.map((_name, speaker) => speakerName(head, speaker));
  if (names.length > 0) details.push({ label: names.length === 1 ? "Speaker" : "Speakers", value: names.join(", ") });
  return details;
}

/** `HH:MM:SS`, whole seconds rounded down. */
export function clockTime(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}

const dateFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

// Always UTC: the same record gives the same bytes wherever it is exported.
function dateInWords(milliseconds: number): string {
  return `${dateFormat.format(milliseconds)} UTC`;
}

const languageNames = new Intl.DisplayNames(["en"], { type: "language" });

function languageInWords(code: string): string {
  return languageNames.of(code) ?? code;
}
