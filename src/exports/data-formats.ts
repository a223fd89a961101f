import { type Static, Type } from "@sinclair/typebox";
import { cleanText } from "../text/index.ts";
import { distinctNames, documentTitle, type ExportDocument, type ExportSegment, speakerName } from "./document.ts";

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const time = Type.Number({ minimum: 0, description: "Seconds from the beginning of the recording." });

/** A word in the form of the API. */
export const wordSchema = Type.Object(
  {
    text: Type.String({ description: "The word with its punctuation, without surrounding space." }),
    start: time,
    end: time,
    probability: Type.Number({
      minimum: 0,
      maximum: 1,
      description: "How sure the model is of the word, from 0 to 1.",
    }),
    calibrated: Type.Optional(
      Type.Literal(false, {
        description:
          "Present if the model's probabilities are not calibrated, so that no limit for uncertain words is known.",
      }),
    ),
  },
  { description: "A word of a segment." },
);

/** Returns a stored word in the form of the API. */
export function toWord(word: ExportSegment["words"][number]): Static<typeof wordSchema> {
  const [text, start, end, probability, calibrated] = word;
  const shown = { text: text.toWellFormed().trim(), start: start / 1000, end: end / 1000, probability };
  return calibrated === false ? { ...shown, calibrated } : shown;
}

const segmentSchema = Type.Object({
  index: Type.Integer({ minimum: 0, description: "Position in the transcript, from 0." }),
  start: time,
  end: time,
  speaker: Type.String({ description: "Name of the speaker." }),
  text: Type.String({ description: "The text, without surrounding space." }),
  words: Type.Array(wordSchema, { description: "The words in their order." }),
});

const recordingSchema = Type.Object({
  id: Type.String(),
  title: nullable("The title, if there is one."),
  name: nullable("Name of the uploaded file without its extension; null for a link."),
  created_at: Type.String({ format: "date-time" }),
  duration: Type.Number({ minimum: 0, description: "Length in seconds." }),
});

const languageSchema = nullable("ISO 639-1 code, or ISO 639-3 if there is none.");

/** Schema of the JSON format. */
export const jsonExportSchema = Type.Object({
  recording: recordingSchema,
  language: languageSchema,
  segments: Type.Array(segmentSchema),
});

/**
 * Writes JSON: facts of the recording, the language, and the segments in the form of the API, with their words. Texts
 * are those of the API, because JSON can hold every character.
 */
export async function* writeJson(document: ExportDocument): AsyncGenerator<string> {
  const recording: Static<typeof recordingSchema> = {
    id: document.id,
    title: document.title?.toWellFormed() ?? null,
    name: document.name?.toWellFormed() ?? null,
    created_at: new Date(document.createdAt).toISOString().replace("Z", "+00:00"),
    duration: Math.round(document.durationSeconds * 1000) / 1000,
  };
  yield `{"recording":${JSON.stringify(recording)},\n"language":${JSON.stringify(document.language)},\n"segments":[`;
  let index = 0;
  for await (const segment of document.segments) {
    const resource: Static<typeof segmentSchema> = {
      index,
      start: segment.startMilliseconds / 1000,
      end: segment.endMilliseconds / 1000,
      speaker: speakerName(document, segment.speaker),
      text: segment.text.toWellFormed(),
      words: segment.words.map(toWord),
    };
    yield `${index === 0 ? "" : ","}\n${JSON.stringify(resource)}`;
    index++;
  }
  yield "\n]}\n";
}

/**
 * Writes comma-separated values (RFC 4180), one line for each segment, times in seconds. Texts are unchanged, also those
 * that a spreadsheet takes for a formula: an apostrophe before them would alter the text for every other program.
 */
export async function* writeCsv(document: ExportDocument): AsyncGenerator<string> {
  yield "start,end,speaker,text\r\n";
  for await (const segment of document.segments) {
    const text = cleanText(segment.text);
    if (text === "") continue;
    const fields = [
      seconds(segment.startMilliseconds),
      seconds(segment.endMilliseconds),
      speakerName(document, segment.speaker),
      text,
    ];
    yield `${fields.map(csvField).join(",")}\r\n`;
  }
}

function csvField(text: string): string {
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Writes tab-separated values in the form of Whisper's own program, times in milliseconds. That form has no column for
 * speakers.
 */
export async function* writeTsv(document: ExportDocument): AsyncGenerator<string> {
  yield "start\tend\ttext\n";
  for await (const segment of document.segments) {
    const text = cleanText(segment.text);
    if (text !== "") yield `${segment.startMilliseconds}\t${segment.endMilliseconds}\t${text}\n`;
  }
}

/**
 * Writes Rich Transcription Time Marked (NIST RT-09), one line for each segment. Lines of one speaker never overlap,
 * because scorers count every line.
 */
export async function* writeRttm(document: ExportDocument): AsyncGenerator<string> {
  const file = rttmField(documentTitle(document));
  const names = distinctNames(document.speakers.map((_name, speaker) => rttmField(speakerName(document, speaker))));
  const ends = new Map<number, number>();
  for await (const segment of document.segments) {
    const { speaker, endMilliseconds } = segment;
    const start = Math.max(segment.startMilliseconds, ends.get(speaker) ?? 0);
    if (endMilliseconds <= start) continue;
    ends.set(speaker, endMilliseconds);
    const name = names[speaker] ?? rttmField(speakerName(document, speaker));
    yield `SPEAKER ${file} 1 ${seconds(start)} ${seconds(endMilliseconds - start)} <NA> <NA> ${name} <NA> <NA>\n`;
  }
}

/** Words that programs which read tables (pandas, and pyannote with it) take for a missing value. */
const missingValue = /^(#?n\/?a|-?nan|null|none)$/i;

/**
 * Returns a text as one field of RTTM. Fields are separated by blanks, angle brackets mark missing values, and programs
 * that read tables take quotation marks for quotes around a field.
 */
function rttmField(text: string): string {
  const field = text.replace(/[\s<>"]+/g, "_");
  return missingValue.test(field) ? `${field}_` : field;
}

/** Formats a time in seconds with three decimals. */
function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}
