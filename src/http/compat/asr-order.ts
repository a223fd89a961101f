import { type Static, Type } from "@sinclair/typebox";
import { wavHeader } from "../../media/index.ts";
import { HintError, type Hints, parseHints } from "../../text/index.ts";
import { readQuery } from "../shared/query.ts";
import type { FormParts } from "../shared/upload/index.ts";
import { type CompatTask, flagOf, promptOf } from "./form.ts";
import { invalidParam } from "./openai-error.ts";

const outputSchema = Type.Union((["txt", "json", "vtt", "srt", "tsv"] as const).map((output) => Type.Literal(output)));

const parameter = Type.Optional(Type.String());
/** The parameters that have a meaning. Each may be empty, which means its default. */
const asrQuery = Type.Object({
  task: parameter,
  language: parameter,
  initial_prompt: parameter,
  // Names and terms, which speakr sends.
  hotwords: parameter,
  word_timestamps: parameter,
  diarize: parameter,
  min_speakers: parameter,
  max_speakers: parameter,
  output: parameter,
  encode: parameter,
});

/** A transcription that a client of whisper-asr-webservice asks for. */
export interface AsrOrder {
  readonly task: CompatTask;
  /** A name as sent; null for language detection. */
  readonly language: string | null;
  readonly hints: Hints;
  readonly output: Static<typeof outputSchema>;
  readonly hasWords: boolean;
  readonly hasSpeakers: boolean;
  /** Whether the file is samples without a header: 16 kHz, 16 bits, mono. */
  readonly isRaw: boolean;
}

/** Reads the query of a request. @throws {ApiError} with the parameter that is not valid */
export function readAsrOrder(request: Request): AsrOrder {
  const query = readQuery(request, asrQuery);
  const task = query.task || "transcribe";
  if (task !== "transcribe" && task !== "translate") {
    throw invalidParam("task", "It must be transcribe or translate.");
  }
  const sent = query.output || "txt";
  const output = outputSchema.anyOf.find((choice) => choice.const === sent)?.const;
  if (output === undefined) throw invalidParam("output", "It must be one of txt, json, vtt, srt, tsv.");
  const language = query.language?.trim() ?? "";
  return {
    task,
    language: language === "" || language.toLowerCase() === "auto" ? null : language,
    hints: { ...speakersOf(query), prompt: promptOf(`${query.initial_prompt ?? ""}\n${query.hotwords ?? ""}`) },
    output,
    hasWords: flagOf("word_timestamps", query.word_timestamps),
    hasSpeakers: flagOf("diarize", query.diarize),
    isRaw: !flagOf("encode", query.encode || "true"),
  };
}

/** Name of the part with the recording. */
export const FILE_PART = "audio_file";

/** Returns the parts of a form. Samples without a header get one, so that ffmpeg reads them as a WAV file. */
export function asrParts({ isRaw }: Pick<AsrOrder, "isRaw">): FormParts {
  return { file: FILE_PART, once: [], ...(isRaw ? { header: (sentBytes) => wavHeader(sentBytes) } : {}) };
}

function speakersOf({ min_speakers, max_speakers }: Static<typeof asrQuery>): Hints {
  try {
    return parseHints({
      ...(min_speakers ? { min_speakers } : {}),
      ...(max_speakers ? { max_speakers } : {}),
    });
  } catch (error) {
    throw error instanceof HintError ? invalidParam(error.hint, error.message) : error;
  }
}
