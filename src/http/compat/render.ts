import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { deflateSync } from "node:zlib";
import { Type } from "@sinclair/typebox";
import type { SegmentWithWords } from "../../segments/index.ts";
import { meetIn } from "../../text/index.ts";
import { speakerLabel } from "../../transcripts/index.ts";
import type { CompatTask } from "./form.ts";
import { languageName } from "./languages.ts";

const seconds = (description: string) => Type.Number({ minimum: 0, description });

/** The answers in JSON, for their documentation. `json` has the text and the usage only. */
export const openAiTranscriptSchema = Type.Object(
  {
    text: Type.String({ description: "The whole text." }),
    usage: Type.Object({ type: Type.Literal("duration"), seconds: Type.Integer({ minimum: 0 }) }),
    task: Type.Optional(Type.Union([Type.Literal("transcribe"), Type.Literal("translate")])),
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

/** A transcript or a translation to render. */
export interface Transcript {
  readonly task: CompatTask;
  /** Seconds; 0 if no audio could be decoded. */
  readonly durationSeconds: number;
  /** Language of the text, ISO 639; null if no speech was found and none was given. */
  readonly language: string | null;
  /** Reads the segments in order. An answer lists them several times: their texts, themselves, their words. */
  readonly segments: () => Iterable<SegmentWithWords>;
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
export async function* joinedSegments({ segments }: Pick<Transcript, "segments">): AsyncGenerator<JoinedSegment> {
  let last = "";
  let read = 0;
  for (const segment of segments()) {
    const needsSpace = last !== "" && !meetIn(unspaced, last, segment.text);
    yield { segment, text: needsSpace ? ` ${segment.text}` : segment.text };
    last = segment.text;
    if (++read % SEGMENTS_PER_BATCH === 0) await yieldToEventLoop();
  }
}

/** Parts of an answer. Joined, they are the answer; none of them grows with the transcript. */
export type Parts = AsyncGenerator<string>;

/** Yields the whole text of a transcript. @param end follows it */
export async function* renderText(transcript: Pick<Transcript, "segments">, end = ""): Parts {
  for await (const { text } of joinedSegments(transcript)) yield text;
  if (end !== "") yield end;
}

/** Yields the whole text as a string of JSON. */
async function* quotedText(transcript: Transcript): Parts {
  yield '"';
  for await (const text of renderText(transcript)) yield JSON.stringify(text).slice(1, -1);
  yield '"';
}

/** Yields a JSON array of the items of all segments. */
async function* listOf(transcript: Transcript, itemsOf: (joined: JoinedSegment) => readonly object[]): Parts {
  let separator = "[";
  for await (const joined of joinedSegments(transcript)) {
    const items = itemsOf(joined);
    if (items.length === 0) continue;
    yield separator + items.map((item) => JSON.stringify(item)).join(",");
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}

/** Details that accompany the text. The languages are those of gpt-transcribe's answer. */
interface TextDetails {
  readonly hasLogprobs: boolean;
  readonly hasLanguages: boolean;
}

/** Yields the body for `json`. */
export async function* renderJson(transcript: Transcript, details: TextDetails): Parts {
  yield '{"text":';
  yield* detailedText(transcript, details);
  yield usageOf(transcript);
}

/** Yields the last event of a stream, up to its closing brace. */
export async function* renderDone(transcript: Transcript, details: TextDetails): Parts {
  yield '{"type":"transcript.text.done","text":';
  yield* detailedText(transcript, details);
}

async function* detailedText(transcript: Transcript, { hasLogprobs, hasLanguages }: TextDetails): Parts {
  const { language } = transcript;
  yield* quotedText(transcript);
  if (hasLanguages) yield `,"languages":${JSON.stringify(language === null ? [] : [{ code: language }])}`;
  if (!hasLogprobs) return;
  yield ',"logprobs":';
  yield* listOf(transcript, ({ segment }) =>
    segment.words.map(([text, , , probability]) => toLogprob(text, probability)),
  );
}

/** Yields the body for `verbose_json`. */
export async function* renderVerboseJson(transcript: Transcript, hasWords: boolean): Parts {
  const { task, durationSeconds, language } = transcript;
  const name = language === null ? "unknown" : languageName(language);
  yield `{"task":"${task}","language":${JSON.stringify(name)},"duration":${durationSeconds},"text":`;
  yield* quotedText(transcript);
  yield ',"segments":';
  yield* listOf(transcript, ({ segment, text }) => [toVerboseSegment(segment, text)]);
  if (hasWords) {
    yield ',"words":';
    yield* listOf(transcript, ({ segment }) => segment.words.map(toWord));
  }
  yield usageOf(transcript);
}

/** Yields the body for `diarized_json`. */
export async function* renderDiarizedJson(transcript: Transcript): Parts {
  yield `{"task":"${transcript.task}","duration":${transcript.durationSeconds},"text":`;
  yield* quotedText(transcript);
  yield ',"segments":';
  yield* listOf(transcript, ({ segment }) => [toDiarizedSegment(segment)]);
  yield usageOf(transcript);
}

/** Details of the JSON of whisper-asr-webservice. */
interface AsrDetails {
  /** The spoken language, ISO 639, which Whisper names for a translation as well; null if no speech was found. */
  readonly spoken: string | null;
  readonly hasWords: boolean;
  readonly hasSpeakers: boolean;
}

/** Yields the JSON of whisper-asr-webservice: Whisper's segments, on request with their words and speakers. */
export async function* renderAsrJson(transcript: Transcript, { spoken, hasWords, hasSpeakers }: AsrDetails): Parts {
  yield '{"text":';
  yield* quotedText(transcript);
  yield ',"segments":';
  yield* listOf(transcript, ({ segment, text }) => {
    const words = hasWords ? { words: segment.words.map(toWhisperWord) } : {};
    const speaker = hasSpeakers ? { speaker: `SPEAKER_${String(segment.speaker).padStart(2, "0")}` } : {};
    return [{ ...toVerboseSegment(segment, text), ...words, ...speaker }];
  });
  yield `,"language":${JSON.stringify(spoken)}}`;
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
export function toLogprob(text: string, probability: number) {
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

/** Returns the usage, which ends an answer. */
function usageOf({ durationSeconds }: Transcript): string {
  return `,"usage":${JSON.stringify({ type: "duration", seconds: Math.ceil(durationSeconds) })}}`;
}
