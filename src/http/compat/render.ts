import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { deflateSync } from "node:zlib";
import { Type } from "@sinclair/typebox";
import { type SegmentWithWords, speakerLabel } from "../../recordings/index.ts";
import { meetIn } from "../../text/index.ts";
import { languageName } from "./languages.ts";

const seconds = (description: string) => Type.Number({ minimum: 0, description });

/** The answers in JSON, for their documentation. `json` has the text and the usage only. */
export const openAiTranscriptSchema = Type.Object(
  {
    text: Type.String({ description: "The whole text." }),
    usage: Type.Object({ type: Type.Literal("duration"), seconds: Type.Integer({ minimum: 0 }) }),
    task: Type.Optional(Type.Literal("transcribe")),
    language: Type.Optional(
      Type.String({ description: "With `verbose_json`: the English name in lower case; `unknown` without speech." }),
    ),
    duration: Type.Optional(seconds("Length of the recording.")),
    segments: Type.Optional(
      Type.Array(
        Type.Object({
          start: seconds("Seconds from the beginning."),
          end: seconds("Seconds from the beginning."),
          speaker: Type.Optional(Type.String({ description: "With `diarized_json`: A, B and so on." })),
          text: Type.String(),
        }),
        { description: "Also has the fields of OpenAI's `verbose_json` or `diarized_json`." },
      ),
    ),
    words: Type.Optional(
      Type.Array(Type.Object({ word: Type.String(), start: seconds("Start."), end: seconds("End.") })),
    ),
    languages: Type.Optional(
      Type.Array(Type.Object({ code: Type.String() }), {
        description: "With the model `gpt-transcribe` and `json`: the language, if speech was found.",
      }),
    ),
    logprobs: Type.Optional(Type.Array(Type.Object({ token: Type.String(), logprob: Type.Number() }))),
  },
  { description: "A transcript in the form of OpenAI's API." },
);

/** A transcript to render. Its segments are read once, in order. */
export interface Transcript {
  /** Seconds; 0 if no audio could be decoded. */
  readonly durationSeconds: number;
  /** ISO 639; null if no speech was found and none was given. */
  readonly language: string | null;
  readonly segments: Iterable<SegmentWithWords>;
}

/** Number of segments after which the event loop runs: a few milliseconds of work. */
const SEGMENTS_PER_BATCH = 200;
/** Characters of scripts that are written without spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}、。！？]/u;
/** Frames of 10 ms in the window of 30 s that Whisper reads at once. */
const SEEK_FRAMES = 3000;

/** A segment, and its text with the space that separates it from the segment before: these texts join to the whole. */
interface JoinedSegment {
  readonly segment: SegmentWithWords;
  readonly text: string;
}

/** Yields the segments of a transcript, and lets other work run in between. */
export async function* joinedSegments(segments: Transcript["segments"]): AsyncGenerator<JoinedSegment> {
  let last = "";
  let read = 0;
  for (const segment of segments) {
    const needsSpace = last !== "" && !meetIn(unspaced, last, segment.text);
    yield { segment, text: needsSpace ? ` ${segment.text}` : segment.text };
    last = segment.text;
    if (++read % SEGMENTS_PER_BATCH === 0) await yieldToEventLoop();
  }
}

/** Returns the whole text of a transcript. */
export async function renderText({ segments }: Pick<Transcript, "segments">): Promise<string> {
  const texts = [];
  for await (const { text } of joinedSegments(segments)) texts.push(text);
  return texts.join("");
}

/** Returns the body for `json`. */
export async function renderJson(
  { durationSeconds, language, segments }: Transcript,
  { hasLogprobs, hasLanguages }: { readonly hasLogprobs: boolean; readonly hasLanguages: boolean },
): Promise<string> {
  const texts: string[] = [];
  const logprobs: ReturnType<typeof toLogprob>[] = [];
  for await (const { segment, text } of joinedSegments(segments)) {
    texts.push(text);
    if (hasLogprobs) logprobs.push(...segment.words.map(toLogprob));
  }
  return JSON.stringify({
    text: texts.join(""),
    ...(hasLanguages ? { languages: languagesOf(language) } : {}),
    ...(hasLogprobs ? { logprobs } : {}),
    usage: usageOf(durationSeconds),
  });
}

/** Returns the languages of a recording as the answer of gpt-transcribe has them. */
export function languagesOf(language: string | null) {
  return language === null ? [] : [{ code: language }];
}

