import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { toCues } from "../../../src/exports/cues.ts";
import { hasRightToLeft } from "../../../src/exports/direction.ts";
import { clockTime } from "../../../src/exports/document.ts";
import { toWord, wordSchema } from "../../../src/exports/index.ts";
import { toTurns } from "../../../src/exports/turns.ts";
import { cleanText } from "../../../src/text/index.ts";
import type { Expected, Span } from "./documents.ts";

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** Schema of an entry that a reader finds: times in milliseconds, null for what the format or the reader does not have. */
export const entrySchema = Type.Object({
  start: nullable(Type.Integer()),
  end: nullable(Type.Integer()),
  speaker: nullable(Type.String()),
  text: nullable(Type.String()),
  words: Type.Optional(Type.Array(wordSchema)),
});
type Entry = Static<typeof entrySchema>;

function entry(start: number | null, end: number | null, speaker: string | null, text: string | null): Entry {
  return { start, end, speaker, text };
}

/** Returns a reader's result for a file without problems. */
const found = (entries: readonly Entry[]) => ({ entries, problem: null });
const entryOf = ([start, end, speaker, text]: Span) => entry(start, end, speaker, text);

/** Returns the segments as spans, with these names of speakers. */
function spans({ segments }: Expected, names: readonly string[]): Span[] {
  return segments.map(({ startMilliseconds, endMilliseconds, speaker, text }) => {
    return [startMilliseconds, endMilliseconds, names[speaker] ?? "", cleanText(text)];
  });
}

/** Returns the segments that have text as entries, with these names of speakers. */
function spoken(expected: Expected, names: readonly string[]): Entry[] {
  return spans(expected, names)
    .filter(([, , , text]) => text !== "")
    .map(entryOf);
}

/** Returns the entries of all tiers, one tier after the other. */
function onTiers(expected: Expected): Entry[] {
  if (expected.tiers !== undefined) return expected.tiers.map(entryOf);
  const { tiers } = expected.names;
  return tiers.flatMap((name) => spoken(expected, tiers).filter(({ speaker }) => speaker === name));
}

/** Returns what readers without packages must find in the exports of a transcript. */
export async function withoutPackages(expected: Expected) {
  const { document, segments, names } = expected;
  const cues = await Array.fromAsync(toCues(document));
  const whole = spoken(expected, names.shown);
  return {
    json: found(
      segments.map(({ startMilliseconds, endMilliseconds, speaker, text, words }) => ({
        ...entry(startMilliseconds, endMilliseconds, names.shown[speaker] ?? "", text.toWellFormed()),
        words: words.map(toWord),
      })),
    ),
    csv: found(whole),
    tsv: found(whole.map((each) => ({ ...each, speaker: null }))),
    eaf: found(onTiers(expected)),
    exb: found(onTiers(expected)),
    whisper: found(spans(expected, names.shown).map(entryOf)),
    podcast: found(
      cues.map(({ startMilliseconds, endMilliseconds, speaker, lines }) =>
        entry(startMilliseconds, endMilliseconds, names.shown[speaker] ?? "", lines.join(" ")),
      ),
    ),
  };
}

/** Returns what the packages must find in the exports of a transcript, except in PDF. */
export async function withPackages(expected: Expected) {
  const { document, names } = expected;
  const cues = await Array.fromAsync(toCues(document));
  const subtitles = cues.map(({ startMilliseconds, endMilliseconds, lines }) =>
    entry(startMilliseconds, endMilliseconds, null, lines.join("\\N")),
  );
  const voices = cues.map(({ startMilliseconds, endMilliseconds, speaker, lines }) =>
    entry(startMilliseconds, endMilliseconds, names.shown[speaker] ?? "", lines.join("\n")),
  );
  const turns = expected.turns ?? spans(expected, names.labels);
  const tiers = found(onTiers(expected));
  const speeches = await Array.fromAsync(toTurns(document.segments));
  const paragraphs = speeches.flatMap((turn) => [
    entry(null, null, "Heading 2", `${names.shown[turn.speaker]}   ${clockTime(turn.startMilliseconds)}`),
    entry(null, null, "Normal", turn.text),
  ]);
  return {
    "srt with pysubs2": found(subtitles),
    "vtt with pysubs2": found(subtitles),
    "vtt with webvtt-py": found(voices),
    // LRC has hundredths of a second.
    "lrc with lrcparser": found(
      spoken(expected, names.shown).map(({ start, text }) =>
        entry(Math.round((start ?? 0) / 10) * 10, null, null, text),
      ),
    ),
    "rttm with pyannote": found(turns.map(([start, end, label]) => entry(start, end, label, null))),
    "textgrid with praatio": tiers,
    "textgrid with Praat": tiers,
    "eaf with pympi": tiers,
    "docx with python-docx": found(paragraphs),
    "ttml with ttconv": found(voices.map((each) => ({ ...each, speaker: null }))),
    "md with markdown-it": found(
      speeches.map(({ speaker, startMilliseconds, text }) =>
        entry(null, null, `${names.shown[speaker]} [${clockTime(startMilliseconds)}]`, text),
      ),
    ),
  };
}

/** Invisible characters except the selectors and tags that belong to a character. */
const invisible = /(?!\p{Variation_Selector}|[\u{e0020}-\u{e007f}])\p{Default_Ignorable_Code_Point}/gu;

/** Returns the texts of entries as all readers agree on them: without blanks, line ends and most invisible characters. */
export function textOf(entries: readonly Pick<Entry, "text">[] = []): string {
  const text = entries.map((each) => each.text).join("");
  return text.replace(invisible, "").replace(/[\p{Noncharacter_Code_Point}\s]+/gu, "");
}

/**
 * Returns the texts that PDFium must find in order. It reorders texts of two directions.
 */
export async function inPdf({ document, names }: Expected): Promise<string[]> {
  const turns = await Array.fromAsync(toTurns(document.segments));
  return turns
    .flatMap((turn) => [`${names.shown[turn.speaker]}${clockTime(turn.startMilliseconds)}`, turn.text])
    .filter((text) => !hasRightToLeft(text))
    .map((text) => textOf([{ text }]));
}
