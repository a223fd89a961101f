import { type Static, Type } from "@sinclair/typebox";
import { cleanText } from "../text/index.ts";

const wordParts = [Type.String(), Type.Number(), Type.Number(), Type.Number()] as const;
/**
 * A word as stored in the segments table: text, start and end in milliseconds, probability from 0 to 1, and false when
 * the probability is not comparable with Whisper's.
 */
const exportWordSchema = Type.Union([Type.Tuple([...wordParts]), Type.Tuple([...wordParts, Type.Literal(false)])]);

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

/** Schema of a client's choices about the form of an export. Each has a default, which depends on the format. */
export const exportLayoutSchema = Type.Object({
  /** How speakers are written: with their names, with letters, or not at all. */
  speakers: Type.Optional(Type.Union([Type.Literal("names"), Type.Literal("letters"), Type.Literal("none")])),
  /** Maximum columns of a line of subtitles. */
  width: Type.Optional(Type.Integer({ minimum: 10, maximum: 200 })),
  /** Maximum lines of a subtitle. */
  lines: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 })),
  /** Maximum words of a subtitle. */
  words: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  /** File name of the recording, for formats that name their media. */
  media: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, pattern: "^[^\\u0000-\\u001f\\u007f/\\\\\\ufffe\\uffff]+$" }),
  ),
});
export type ExportLayout = Static<typeof exportLayoutSchema>;

/** Schema of the facts about a recording that formats show. */
export const exportHeadSchema = Type.Object({
  /** The recording's id. */
  id: Type.String(),
  title: Type.Union([Type.String(), Type.Null()]),
  /** The uploaded file's name without its extension. */
  name: Type.Union([Type.String(), Type.Null()]),
  /** Milliseconds since the epoch. */
  createdAt: Type.Number(),
  durationSeconds: Type.Number(),
  /** ISO 639. */
  language: Type.Union([Type.String({ pattern: "^[a-z]{2,3}$" }), Type.Null()]),
  /** Display names, indexed by speaker. */
  speakers: Type.Array(Type.String()),
  layout: Type.Optional(exportLayoutSchema),
});
export type ExportHead = Static<typeof exportHeadSchema>;

/** A completed recording in the form that is exported. The segments are read once, in order. */
export interface ExportDocument extends ExportHead {
  readonly segments: AsyncIterable<ExportSegment> | Iterable<ExportSegment>;
}

/** Returns the heading of every format: the title, or the file's name if there is no title. */
export function documentTitle(head: ExportHead): string {
  return cleanText(head.title ?? "") || cleanText(head.name ?? "") || "Transcript";
}

/** Returns a speaker's display name, or a numbered name if there is none. */
export function speakerName(head: ExportHead, speaker: number): string {
  return cleanText(head.speakers[speaker] ?? "") || `Speaker ${speaker + 1}`;
}

/** Returns whether the layout of an export asks for speakers where the format has no field for them. */
export function asksForSpeakers({ layout }: ExportHead): boolean {
  return layout?.speakers === "names" || layout?.speakers === "letters";
}

/** Returns whether an export names the speakers. */
export function showsSpeakers({ layout }: ExportHead): boolean {
  return layout?.speakers !== "none";
}

/**
 * Returns the names with a number added to each repeated one, for formats that identify speakers by their names.
 */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let distinct = name;
    for (let number = 2; taken.has(distinct); number++) distinct = `${name}_${number}`;
    taken.add(distinct);
    return distinct;
  });
}

/** Returns the length of a recording as the API gives it: rounded to whole seconds. */
export function wholeSeconds({ durationSeconds }: Pick<ExportHead, "durationSeconds">): number {
  return Math.round(durationSeconds);
}

/** Returns the document's details as text, in the order in which every format shows them. */
export function documentDetails(head: ExportHead): { label: string; value: string }[] {
  const details = [
    { label: "Date", value: `${dateFormat.format(head.createdAt)} UTC` },
    { label: "Length", value: clockTime(wholeSeconds(head) * 1000) },
  ];
  if (head.language !== null) details.push({ label: "Language", value: languageInWords(head.language) });
  const names = head.speakers.map((_name, speaker) => speakerName(head, speaker));
  if (names.length > 0 && showsSpeakers(head))
    details.push({ label: names.length === 1 ? "Speaker" : "Speakers", value: names.join(", ") });
  return details;
}

/** Formats a time as `HH:MM:SS`, with whole seconds rounded down. */
export function clockTime(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}

/** Formats a time as `HH:MM:SS.mmm`, with the separator before the milliseconds that the format requires. */
export function timestamp(milliseconds: number, sign: "," | "."): string {
  return `${clockTime(milliseconds)}${sign}${String(milliseconds % 1000).padStart(3, "0")}`;
}

// The time is always UTC, so that the same record gives the same bytes on every machine.
const dateFormat = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

const languageNames = new Intl.DisplayNames(["en"], { type: "language" });

/** Returns the English name of a language, or its code if it has none. */
export function languageInWords(code: string): string {
  return languageNames.of(code) ?? code;
}