/** Returns the body for `verbose_json`. */
export async function renderVerboseJson(transcript: Transcript, hasWords: boolean): Promise<string> {
  const { durationSeconds, language } = transcript;
  const texts: string[] = [];
  const segments: string[] = [];
  const words: string[] = [];
  for await (const { segment, text } of joinedSegments(transcript.segments)) {
    texts.push(text);
    segments.push(JSON.stringify(toVerboseSegment(segment, text)));
    if (hasWords) words.push(...segment.words.map((word) => JSON.stringify(toWord(word))));
  }
  const head = {
    task: "transcribe",
    language: language === null ? "unknown" : languageName(language),
    duration: durationSeconds,
    text: texts.join(""),
  };
  return objectOf(head, { segments, ...(hasWords ? { words } : {}) }, usageOf(durationSeconds));
}

/** Returns the body for `diarized_json`. */
export async function renderDiarizedJson({ durationSeconds, segments }: Transcript): Promise<string> {
  const texts: string[] = [];
  const rendered: string[] = [];
  for await (const { segment, text } of joinedSegments(segments)) {
    texts.push(text);
    rendered.push(JSON.stringify(toDiarizedSegment(segment)));
  }
  const head = { task: "transcribe", duration: durationSeconds, text: texts.join("") };
  return objectOf(head, { segments: rendered }, usageOf(durationSeconds));
}

/** Returns the JSON of whisper-asr-webservice: Whisper's segments, on request with their words and speakers. */
export async function renderAsrJson(
  { language, segments }: Transcript,
  { hasWords, hasSpeakers }: { readonly hasWords: boolean; readonly hasSpeakers: boolean },
): Promise<string> {
  const texts: string[] = [];
  const rendered: string[] = [];
  for await (const { segment, text } of joinedSegments(segments)) {
    texts.push(text);
    const words = hasWords ? { words: segment.words.map(toWhisperWord) } : {};
    const speaker = hasSpeakers ? { speaker: `SPEAKER_${String(segment.speaker).padStart(2, "0")}` } : {};
    rendered.push(JSON.stringify({ ...toVerboseSegment(segment, text), ...words, ...speaker }));
  }
  return `{"text":${JSON.stringify(texts.join(""))},"segments":[${rendered.join(",")}],"language":${JSON.stringify(language)}}`;
}

function toWhisperWord([word, start, end, probability]: SegmentWithWords["words"][number]) {
  return { word, start: start / 1000, end: end / 1000, probability };
}

/** Returns a segment with its speaker, as `diarized_json` and its stream show it. */
export function toDiarizedSegment({ index, startMilliseconds, endMilliseconds, speaker, text }: SegmentWithWords) {
  return {
    type: "transcript.text.segment",
    id: `seg_${index}`,
    start: startMilliseconds / 1000,
    end: endMilliseconds / 1000,
    speaker: speakerLabel(speaker),
    text,
  };
}

/** Returns the token of a word with its log probability. A word counts as one token. */
export function toLogprob([text, , , probability]: SegmentWithWords["words"][number]) {
  return { token: text, logprob: logOf(probability), bytes: [...Buffer.from(text)] };
}

function toVerboseSegment({ index, startMilliseconds, endMilliseconds, words }: SegmentWithWords, text: string) {
  const logs = words.map(([, , , probability]) => logOf(probability));
  return {
    id: index,
    seek: Math.floor(startMilliseconds / 10 / SEEK_FRAMES) * SEEK_FRAMES,
    start: startMilliseconds / 1000,
    end: endMilliseconds / 1000,
    text,
    // The tokens of a segment are not stored.
    tokens: [],
    temperature: 0,
    avg_logprob: logs.length === 0 ? 0 : round(logs.reduce((sum, log) => sum + log, 0) / logs.length),
    compression_ratio: compressionRatio(text),
    no_speech_prob: 0,
  };
}

function toWord([text, startMilliseconds, endMilliseconds]: SegmentWithWords["words"][number]) {
  return { word: text.trim(), start: startMilliseconds / 1000, end: endMilliseconds / 1000 };
}

/** Returns the ratio by which zlib compresses a text, by which clients detect repetitions. */
function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return round(bytes.length / deflateSync(bytes).length);
}

/** Log probabilities below this are shown as this: JSON has no infinity. */
const LEAST_LOGPROB = -9999;

function logOf(probability: number): number {
  return probability > 0 ? round(Math.log(probability)) : LEAST_LOGPROB;
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

function usageOf(durationSeconds: number) {
  return { type: "duration", seconds: Math.ceil(durationSeconds) };
}

/** Joins a JSON object from its first properties, from lists of rendered items, and from its usage. */
function objectOf(head: object, lists: Readonly<Record<string, readonly string[]>>, usage: object): string {
  const arrays = Object.entries(lists).map(([name, items]) => `"${name}":[${items.join(",")}]`);
  return `{${[JSON.stringify(head).slice(1, -1), ...arrays, `"usage":${JSON.stringify(usage)}`].join(",")}}`;
}
